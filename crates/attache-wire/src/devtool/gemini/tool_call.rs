//! A call as Gemini CLI's scheduler spells it: all that is known about it, on every update.

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
    // An answer that asked for something else is no answer to what is asked now.
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

/// Somebody has to answer about it.
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

/// As the model gave them, and written out while somebody is asked. A piece of text to replace says little to a person, so the whole file stands beside it.
fn arguments(record: &CallRecord) -> Map<String, Value> {
    let mut arguments = displayed_input(record, &record.call.input).into_owned();
    if record.call.name == "replace"
        && let Some(content) = proposed_content(record)
    {
        arguments.insert("newContent".into(), content.into());
    }
    arguments
}

/// What an edit writes: what was proposed, or what somebody put in its place.
pub(super) fn proposed_content(record: &CallRecord) -> Option<&str> {
    let Some(Preview::Edit { new_content, .. }) = preview(record) else { return None };
    let own = record.answer.as_ref().and_then(|answer| answer.new_content.as_ref());
    Some(own.unwrap_or(new_content))
}
