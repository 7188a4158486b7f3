//! Responses to domain words.

use attache_domain::{Artifact, ArtifactId, Binding, ContextId, Fault, Message, TaskId};
use serde_json::Value;

use super::error::prefix;
use super::explanation::not_json;
use super::grpc::{self, ReplyMessage};
use super::push::{self, RemotePushConfig, RemotePushConfigPage};
use super::remote::{ArtifactUpdate, RemoteStatus, RemoteTask, RemoteTaskPage, StatusUpdate, StreamEvent};
use super::surrogates::replace_lone_surrogates;
use super::{DecodeError, Protocol};
use crate::JsonForm;
use crate::decode::decoder::{Decoder, FieldPath, Members};
use crate::decode::{message, part};
use crate::enum_names::{state_from_number, state_meant};

pub(super) fn task(protocol: Protocol, status: u16, body: &[u8]) -> Result<RemoteTask, DecodeError> {
    let read = |decoder: &mut Decoder, value| read_task(decoder, value, FieldPath::Root);
    decode_with(protocol, ReplyMessage::Task, status, body, read)
}

pub(super) fn page(protocol: Protocol, status: u16, body: &[u8]) -> Result<RemoteTaskPage, DecodeError> {
    decode_with(protocol, ReplyMessage::Tasks, status, body, read_page)
}

pub(super) fn event(protocol: Protocol, status: u16, body: &[u8]) -> Result<StreamEvent, DecodeError> {
    let value = open(protocol, ReplyMessage::Event, status, body)?;
    if !names_known_event(protocol.json_form(), &value) {
        let what = match value.get("kind").and_then(Value::as_str) {
            Some(kind) => format!("the event is of the kind {:?}, which is not known", prefix(kind, 60)),
            None => "the event is neither a task, a message nor an update".to_owned(),
        };
        return Err(DecodeError::UnknownEvent { what });
    }
    decode(protocol, value, read_event)
}

/// Whether `value` says what it is, or is no object at all.
fn names_known_event(json_form: JsonForm, value: &Value) -> bool {
    let Some(members) = value.as_object() else { return true };
    match json_form {
        JsonForm::V0_3Rpc => members
            .get("kind")
            .and_then(Value::as_str)
            .is_none_or(|kind| matches!(kind, "task" | "message" | "status-update" | "artifact-update")),
        JsonForm::V1_0 | JsonForm::V0_3Rest => EVENT_MEMBERS.iter().any(|name| members.contains_key(*name)),
    }
}

/// The members of an event, one of which it has.
const EVENT_MEMBERS: [&str; 4] = ["task", "message", "statusUpdate", "artifactUpdate"];

pub(super) fn push_config(
    protocol: Protocol,
    status: u16,
    body: &[u8],
) -> Result<RemotePushConfig, DecodeError> {
    let read = |decoder: &mut Decoder, value| push::read_config(decoder, value, FieldPath::Root);
    decode_with(protocol, ReplyMessage::PushConfig, status, body, read)
}

pub(super) fn push_configs(
    protocol: Protocol,
    status: u16,
    body: &[u8],
) -> Result<RemotePushConfigPage, DecodeError> {
    decode_with(protocol, ReplyMessage::PushConfigs, status, body, push::read_page)
}

/// The result may be missing, `null` or `{}`.
pub(super) fn nothing(protocol: Protocol, status: u16, body: &[u8]) -> Result<(), DecodeError> {
    let is_success = (200..300).contains(&status);
    let is_refusal = || {
        serde_json::from_slice(body).is_ok_and(|body: Value| body.get("error").is_some_and(Value::is_object))
    };
    if is_success && (protocol.binding() == Binding::Grpc || !is_refusal()) {
        return Ok(());
    }
    open(protocol, ReplyMessage::Event, status, body).map(|_| ())
}

fn decode_with<T>(
    protocol: Protocol,
    message: ReplyMessage,
    status: u16,
    body: &[u8],
    read: impl FnOnce(&mut Decoder, Value) -> Option<T>,
) -> Result<T, DecodeError> {
    decode(protocol, open(protocol, message, status, body)?, read)
}

fn decode<T>(
    protocol: Protocol,
    value: Value,
    read: impl FnOnce(&mut Decoder, Value) -> Option<T>,
) -> Result<T, DecodeError> {
    let mut decoder = Decoder::lenient(protocol.json_form());
    let read = read(&mut decoder, value);
    decoder.finish(read).map_err(malformed)
}

