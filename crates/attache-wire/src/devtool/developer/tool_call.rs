//! A tool call in the RFC's form: every update holds all that is known.
//!
//! The member names are the RFC's. Their schema is in `docs/extension`, and tests compare both.

mod confirmation;
mod file_diff;
mod option;
mod question;
mod result;

use std::borrow::Cow;

use attache_domain::{Answerer, CallAnswer, CallChange, CallOutcome, CallPhase, CallRecord};
use serde::Serialize;
use serde_json::{Map, Value};

use self::confirmation::ConfirmationRequest;
pub use self::option::ConfirmationOption;
pub(crate) use self::option::plain_name;
use self::result::CallResult;
use crate::devtool::call_text;

/// `change`: what an update is about.
pub(super) fn encode(record: &CallRecord, change: Option<CallChange>) -> Value {
    serde_json::to_value(ToolCall::of(record, change)).expect("names and values that JSON has")
}

#[derive(Debug, Serialize)]
struct ToolCall<'a> {
    tool_call_id: &'a str,
    status: Status,
    tool_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<Cow<'a, str>>,
    /// As the tool understood it, once that is known.
    input_parameters: Cow<'a, Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    live_content: Option<&'a str>,
    #[serde(flatten)]
    result: Option<CallResult<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confirmation_request: Option<ConfirmationRequest<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confirmation_answer: Option<GivenAnswer<'a>>,
}

/// The answer that counts.
#[derive(Debug, Serialize)]
struct GivenAnswer<'a> {
    selected_option_id: &'a str,
    /// The client that gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Status {
    Pending,
    Executing,
    Succeeded,
    Failed,
    Cancelled,
}

impl<'a> ToolCall<'a> {
    fn of(record: &'a CallRecord, change: Option<CallChange>) -> Self {
        let is_over = record.outcome.is_some();
        let is_asked = record.phase == CallPhase::Asked && !is_over;
        Self {
            tool_call_id: &record.shown_id().0,
            status: Status::of(record),
            tool_name: &record.call.name,
            description: call_text::description(record),
            input_parameters: call_text::call_input(record),
            live_content: Some(record.live.as_str()).filter(|live| !live.is_empty() && !is_over),
            result: CallResult::of(record),
            confirmation_request: is_asked.then(|| ConfirmationRequest::of(record)),
            confirmation_answer: record
                .answer
                .as_ref()
                .filter(|_| change == Some(CallChange::Answered))
                .map(GivenAnswer::of),
        }
    }
}

impl<'a> GivenAnswer<'a> {
    fn of(answer: &'a CallAnswer) -> Self {
        Self { selected_option_id: &answer.choice, by: answer.by.as_ref().map(Answerer::to_string) }
    }
}

impl Status {
    fn of(record: &CallRecord) -> Self {
        match (&record.outcome, record.phase) {
            (Some(CallOutcome::Succeeded), _) => Self::Succeeded,
            (Some(CallOutcome::Failed { .. } | CallOutcome::Unknown), _) => Self::Failed,
            (Some(CallOutcome::Canceled), _) => Self::Cancelled,
            (None, CallPhase::Started) => Self::Executing,
            (None, _) => Self::Pending,
        }
    }
}
