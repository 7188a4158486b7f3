//! A call in the form of Gemini CLI's scheduler: every update holds all that is known.

use attache_domain::{CallOutcome, CallPhase, CallRecord, Preview};
use serde_json::{Map, Value, json};

use super::{confirmation, response, tool};
use crate::devtool::call_text::{displayed_input, preview};

pub(super) fn encode(record: &CallRecord, prompt_id: &str) -> Value {
    let mut request = json!({
        "callId": record.shown_id().0,
        "name": tool::name(record),
        "args": arguments(record),
        "isClientInitiated": false,
        "prompt_id": prompt_id,
    });
    if let Some(response) = record.response.as_deref() {
        request["traceId"] = response.into();
    }
    let status = status(record);
    let mut call = json!({ "request": request, "status": status });
    // An answer that changed the content does not answer the new question.
    if status == ASKED {
        call["confirmationDetails"] = confirmation::encode(record);
    } else if let Some(answer) = &record.answer {
        call["outcome"] = answer.choice.clone().into();
    }
    if let Some(response) = response::encode(record) {
        call["response"] = response;
    }
    if let Some(tool) = tool::encode(record) {
        call["tool"] = tool;
    }
    call
}

/// The call waits for an answer.
pub(super) fn is_asked(record: &CallRecord) -> bool {
    status(record) == ASKED
}

const ASKED: &str = "awaiting_approval";

fn status(record: &CallRecord) -> &'static str {
    match (&record.outcome, record.phase) {
        (Some(CallOutcome::Succeeded), _) => "success",
        (Some(CallOutcome::Failed { .. } | CallOutcome::Unknown), _) => "error",
        (Some(CallOutcome::Canceled), _) => "cancelled",
        (None, CallPhase::Started) => "executing",
        (None, CallPhase::Asked) => ASKED,
        (None, _) => "scheduled",
    }
}

/// The model's arguments, with hidden characters escaped while the call waits for an answer. A text to replace tells
/// a person little, so the whole file is added.
fn arguments(record: &CallRecord) -> Map<String, Value> {
    let mut arguments = displayed_input(record, &record.call.input).into_owned();
    if record.call.name == "replace"
        && let Some(content) = proposed_content(record)
    {
        arguments.insert("newContent".into(), content.into());
    }
    arguments
}

/// The content that an edit writes: the proposal, or a person's replacement.
pub(super) fn proposed_content(record: &CallRecord) -> Option<&str> {
    let Some(Preview::Edit { new_content, .. }) = preview(record) else { return None };
    let own = record.answer.as_ref().and_then(|answer| answer.new_content.as_ref());
    Some(own.unwrap_or(new_content))
}
