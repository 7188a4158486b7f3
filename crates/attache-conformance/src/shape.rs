//! The members of the objects of each JSON form. Every response of every check is compared with them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::json_form::JsonForm;
use crate::protocol::State;
use crate::text::shown;

/// The members of `object`: `name:type`, with `!` if it is required and `+` for a list that must not be empty.
fn members(json_form: JsonForm, object: &str) -> &'static str {
    match (json_form, object) {
        (JsonForm::Schema0_3, "Task") => {
            "kind:text! id:text! contextId:text! status:TaskStatus! artifacts:[Artifact] history:[Message] metadata:object"
        }
        (_, "Task") => {
            "id:text! contextId:text status:TaskStatus! artifacts:[Artifact] history:[Message] metadata:object"
        }
        (_, "TaskStatus") => "state:state! message:Message timestamp:time",
        (JsonForm::Schema0_3, "Message") => {
            "kind:text! messageId:text! contextId:text taskId:text role:role! parts:[Part]! metadata:object \
             extensions:[text] referenceTaskIds:[text]"
        }
        (JsonForm::Proto0_3, "Message") => {
            "messageId:text! contextId:text taskId:text role:role! content:[Part]! metadata:object extensions:[text]"
        }
        (JsonForm::V1_0, "Message") => {
            "messageId:text! contextId:text taskId:text role:role! parts:[Part]+! metadata:object \
             extensions:[text] referenceTaskIds:[text]"
        }
        (JsonForm::Schema0_3, "Part") => "kind:text! text:text file:File data:object metadata:object",
        (JsonForm::Proto0_3, "Part") => "text:text file:File data:Data metadata:object",
        (JsonForm::V1_0, "Part") => {
            "text:text raw:base64 url:text data:any metadata:object filename:text mediaType:text"
        }
        (JsonForm::Schema0_3, "File") => "bytes:base64 uri:text mimeType:text name:text",
        (_, "File") => "fileWithBytes:base64 fileWithUri:text mimeType:text name:text",
        (_, "Data") => "data:object!",
        (JsonForm::V1_0, "Artifact") => {
            "artifactId:text! name:text description:text parts:[Part]+! metadata:object extensions:[text]"
        }
        (_, "Artifact") => {
            "artifactId:text! name:text description:text parts:[Part]! metadata:object extensions:[text]"
        }
        (JsonForm::Schema0_3, "StatusUpdate") => {
            "kind:text! taskId:text! contextId:text! status:TaskStatus! final:bool! metadata:object"
        }
        (JsonForm::Proto0_3, "StatusUpdate") => {
            "taskId:text! contextId:text! status:TaskStatus! final:bool metadata:object"
        }
        (JsonForm::V1_0, "StatusUpdate") => "taskId:text! contextId:text! status:TaskStatus! metadata:object",
        (JsonForm::Schema0_3, "ArtifactUpdate") => {
            "kind:text! taskId:text! contextId:text! artifact:Artifact! append:bool lastChunk:bool metadata:object"
        }
        (_, "ArtifactUpdate") => {
            "taskId:text! contextId:text! artifact:Artifact! append:bool lastChunk:bool metadata:object"
        }
        (JsonForm::Schema0_3, "TaskPush") => "taskId:text! pushNotificationConfig:Push!",
        (JsonForm::Proto0_3, "TaskPush") => "name:text! pushNotificationConfig:Push!",
        (JsonForm::V1_0, "TaskPush") => {
            "tenant:text id:text! taskId:text! url:text! token:text authentication:Authentication"
        }
        (_, "Push") => "id:text url:text! token:text authentication:Authentication",
        (JsonForm::V1_0, "Authentication") => "scheme:text! credentials:text",
        (_, "Authentication") => "schemes:[text]! credentials:text",
        (_, "Page") => "tasks:[Task]! nextPageToken:text! pageSize:number! totalSize:number!",
        _ => "",
    }
}

/// The object in the result of a send or an item of a stream, and its type.
pub(crate) fn item(json_form: JsonForm, value: &Value) -> Option<(&'static str, &Value)> {
    if json_form == JsonForm::Schema0_3 {
        let object = match value["kind"].as_str()? {
            "task" => "Task",
            "message" => "Message",
            "status-update" => "StatusUpdate",
            "artifact-update" => "ArtifactUpdate",
            _ => return None,
        };
        return Some((object, value));
    }
    let (name, inner) = value.as_object()?.iter().next()?;
    let object = match name.as_str() {
        "task" => "Task",
        "message" => "Message",
        "statusUpdate" => "StatusUpdate",
        "artifactUpdate" => "ArtifactUpdate",
        _ => return None,
    };
    Some((object, inner))
}

/// Everything in `value` that the data model does not allow.
pub(crate) fn faults(json_form: JsonForm, object: &str, value: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    check_object(json_form, object, value, &mut faults);
    faults
}

