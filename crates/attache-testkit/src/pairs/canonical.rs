//! Converts the JSON of each dialect to one neutral form, so that responses of two dialects can be compared.
//!
//! Strict: an unknown member fails the test. Values that a dialect cannot express (the media type of a text in 0.3,
//! references over 0.3 REST) are left out of the neutral form of all dialects.

use serde_json::{Map, Value, json};

use super::Pair;

/// The response to a send, or an item of a stream.
#[track_caller]
pub fn item(pair: Pair, value: &Value) -> Value {
    if pair == Pair::Rpc03 {
        return match value["kind"].as_str() {
            Some("task") => json!({ "task": task(pair, value) }),
            Some("message") => json!({ "message": message(pair, value) }),
            Some("status-update") => json!({ "status": status_update(pair, value) }),
            Some("artifact-update") => json!({ "artifact": artifact_update(pair, value) }),
            _ => panic!("an item of unknown kind: {value:#}"),
        };
    }
    let members = value.as_object().expect("an object");
    assert_eq!(members.len(), 1, "exactly one member: {value:#}");
    let (name, inner) = members.iter().next().expect("one member");
    match name.as_str() {
        "task" => json!({ "task": task(pair, inner) }),
        "message" => json!({ "message": message(pair, inner) }),
        "statusUpdate" => json!({ "status": status_update(pair, inner) }),
        "artifactUpdate" => json!({ "artifact": artifact_update(pair, inner) }),
        _ => panic!("an unknown item {name}"),
    }
}

#[track_caller]
pub fn task(pair: Pair, value: &Value) -> Value {
    let mut members = Members::of(pair, value, "task");
    let neutral = json!({
        "id": members.required("id"),
        "context": members.required("contextId"),
        "status": status(pair, &members.required("status")),
        "artifacts": members.list("artifacts", |it| artifact(pair, it)),
        "history": members.list("history", |it| message(pair, it)),
        "metadata": members.optional("metadata"),
    });
    members.finish();
    neutral
}

fn status(pair: Pair, value: &Value) -> Value {
    let mut members = Members::of(pair, value, "");
    let status_message = members.optional("message");
    let neutral = json!({
        "state": state(pair, &members.required("state")),
        "message": status_message.map(|it| message(pair, &it)),
        "timestamp": members.required("timestamp"),
    });
    members.finish();
    neutral
}

fn state(pair: Pair, value: &Value) -> String {
    let name = value.as_str().expect("a state");
    match pair {
        Pair::Rpc03 => {
            assert!(!name.starts_with("TASK_STATE"), "{name}");
            name.to_owned()
        }
        Pair::Rest03 | Pair::Rpc10 | Pair::Rest10 => {
            let name = name.strip_prefix("TASK_STATE_").expect("a protobuf name");
            let plain = name.to_ascii_lowercase().replace('_', "-");
            let plain_is_right = match pair {
                Pair::Rest03 => plain != "canceled",
                _ => plain != "cancelled",
            };
            assert!(plain_is_right, "{pair:?} {plain}");
            plain.replace("cancelled", "canceled")
        }
    }
}

#[track_caller]
pub fn message(pair: Pair, value: &Value) -> Value {
    let mut members = Members::of(pair, value, "message");
    let role = members.required("role");
    let role = match (pair, role.as_str()) {
        (Pair::Rpc03, Some("user")) => "user",
        (Pair::Rpc03, Some("agent")) => "agent",
        (Pair::Rpc10 | Pair::Rest10 | Pair::Rest03, Some("ROLE_USER")) => "user",
        (Pair::Rpc10 | Pair::Rest10 | Pair::Rest03, Some("ROLE_AGENT")) => "agent",
        _ => panic!("{pair:?} has no role {role}"),
    };
    if pair != Pair::Rest03 {
        members.optional("referenceTaskIds");
    }
    let neutral = json!({
        "id": members.required("messageId"),
        "role": role,
        "context": members.optional("contextId"),
        "task": members.optional("taskId"),
        "parts": members.list(pair.parts(), |it| part(pair, it)),
        "metadata": members.optional("metadata"),
        "extensions": members.optional("extensions"),
    });
    members.finish();
    neutral
}

fn artifact(pair: Pair, value: &Value) -> Value {
    let mut members = Members::of(pair, value, "");
    let neutral = json!({
        "id": members.required("artifactId"),
        "name": members.optional("name"),
        "description": members.optional("description"),
        "parts": members.list("parts", |it| part(pair, it)),
        "metadata": members.optional("metadata"),
        "extensions": members.optional("extensions"),
    });
    members.finish();
    neutral
}

fn part(pair: Pair, value: &Value) -> Value {
    if pair.is_v1_0() { part_v1_0(pair, value) } else { part_v0_3(pair, value) }
}

fn part_v1_0(pair: Pair, value: &Value) -> Value {
    let mut members = Members::of(pair, value, "");
    let metadata = members.optional("metadata");
    let (media_type, filename) = (members.optional("mediaType"), members.optional("filename"));
    let file = |name: &str, content: Value| json!({ name: content, "type": media_type, "name": filename });
    let content = if let Some(text) = members.optional("text") {
        json!({ "text": text })
    } else if let Some(bytes) = members.optional("raw") {
        file("bytes", bytes)
    } else if let Some(url) = members.optional("url") {
        file("url", url)
    } else {
        json!({ "data": members.required("data") })
    };
    members.finish();
    json!({ "content": content, "metadata": metadata })
}

