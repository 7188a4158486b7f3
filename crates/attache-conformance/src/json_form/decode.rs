//! Decodes responses of a JSON form. A response that cannot be decoded fails the check and names the member.

use serde_json::Value;

use crate::check::{CheckResult, Stop};
use crate::json_form::JsonForm;
use crate::protocol::{
    Artifact, Message, Part, PushConfig, Role, SendResult, State, Status, StreamItem, Task, TaskPage,
};

/// Decodes the parts of a task in a JSON form.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decoder {
    pub(crate) json_form: JsonForm,
}

pub(crate) fn as_sent(json_form: JsonForm, value: &Value) -> CheckResult<SendResult> {
    match as_item(json_form, value)? {
        StreamItem::Task(task) => Ok(SendResult::Task(task)),
        StreamItem::Message(message) => Ok(SendResult::Message(message)),
        other => odd("a send was answered with", &Value::from(other.name())),
    }
}

pub(crate) fn as_item(json_form: JsonForm, value: &Value) -> CheckResult<StreamItem> {
    if json_form == JsonForm::Schema0_3 {
        return match value["kind"].as_str() {
            Some("task") => Ok(StreamItem::Task(as_task(json_form, value)?)),
            Some("message") => Ok(StreamItem::Message(as_message(json_form, value)?)),
            Some("status-update") => status_event(json_form, value),
            Some("artifact-update") => artifact_event(json_form, value),
            _ => odd("an item without a known `kind`:", value),
        };
    }
    let Some(members) = value.as_object() else { return odd("an item that is no object:", value) };
    let [(name, inner)] = members.iter().collect::<Vec<_>>()[..] else {
        return odd("an item that has not exactly one member:", value);
    };
    match name.as_str() {
        "task" => Ok(StreamItem::Task(as_task(json_form, inner)?)),
        "message" => Ok(StreamItem::Message(as_message(json_form, inner)?)),
        "statusUpdate" => status_event(json_form, inner),
        "artifactUpdate" => artifact_event(json_form, inner),
        _ => odd("an item of an unknown kind:", value),
    }
}

pub(crate) fn as_task(json_form: JsonForm, value: &Value) -> CheckResult<Task> {
    let reading = Decoder { json_form };
    Ok(Task {
        id: text(value, "id", "task")?,
        context: value["contextId"].as_str().unwrap_or_default().to_owned(),
        status: reading.status(&value["status"])?,
        artifacts: reading.list(value, "artifacts", Decoder::artifact)?,
        history: reading.list(value, "history", |reading, value| as_message(reading.json_form, value))?,
        raw: value.clone(),
    })
}

pub(crate) fn as_message(json_form: JsonForm, value: &Value) -> CheckResult<Message> {
    let role = match (json_form, value["role"].as_str()) {
        (JsonForm::Schema0_3, Some("user")) => Role::User,
        (JsonForm::Schema0_3, Some("agent")) => Role::Agent,
        (JsonForm::Proto0_3 | JsonForm::V1_0, Some("ROLE_USER")) => Role::User,
        (JsonForm::Proto0_3 | JsonForm::V1_0, Some("ROLE_AGENT")) => Role::Agent,
        _ => return odd("a message without a known role:", value),
    };
    let parts = Decoder { json_form }.list(value, json_form.parts(), Decoder::part)?;
    Ok(Message {
        id: text(value, "messageId", "message")?,
        role,
        context: optional(value, "contextId"),
        task: optional(value, "taskId"),
        parts: parts.unwrap_or_default(),
    })
}

pub(crate) fn as_page(json_form: JsonForm, value: &Value) -> CheckResult<TaskPage> {
    // Protobuf leaves an empty list out; another check covers whether JSON may.
    let tasks = match &value["tasks"] {
        Value::Array(tasks) => tasks.as_slice(),
        Value::Null => &[],
        _ => return odd("a list whose `tasks` are none:", value),
    };
    let tasks = tasks.iter().map(|task| as_task(json_form, task)).collect::<CheckResult<_>>()?;
    Ok(TaskPage { tasks, raw: value.clone() })
}

pub(crate) fn as_push(json_form: JsonForm, value: &Value) -> CheckResult<PushConfig> {
    let (inner, task) = match json_form {
        JsonForm::Schema0_3 => (&value["pushNotificationConfig"], optional(value, "taskId")),
        JsonForm::Proto0_3 => {
            let name = value["name"].as_str().unwrap_or_default();
            let task = name.strip_prefix("tasks/").and_then(|rest| rest.split('/').next());
            (&value["pushNotificationConfig"], task.map(str::to_owned))
        }
        JsonForm::V1_0 => (value, optional(value, "taskId")),
    };
    let authentication = &inner["authentication"];
    let scheme = match json_form {
        JsonForm::V1_0 => authentication["scheme"].as_str(),
        JsonForm::Schema0_3 | JsonForm::Proto0_3 => authentication["schemes"][0].as_str(),
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

pub(crate) fn as_push_list(json_form: JsonForm, value: &Value) -> CheckResult<Vec<PushConfig>> {
    let configs = match json_form {
        JsonForm::Schema0_3 => value.as_array(),
        // ProtoJSON leaves an empty list out.
        JsonForm::Proto0_3 | JsonForm::V1_0 if value.is_object() && value["configs"].is_null() => {
            return Ok(Vec::new());
        }
        JsonForm::Proto0_3 | JsonForm::V1_0 => value["configs"].as_array(),
    };
    let Some(configs) = configs else { return odd("a list of push configurations that is none:", value) };
    configs.iter().map(|config| as_push(json_form, config)).collect()
}

fn status_event(json_form: JsonForm, value: &Value) -> CheckResult<StreamItem> {
    Ok(StreamItem::Status {
        task: text(value, "taskId", "status event")?,
        context: text(value, "contextId", "status event")?,
        status: Decoder { json_form }.status(&value["status"])?,
        last: value["final"].as_bool(),
    })
}

fn artifact_event(json_form: JsonForm, value: &Value) -> CheckResult<StreamItem> {
    Ok(StreamItem::Artifact {
        task: text(value, "taskId", "artifact event")?,
        context: text(value, "contextId", "artifact event")?,
        artifact: Decoder { json_form }.artifact(&value["artifact"])?,
        append: value["append"].as_bool().unwrap_or_default(),
        last_chunk: value["lastChunk"].as_bool().unwrap_or_default(),
    })
}

impl Decoder {
    fn status(self, value: &Value) -> CheckResult<Status> {
        let name = value["state"].as_str();
        let state = State::ALL.into_iter().find(|state| Some(self.json_form.state(*state)) == name);
        let Some(state) = state else { return odd("a status without a known state:", value) };
        let message = match &value["message"] {
            Value::Null => None,
            message => Some(as_message(self.json_form, message)?),
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
        let (bytes, url, data) = match self.json_form {
            JsonForm::Schema0_3 => (&value["file"]["bytes"], &value["file"]["uri"], &value["data"]),
            JsonForm::Proto0_3 => {
                (&value["file"]["fileWithBytes"], &value["file"]["fileWithUri"], &value["data"]["data"])
            }
            JsonForm::V1_0 => (&value["raw"], &value["url"], &value["data"]),
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
