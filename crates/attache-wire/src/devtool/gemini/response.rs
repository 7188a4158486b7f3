//! The result of a call, for the model and for people.

use attache_domain::{CallOutcome, CallRecord, Content, Preview, quoted, visible_line};
use serde_json::{Value, json};

use super::confirmation::file_name;
use super::file_diff::{self, Labels};
use super::tool::{self, SHELL};
use super::tool_call::proposed_content;
use crate::devtool::call_text::preview;

/// `None` until the call is over.
pub(super) fn encode(record: &CallRecord) -> Option<Value> {
    let outcome = record.outcome.as_ref()?;
    let output = model_text(record);
    let member = if *outcome == CallOutcome::Succeeded { "output" } else { "error" };
    let id = &record.call.id.0;
    let answer = json!({ "id": id, "name": tool::name(record), "response": { member: output } });
    let mut response = json!({
        "callId": id,
        "responseParts": [{ "functionResponse": answer }],
        // The length in UTF-16, as JavaScript counts.
        "contentLength": output.encode_utf16().count(),
    });
    let error_type = match outcome {
        CallOutcome::Succeeded => {
            response["resultDisplay"] = result_display(record);
            return Some(response);
        }
        CallOutcome::Canceled => return Some(response),
        CallOutcome::Failed { kind } => kind,
        CallOutcome::Unknown => "unknown",
    };
    let shown = quoted(&output);
    response["error"] = json!({ "message": shown });
    response["resultDisplay"] = shown.into();
    response["errorType"] = error_type.into();
    Some(response)
}

/// The text that the model sees; other content is only named.
fn model_text(record: &CallRecord) -> String {
    let output = record.result.as_ref().map(|result| result.output.as_slice()).unwrap_or_default();
    let pieces = output.iter().map(|content| match content {
        Content::Text(text) => text.clone(),
        Content::Bytes { media_type, name: Some(name), .. } => format!("[{name}, {media_type}]"),
        Content::Bytes { media_type, name: None, .. } => format!("[{media_type}]"),
        Content::Link { url, .. } => url.clone(),
    });
    pieces.collect::<Vec<_>>().join("\n")
}

/// What people see of a successful call.
fn result_display(record: &CallRecord) -> Value {
    match preview(record) {
        Some(Preview::Edit { path, diff, original, .. }) => {
            let is_whole = record.call.name == "write_file";
            let labels = if is_whole { Labels::WRITTEN } else { Labels::PROPOSED };
            let diff = record.diff.as_deref().unwrap_or(diff);
            json!({
                "fileDiff": file_diff::encode(&file_name(path), diff, labels),
                "fileName": file_name(path),
                "filePath": visible_line(&path.to_string_lossy()),
                "originalContent": original.as_deref().unwrap_or_default(),
                "newContent": proposed_content(record).unwrap_or_default(),
                "isNewFile": original.is_none(),
            })
        }
        _ if record.call.name == SHELL && !record.live.trim().is_empty() => record.live.trim_end().into(),
        _ if record.call.name == "write_todos" => {
            json!({ "todos": record.call.input.get("todos").cloned().unwrap_or_else(|| json!([])) })
        }
        _ => record.summary.as_str().into(),
    }
}