fn part_v0_3(pair: Pair, value: &Value) -> Value {
    let kind = ["text", "file", "data"].into_iter().find(|kind| value.get(kind).is_some());
    let kind = kind.unwrap_or_else(|| panic!("a part of no kind: {value}"));
    let mut members = Members::of(pair, value, kind);
    let mut metadata = members.optional("metadata");
    let content = members.required(kind);
    members.finish();
    let content = match kind {
        "text" => json!({ "text": content }),
        "file" => file_v0_3(pair, &content),
        _ => {
            let data = match pair {
                Pair::Rest03 => {
                    let mut wrapper = Members::of(pair, &content, "");
                    let data = wrapper.required("data");
                    wrapper.finish();
                    data
                }
                _ => content,
            };
            assert!(data.is_object(), "data of 0.3 is an object: {data}");
            json!({ "data": unwrap(data, &mut metadata) })
        }
    };
    json!({ "content": content, "metadata": metadata })
}

fn file_v0_3(pair: Pair, value: &Value) -> Value {
    let mut members = Members::of(pair, value, "");
    let (bytes, uri) = if pair == Pair::Rest03 { ("fileWithBytes", "fileWithUri") } else { ("bytes", "uri") };
    let (media_type, name) = (members.optional("mimeType"), members.optional("name"));
    let neutral = match members.optional(bytes) {
        Some(bytes) => json!({ "bytes": bytes, "type": media_type, "name": name }),
        None => json!({ "url": members.required(uri), "type": media_type, "name": name }),
    };
    members.finish();
    neutral
}

/// 0.3 wraps a value that is no object, and marks it with a flag.
fn unwrap(data: Value, metadata: &mut Option<Value>) -> Value {
    let Some(Value::Object(flags)) = metadata else { return data };
    if flags.remove("data_part_compat") != Some(Value::Bool(true)) {
        return data;
    }
    if flags.is_empty() {
        *metadata = None;
    }
    data["value"].clone()
}

fn status_update(pair: Pair, value: &Value) -> Value {
    let mut members = Members::of(pair, value, "status-update");
    let last = last(pair, &mut members);
    let neutral = json!({
        "task": members.required("taskId"),
        "context": members.required("contextId"),
        "status": status(pair, &members.required("status")),
        "metadata": members.optional("metadata"),
    });
    members.finish();
    let settled = matches!(
        neutral["status"]["state"].as_str(),
        Some("completed" | "failed" | "canceled" | "rejected" | "input-required")
    );
    // 1.0 has no such member: the end of the stream replaces it.
    assert!(pair.is_v1_0() || last == settled, "{pair:?}: final in {value:#}");
    neutral
}

/// Over JSON-RPC the member `final` is required; in ProtoJSON `false` is left out.
fn last(pair: Pair, members: &mut Members) -> bool {
    match pair {
        Pair::Rpc10 | Pair::Rest10 => false,
        Pair::Rpc03 => members.required("final").as_bool().expect("true or false"),
        Pair::Rest03 => match members.optional("final") {
            None => false,
            Some(value) => {
                assert_eq!(value, true);
                true
            }
        },
    }
}

fn artifact_update(pair: Pair, value: &Value) -> Value {
    let mut members = Members::of(pair, value, "artifact-update");
    let neutral = json!({
        "task": members.required("taskId"),
        "context": members.required("contextId"),
        "artifact": artifact(pair, &members.required("artifact")),
        "append": members.optional("append").is_some_and(|it| it == true),
        "last": members.optional("lastChunk").is_some_and(|it| it == true),
        "metadata": members.optional("metadata"),
    });
    members.finish();
    neutral
}

/// The members of an object, removed one by one until none is left.
struct Members {
    members: Map<String, Value>,
    whole: Value,
}

impl Members {
    /// In 0.3 over JSON-RPC the object must say that it is of `kind`, unless that is empty.
    #[track_caller]
    fn of(pair: Pair, value: &Value, kind: &str) -> Self {
        let members = value.as_object().unwrap_or_else(|| panic!("an object, not {value}"));
        let mut members = Self { members: members.clone(), whole: value.clone() };
        if pair == Pair::Rpc03 && !kind.is_empty() {
            assert_eq!(members.required("kind"), kind, "{value:#}");
        }
        members
    }

    #[track_caller]
    fn required(&mut self, name: &str) -> Value {
        self.optional(name).unwrap_or_else(|| panic!("no {name} in {:#}", self.whole))
    }

    #[track_caller]
    fn optional(&mut self, name: &str) -> Option<Value> {
        let value = self.members.remove(name);
        // A missing member means an empty one.
        assert!(name == "data" || value != Some(Value::Null), "{name} is null in {:#}", self.whole);
        value
    }

    #[track_caller]
    fn list(&mut self, name: &str, each: impl Fn(&Value) -> Value) -> Value {
        let Some(list) = self.optional(name) else { return Value::Null };
        let items = list.as_array().unwrap_or_else(|| panic!("{name} is no list"));
        assert!(!items.is_empty(), "{name} is empty rather than absent");
        items.iter().map(each).collect()
    }

    #[track_caller]
    fn finish(self) {
        assert!(self.members.is_empty(), "{:?} do not belong into {:#}", self.members.keys(), self.whole);
    }
}
