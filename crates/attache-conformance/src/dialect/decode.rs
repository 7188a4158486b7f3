//! Decodes responses of a dialect. A response that cannot be decoded fails the check and names the member.

use serde_json::Value;

use crate::check::{CheckResult, Stop};
use crate::dialect::Dialect;
use crate::protocol::{
    Artifact, Message, Part, PushConfig, Role, SendResult, State, Status, StreamItem, Task, TaskPage,
};

/// Decodes the parts of a task in a dialect.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decoder {
    pub(crate) dialect: Dialect,
}

pub(crate) fn as_sent(dialect: Dialect, value: &Value) -> CheckResult<SendResult> {
    match as_item(dialect, value)? {
        StreamItem::Task(task) => Ok(SendResult::Task(task)),
        StreamItem::Message(message) => Ok(SendResult::Message(message)),
        other => odd("a send was answered with", &Value::from(other.name())),
    }
}

pub(crate) fn as_item(dialect: Dialect, value: &Value) -> CheckResult<StreamItem> {
    if dialect == Dialect::Schema0_3 {
        return match value["kind"].as_str() {
            Some("task") => Ok(StreamItem::Task(as_task(dialect, value)?)),
            Some("message") => Ok(StreamItem::Message(as_message(dialect, value)?)),
            Some("status-update") => status_event(dialect, value),
            Some("artifact-update") => artifact_event(dialect, value),
            _ => odd("an item without a known `kind`:", value),
        };
    }
    let Some(members) = value.as_object() else { return odd("an item that is no object:", value) };
    let [(name, inner)] = members.iter().collect::<Vec<_>>()[..] else {
        return odd("an item that has not exactly one member:", value);
    };
    match name.as_str() {
        "task" => Ok(StreamItem::Task(as_task(dialect, inner)?)),
        "message" => Ok(StreamItem::Message(as_message(dialect, inner)?)),
        "statusUpdate" => status_event(dialect, inner),
        "artifactUpdate" => artifact_event(dialect, inner),
        _ => odd("an item of an unknown kind:", value),
    }
}

pub(crate) fn as_task(dialect: Dialect, value: &Value) -> CheckResult<Task> {
    let reading = Decoder { dialect };
    Ok(Task {
        id: text(value, "id", "task")?,
        context: value["contextId"].as_str().unwrap_or_default().to_owned(),
        status: reading.status(&value["status"])?,
        artifacts: reading.list(value, "artifacts", Decoder::artifact)?,
        history: reading.list(value, "history", |reading, value| as_message(reading.dialect, value))?,
        raw: value.clone(),
    })
}

pub(crate) fn as_message(dialect: Dialect, value: &Value) -> CheckResult<Message> {
    let role = match (dialect, value["role"].as_str()) {
        (Dialect::Schema0_3, Some("user")) => Role::User,
        (Dialect::Schema0_3, Some("agent")) => Role::Agent,
        (Dialect::Proto0_3 | Dialect::V1_0, Some("ROLE_USER")) => Role::User,
        (Dialect::Proto0_3 | Dialect::V1_0, Some("ROLE_AGENT")) => Role::Agent,
        _ => return odd("a message without a known role:", value),
    };
    let parts = Decoder { dialect }.list(value, dialect.parts(), Decoder::part)?;
    Ok(Message {
        id: text(value, "messageId", "message")?,
        role,
        context: optional(value, "contextId"),
        task: optional(value, "taskId"),
        parts: parts.unwrap_or_default(),
    })
}

pub(crate) fn as_page(dialect: Dialect, value: &Value) -> CheckResult<TaskPage> {
    // Protobuf leaves an empty list out; another check covers whether JSON may.
    let tasks = match &value["tasks"] {
        Value::Array(tasks) => tasks.as_slice(),
        Value::Null => &[],
        _ => return odd("a list whose `tasks` are none:", value),
    };
    let tasks = tasks.iter().map(|task| as_task(dialect, task)).collect::<CheckResult<_>>()?;
    Ok(TaskPage { tasks, raw: value.clone() })
}

pub(crate) fn as_push(dialect: Dialect, value: &Value) -> CheckResult<PushConfig> {
    let (inner, task) = match dialect {
        Dialect::Schema0_3 => (&value["pushNotificationConfig"], optional(value, "taskId")),
        Dialect::Proto0_3 => {
            let name = value["name"].as_str().unwrap_or_default();
            let task = name.strip_prefix("tasks/").and_then(|rest| rest.split('/').next());
            (&value["pushNotificationConfig"], task.map(str::to_owned))
        }
        Dialect::V1_0 => (value, optional(value, "taskId")),
    };
    let authentication = &inner["authentication"];
    let scheme = match dialect {
        Dialect::V1_0 => authentication["scheme"].as_str(),
        Dialect::Schema0_3 | Dialect::Proto0_3 => authentication["schemes"][0].as_str(),
    };
    let credentials = authentication["credentials"].as_str().unwrap_or_default().to_owned();
    Ok(PushConfig {
        id: optional(inner, "id"),
        task,
        url: text(inner, "url", "push configuration")?,
        token: optional(inner, "token"),
        authentication: scheme.map(|scheme| (scheme.to_owned(), credentials)),
    })
}