fn check_object(json_form: JsonForm, object: &str, value: &Value, faults: &mut Vec<String>) {
    let Some(found) = value.as_object() else {
        faults.push(format!("{object} is no object: {}", shown(value)));
        return;
    };
    let mut known = Vec::new();
    for rule in members(json_form, object).split_whitespace() {
        let required = rule.ends_with('!');
        let rule = rule.trim_end_matches('!');
        let Some((name, kind)) = rule.split_once(':') else { continue };
        known.push(name);
        match found.get(name) {
            None if required => faults.push(format!("{object} has no `{name}`")),
            None => {}
            Some(Value::Null) if kind != "any" => faults.push(format!("{object}.{name} is null")),
            Some(member) => check_member(json_form, &format!("{object}.{name}"), kind, member, faults),
        }
    }
    for name in found.keys().filter(|name| !known.contains(&name.as_str())) {
        faults.push(format!("{object} has a member `{name}` that the protocol does not know"));
    }
    if object == "Part" {
        check_content(json_form, value, faults);
    }
    let kind = match object {
        "Task" => "task",
        "Message" => "message",
        _ => return,
    };
    if json_form == JsonForm::Schema0_3 && found.get("kind").is_some_and(|found| found != kind) {
        faults.push(format!("{object}.kind is {}", shown(&found["kind"])));
    }
}

fn check_member(json_form: JsonForm, place: &str, kind: &str, value: &Value, faults: &mut Vec<String>) {
    let (list, kind) = match kind.strip_prefix('[') {
        Some(rest) => (true, rest),
        None => (false, kind),
    };
    if list {
        let not_empty = kind.ends_with('+');
        let kind = kind.trim_end_matches('+').trim_end_matches(']');
        match value.as_array() {
            None => faults.push(format!("{place} is no list: {}", shown(value))),
            Some(items) if items.is_empty() && not_empty => faults.push(format!("{place} is empty")),
            Some(items) => items.iter().for_each(|item| check_member(json_form, place, kind, item, faults)),
        }
        return;
    }
    let good = match kind {
        "text" => value.is_string(),
        "bool" => value.is_boolean(),
        "number" => value.is_i64() || value.is_u64(),
        "object" => value.is_object(),
        "any" => true,
        "time" => value.as_str().is_some_and(|text| is_time(json_form, text)),
        "base64" => value.as_str().is_some_and(|text| STANDARD.decode(text).is_ok()),
        "state" => value.as_str().is_some_and(|text| {
            State::ALL.iter().any(|state| *state != State::Unspecified && json_form.state(*state) == text)
        }),
        "role" if json_form == JsonForm::Schema0_3 => matches!(value.as_str(), Some("user" | "agent")),
        "role" => matches!(value.as_str(), Some("ROLE_USER" | "ROLE_AGENT")),
        object => return check_object(json_form, object, value, faults),
    };
    if !good {
        faults.push(format!("{place} is {}", shown(value)));
    }
}

/// 1.0 requires UTC with a `Z`; 0.3 allows any ISO 8601.
fn is_time(json_form: JsonForm, text: &str) -> bool {
    if json_form == JsonForm::V1_0 && !text.ends_with('Z') {
        return false;
    }
    text.parse::<jiff::Timestamp>().is_ok()
        || (json_form != JsonForm::V1_0 && text.parse::<jiff::civil::DateTime>().is_ok())
}

fn check_content(json_form: JsonForm, part: &Value, faults: &mut Vec<String>) {
    let has = |name: &str| usize::from(part.get(name).is_some());
    let contents = match json_form {
        JsonForm::V1_0 => has("text") + has("raw") + has("url") + has("data"),
        JsonForm::Schema0_3 | JsonForm::Proto0_3 => has("text") + has("file") + has("data"),
    };
    if contents != 1 {
        faults.push(format!("Part has {contents} contents instead of one: {}", shown(part)));
    }
    let kind = &part["kind"];
    if json_form == JsonForm::Schema0_3 && kind.as_str().is_none_or(|kind| part.get(kind).is_none()) {
        faults.push(format!("Part.kind is {} but that is not what it holds", shown(kind)));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(json_form: JsonForm, object: &str, value: Value, expected: &[&str]) {
        let found = faults(json_form, object, &value);
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.contains(expected), "{found:?} does not say {expected:?}");
        }
    }

    #[test]
    fn each_json_form_has_its_own_members() {
        let status = json!({"state": "working", "timestamp": "2026-01-01T00:00:00Z"});
        check(
            JsonForm::Schema0_3,
            "Task",
            json!({"kind": "task", "id": "t", "contextId": "c", "status": status}),
            &[],
        );
        let status = json!({"state": "TASK_STATE_WORKING", "timestamp": "2026-01-01T00:00:00+01:00"});
        check(
            JsonForm::V1_0,
            "Task",
            json!({"id": "t", "kind": "task", "status": status}),
            &["timestamp", "`kind`"],
        );
        check(
            JsonForm::V1_0,
            "Message",
            json!({"messageId": "m", "role": "user", "parts": []}),
            &["role", "empty"],
        );
        check(
            JsonForm::V1_0,
            "Artifact",
            json!({"artifactId": "a", "parts": [{"text": "x", "url": "y"}]}),
            &["2 contents"],
        );
        let event =
            json!({"kind": "status-update", "taskId": "t", "contextId": "c", "status": {"state": "working"}});
        check(JsonForm::Schema0_3, "StatusUpdate", event, &["no `final`"]);
    }
}