/// Takes the result out of its envelope.
pub(super) fn open(
    protocol: Protocol,
    message: ReplyMessage,
    status: u16,
    body: &[u8],
) -> Result<Value, DecodeError> {
    let is_success = (200..300).contains(&status);
    if protocol.binding() == Binding::Grpc {
        return match is_success {
            true => grpc::open(protocol.version(), message, body),
            false => Err(DecodeError::from_status(status, body)),
        };
    }
    let mut value = match parse(body) {
        Ok(value) => value,
        Err(error) if is_success => return Err(DecodeError::Malformed { what: not_json(body, &error) }),
        Err(_) => return Err(DecodeError::from_status(status, body)),
    };
    if let Some(error) = value.get("error").filter(|error| error.is_object()) {
        return Err(DecodeError::from_object(status, error));
    }
    if !is_success {
        // 0.3 over HTTP+JSON has no envelope around its errors.
        return Err(match value.get("message").is_some_and(Value::is_string) {
            true => DecodeError::from_object(status, &value),
            false => DecodeError::from_status(status, body),
        });
    }
    match protocol.binding() {
        Binding::HttpJson | Binding::Grpc => Ok(value),
        Binding::JsonRpc => match value.get_mut("result").map(Value::take) {
            Some(result) => Ok(result),
            None if value.get("error").is_some_and(Value::is_string) => {
                Err(DecodeError::from_object(status, &value))
            }
            None => Err(DecodeError::Malformed { what: "it has neither result nor error".into() }),
        },
    }
}

fn parse(body: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice(body).or_else(|error| match replace_lone_surrogates(body) {
        Some(repaired) => serde_json::from_slice(&repaired),
        None => Err(error),
    })
}

fn malformed(fault: Fault) -> DecodeError {
    let what = match fault {
        Fault::InvalidParams { violations } => {
            let texts = violations.iter().take(3);
            let texts = texts.map(|violation| format!("{} {}", violation.field, violation.description));
            texts.collect::<Vec<_>>().join("; ")
        }
        other => other.to_string(),
    };
    DecodeError::Malformed { what: what.trim_start().to_owned() }
}

fn read_event(decoder: &mut Decoder, value: Value) -> Option<StreamEvent> {
    let mut members = decoder.members(value, FieldPath::Root)?;
    let (name, value) = match decoder.json_form() {
        JsonForm::V0_3Rpc => {
            let kind = members.required_text(decoder, "kind")?;
            (kind, Value::Object(members.into_map()))
        }
        JsonForm::V1_0 | JsonForm::V0_3Rest => {
            let Some(name) = EVENT_MEMBERS.into_iter().find(|name| members.has(name)) else {
                return decoder.refuse(FieldPath::Root, "is neither a task, a message nor an update");
            };
            (name.to_owned(), members.take(name)?)
        }
    };
    let root = FieldPath::Root;
    let path = match decoder.json_form() {
        JsonForm::V0_3Rpc => root,
        JsonForm::V1_0 | JsonForm::V0_3Rest => root.member(&name),
    };
    match name.as_str() {
        "task" => read_task(decoder, value, path).map(|task| StreamEvent::Task(Box::new(task))),
        "message" => {
            read_message(decoder, value, path).map(|message| StreamEvent::Message(Box::new(message)))
        }
        "statusUpdate" | "status-update" => read_status_update(decoder, value, path),
        "artifactUpdate" | "artifact-update" => read_artifact_update(decoder, value, path),
        _ => decoder.refuse(path.member("kind"), "is not one that is known"),
    }
}

fn read_page(decoder: &mut Decoder, value: Value) -> Option<RemoteTaskPage> {
    let root = FieldPath::Root;
    let mut members = decoder.members(value, root)?;
    let tasks = read_list(decoder, &mut members, "tasks", read_task);
    let next_page_token = members.text(decoder, "nextPageToken").unwrap_or_default();
    let total_size = members.integer(decoder, "totalSize", 0, i64::MAX).unwrap_or_default();
    Some(RemoteTaskPage { tasks: tasks?, next_page_token, total_size: total_size as u64 })
}

