//! Texts about a call for people, for programs without a dialect.

use std::borrow::Cow;

use attache_domain::{CallOutcome, CallRecord, Preview};

pub use super::developer::ConfirmationOption;
use super::{call_text, thought};

/// What the call does, as far as it is known.
pub fn description(record: &CallRecord) -> Option<Cow<'_, str>> {
    call_text::description(record)
}

/// The outcome of a finished call.
pub fn outcome(record: &CallRecord) -> Cow<'_, str> {
    match &record.outcome {
        Some(CallOutcome::Succeeded) => call_text::success_text(record),
        _ => call_text::failure_text(record),
    }
}

/// The answers that the open question takes.
pub fn options(record: &CallRecord) -> Vec<ConfirmationOption<'_>> {
    record.choices.iter().map(|id| ConfirmationOption::of(id, record)).collect()
}

/// The questions of a tool that asks the person, with the suggested answers; none for other calls.
pub fn questions(record: &CallRecord) -> Option<String> {
    match call_text::preview(record)? {
        Preview::Questions { questions } => Some(call_text::questions_text(questions)),
        _ => None,
    }
}

/// Subject and description of a thought.
pub fn thought_parts(text: &str) -> (&str, String) {
    thought::split(text)
}
