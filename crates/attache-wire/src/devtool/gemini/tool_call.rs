//! A call as Gemini CLI's scheduler spells it: all that is known about it, on every update.

use attache_domain::{CallOutcome, CallPhase, CallRecord, Shown};
use serde_json::{Map, Value, json};

use super::{Request, confirmation, response, tool};
use crate::devtool::words::{as_shown, shown};

pub(super) fn spell(record: &CallRecord, from: &Request<'_>) -> Value {
    let mut request = json!({
        "callId": record.shown_id().0,
        "name": tool::name(record),
        "args": arguments(record),
        "isClientInitiated": false,
        "prompt_id": from.prompt,
    });
    if let Some(trace) = from.trace {
        request["traceId"] = trace.into();
    }
    let status = status(record);
    let mut call = json!({ "request": request, "status": status });
    // An answer that asked for something else is no answer to what is asked now.
    if status == ASKED {
        call["confirmationDetails"] = confirmation::spell(record);
    } else if let Some(answer) = &record.answer {
        call["outcome"] = answer.choice.clone().into();
    }
    if let Some(response) = response::spell(record) {
        call["response"] = response;
    }
    if let Some(tool) = tool::spell(record) {
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
    let mut arguments = as_shown(record, &record.call.input).into_owned();
    if record.call.name == "replace"
        && let Some(content) = proposed_content(record)
    {
        arguments.insert("newContent".into(), content.into());
    }
    arguments
}

/// What an edit writes: what was proposed, or what somebody put in its place.
pub(super) fn proposed_content(record: &CallRecord) -> Option<&str> {
    let Some(Shown::Edit { new_content, .. }) = shown(record) else { return None };
    let own = record.answer.as_ref().and_then(|answer| answer.new_content.as_ref());
    Some(own.unwrap_or(new_content))
}