fn read_task(decoder: &mut Decoder, value: Value, path: FieldPath<'_>) -> Option<RemoteTask> {
    let mut members = decoder.members(value, path)?;
    let id = members.required_text(decoder, "id");
    let context = members.text(decoder, "contextId").unwrap_or_default();
    let status = read_status(decoder, &mut members);
    let artifacts = read_list(decoder, &mut members, "artifacts", read_artifact);
    let history = read_list(decoder, &mut members, "history", read_message);
    let metadata = members.object(decoder, "metadata");
    Some(RemoteTask {
        id: TaskId::from(id?),
        context: ContextId::from(context),
        status: status?,
        artifacts: artifacts?,
        history: history?,
        metadata,
    })
}

fn read_status_update(decoder: &mut Decoder, value: Value, path: FieldPath<'_>) -> Option<StreamEvent> {
    let mut members = decoder.members(value, path)?;
    let (task, context) = read_ids(decoder, &mut members);
    let status = read_status(decoder, &mut members);
    let is_final = members.boolean(decoder, "final").unwrap_or_default();
    let metadata = members.object(decoder, "metadata");
    let update = StatusUpdate { task: task?, context, status: status?, is_final, metadata };
    Some(StreamEvent::StatusUpdate(Box::new(update)))
}

fn read_artifact_update(decoder: &mut Decoder, value: Value, path: FieldPath<'_>) -> Option<StreamEvent> {
    let mut members = decoder.members(value, path)?;
    let (task, context) = read_ids(decoder, &mut members);
    let artifact = match members.take("artifact") {
        Some(artifact) => read_artifact(decoder, artifact, path.member("artifact")),
        None => decoder.refuse(path.member("artifact"), "is required"),
    };
    let append = members.boolean(decoder, "append").unwrap_or_default();
    let last_chunk = members.boolean(decoder, "lastChunk").unwrap_or_default();
    let metadata = members.object(decoder, "metadata");
    let update = ArtifactUpdate { task: task?, context, artifact: artifact?, append, last_chunk, metadata };
    Some(StreamEvent::ArtifactUpdate(Box::new(update)))
}

fn read_ids(decoder: &mut Decoder, members: &mut Members<'_>) -> (Option<TaskId>, ContextId) {
    let task = members.required_text(decoder, "taskId").map(TaskId::from);
    let context = members.text(decoder, "contextId").unwrap_or_default();
    (task, ContextId::from(context))
}

fn read_status(decoder: &mut Decoder, parent: &mut Members<'_>) -> Option<RemoteStatus> {
    let above = parent.path();
    let path = above.member("status");
    let Some(value) = parent.take("status") else { return decoder.refuse(path, "is required") };
    let mut members = decoder.members(value, path)?;
    let state = match members.take("state") {
        Some(Value::String(name)) => state_meant(&name),
        Some(Value::Number(number)) => number.as_i64().and_then(state_from_number),
        // Protobuf leaves out the value for "unspecified".
        None => None,
        _ => return decoder.refuse(path.member("state"), "must be the name of a state"),
    };
    let name = match decoder.json_form() {
        JsonForm::V0_3Rest if members.has("update") => "update",
        _ => "message",
    };
    let message = match members.take(name) {
        Some(message) => Some(read_message(decoder, message, path.member(name))?),
        None => None,
    };
    let timestamp = members.nonempty_text(decoder, "timestamp");
    Some(RemoteStatus { state, message, timestamp })
}

fn read_artifact(decoder: &mut Decoder, value: Value, path: FieldPath<'_>) -> Option<Artifact> {
    let mut members = decoder.members(value, path)?;
    let id = members.required_text(decoder, "artifactId");
    let name = members.nonempty_text(decoder, "name");
    let description = members.nonempty_text(decoder, "description");
    let parts = read_list(decoder, &mut members, "parts", part::read);
    let metadata = members.object(decoder, "metadata");
    let extensions = members.texts(decoder, "extensions");
    Some(Artifact { id: ArtifactId::from(id?), name, description, parts: parts?, metadata, extensions })
}

fn read_message(decoder: &mut Decoder, value: Value, path: FieldPath<'_>) -> Option<Message> {
    let members = decoder.members(value, path)?;
    message::read_members(decoder, members)
}

fn read_list<T>(
    decoder: &mut Decoder,
    members: &mut Members<'_>,
    name: &str,
    read: impl Fn(&mut Decoder, Value, FieldPath<'_>) -> Option<T>,
) -> Option<Vec<T>> {
    let above = members.path();
    let path = above.member(name);
    let Some(value) = members.take(name) else { return Some(Vec::new()) };
    let items = decoder.array(value, path)?.into_iter().enumerate();
    items.map(|(index, item)| read(decoder, item, path.item(index))).collect()
}