pub(crate) fn as_push_list(dialect: Dialect, value: &Value) -> CheckResult<Vec<PushConfig>> {
    let configs = match dialect {
        Dialect::Schema0_3 => value.as_array(),
        // ProtoJSON leaves an empty list out.
        Dialect::Proto0_3 | Dialect::V1_0 if value.is_object() && value["configs"].is_null() => {
            return Ok(Vec::new());
        }
        Dialect::Proto0_3 | Dialect::V1_0 => value["configs"].as_array(),
    };
    let Some(configs) = configs else { return odd("a list of push configurations that is none:", value) };
    configs.iter().map(|config| as_push(dialect, config)).collect()
}

fn status_event(dialect: Dialect, value: &Value) -> CheckResult<StreamItem> {
    Ok(StreamItem::Status {
        task: text(value, "taskId", "status event")?,
        context: text(value, "contextId", "status event")?,
        status: Decoder { dialect }.status(&value["status"])?,
        last: value["final"].as_bool(),
    })
}

fn artifact_event(dialect: Dialect, value: &Value) -> CheckResult<StreamItem> {
    Ok(StreamItem::Artifact {
        task: text(value, "taskId", "artifact event")?,
        context: text(value, "contextId", "artifact event")?,
        artifact: Decoder { dialect }.artifact(&value["artifact"])?,
        append: value["append"].as_bool().unwrap_or_default(),
        last_chunk: value["lastChunk"].as_bool().unwrap_or_default(),
    })
}

impl Decoder {
    fn status(self, value: &Value) -> CheckResult<Status> {
        let name = value["state"].as_str();
        let state = State::ALL.into_iter().find(|state| Some(self.dialect.state(*state)) == name);
        let Some(state) = state else { return odd("a status without a known state:", value) };
        let message = match &value["message"] {
            Value::Null => None,
            message => Some(as_message(self.dialect, message)?),
        };
        Ok(Status { state, message, timestamp: optional(value, "timestamp") })
    }

    fn artifact(self, value: &Value) -> CheckResult<Artifact> {
        Ok(Artifact {
            id: text(value, "artifactId", "artifact")?,
            name: optional(value, "name"),
            parts: self.list(value, "parts", Self::part)?.unwrap_or_default(),
        })
    }

    fn part(self, value: &Value) -> CheckResult<Part> {
        let (bytes, url, data) = match self.dialect {
            Dialect::Schema0_3 => (&value["file"]["bytes"], &value["file"]["uri"], &value["data"]),
            Dialect::Proto0_3 => {
                (&value["file"]["fileWithBytes"], &value["file"]["fileWithUri"], &value["data"]["data"])
            }
            Dialect::V1_0 => (&value["raw"], &value["url"], &value["data"]),
        };
        if let Some(text) = value["text"].as_str() {
            return Ok(Part::Text(text.to_owned()));
        }
        if let Some(bytes) = bytes.as_str() {
            return Ok(Part::Bytes(bytes.to_owned()));
        }
        if let Some(url) = url.as_str() {
            return Ok(Part::Url(url.to_owned()));
        }
        if value.get("data").is_none() {
            return odd("a part without content:", value);
        }
        // 0.3 wraps a value that it cannot hold, and says so in the metadata.
        let wrapped = value["metadata"]["data_part_compat"] == true;
        Ok(Part::Data(if wrapped { data["value"].clone() } else { data.clone() }))
    }

    fn list<T>(
        self,
        value: &Value,
        member: &str,
        read: impl Fn(Self, &Value) -> CheckResult<T>,
    ) -> CheckResult<Option<Vec<T>>> {
        match &value[member] {
            Value::Null => Ok(None),
            Value::Array(items) => {
                items.iter().map(|item| read(self, item)).collect::<CheckResult<_>>().map(Some)
            }
            other => odd(&format!("`{member}` that is no list:"), other),
        }
    }
}

fn text(value: &Value, member: &str, what: &str) -> CheckResult<String> {
    match optional(value, member) {
        Some(text) => Ok(text),
        None => odd(&format!("a {what} without `{member}`:"), value),
    }
}

fn optional(value: &Value, member: &str) -> Option<String> {
    value[member].as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

fn odd<T>(what: &str, value: &Value) -> CheckResult<T> {
    Err(Stop::Fail(format!("{what} {}", crate::text::shown(value))))
}
