//! Decodes protobuf messages into operations.
//!
//! Moves strings and bytes out of the generated messages. Protobuf cannot tell a missing text from an empty one, so
//! an empty one counts as missing.

use attache_domain::{
    Base64, ContextId, Fault, Message, MessageAnswers, MessageId, OperationKind, Part, Role, TaskId,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use prost_types::Struct;

use super::value::read_object;
use super::{commands, json_form};
use crate::decode::decoder::{Decoder, FieldPath};
use crate::decode::message::read_extension_content;
use crate::{DecodedOperation, Version};

mod v0_3;
mod v1_0;

/// Decodes the message of a request.
pub fn decode(version: Version, kind: OperationKind, message: Bytes) -> Result<DecodedOperation, Fault> {
    if matches!(kind, OperationKind::Commands | OperationKind::Execute) {
        return commands::decode(version, kind, message);
    }
    let mut decoder = Decoder::new(json_form(version));
    let (operation, tenant) = match version {
        Version::V0_3 => (v0_3::read(&mut decoder, kind, message)?, String::new()),
        Version::V1_0 => v1_0::read(&mut decoder, kind, message)?,
    };
    let dialect = decoder.dialect();
    let operation = decoder.finish(operation)?;
    Ok(DecodedOperation { operation, tenant: Some(tenant).filter(|tenant| !tenant.is_empty()), dialect })
}

fn parse<M: prost::Message + Default>(message: Bytes) -> Result<M, Fault> {
    M::decode(message)
        .map_err(|error| Fault::InvalidRequest { what: format!("the message cannot be read: {error}") })
}

/// Only A2A's own operations have protobuf definitions.
fn unsupported_operation(kind: OperationKind) -> Fault {
    Fault::MethodNotFound { method: kind.name().to_owned() }
}

fn required(decoder: &mut Decoder, text: String, path: FieldPath<'_>) -> Option<String> {
    if text.is_empty() { decoder.refuse(path, "is required") } else { Some(text) }
}

fn required_id(decoder: &mut Decoder, text: String, path: FieldPath<'_>) -> Option<String> {
    let text = required(decoder, text, path)?;
    decoder.id(text, path)
}

/// An id; an empty one counts as missing.
fn optional_id(decoder: &mut Decoder, text: String, path: FieldPath<'_>) -> Option<String> {
    decoder.id(nonempty(text)?, path)
}

fn nonempty(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

/// The fields of a message, besides its parts, that both versions have.
struct MessageMembers {
    id: String,
    role: i32,
    context: String,
    task: String,
    reference_tasks: Vec<String>,
    extensions: Vec<String>,
    metadata: Option<Struct>,
}

/// Reads a message; the parts and the name of their list depend on the version.
fn read_message<P>(
    decoder: &mut Decoder,
    members: MessageMembers,
    (parts_name, parts): (&str, Vec<P>),
    read_part: impl Fn(&mut Decoder, P, FieldPath<'_>) -> Option<Part>,
    path: FieldPath<'_>,
) -> Option<(Message, MessageAnswers)> {
    let id = required_id(decoder, members.id, path.member("message_id"));
    let context = optional_id(decoder, members.context, path.member("context_id"));
    let task = optional_id(decoder, members.task, path.member("task_id"));
    let above = path.member("reference_task_ids");
    let references = members.reference_tasks.into_iter().enumerate();
    let references = references.filter_map(|(index, id)| decoder.id(id, above.item(index)));
    let reference_tasks = references.map(TaskId::from).collect();
    let role = read_role(decoder, members.role, path.member("role"));
    let parts = read_parts(decoder, parts, read_part, path.member(parts_name));
    let metadata = read_object(decoder, members.metadata, path.member("metadata"));
    let message = Message {
        id: MessageId::from(id?),
        role: role?,
        parts: parts?,
        context: context.map(ContextId::from),
        task: task.map(TaskId::from),
        requested: None,
        command: None,
        sender: None,
        reference_tasks,
        extensions: members.extensions,
        metadata,
    };
    read_extension_content(decoder, message, path, "task_id")
}

fn read_parts<P>(
    decoder: &mut Decoder,
    parts: Vec<P>,
    read_part: impl Fn(&mut Decoder, P, FieldPath<'_>) -> Option<Part>,
    path: FieldPath<'_>,
) -> Option<Vec<Part>> {
    if parts.is_empty() {
        return decoder.refuse(path, "must hold at least one part");
    }
    let parts = parts.into_iter().enumerate();
    // Reads to the end to collect all violations.
    let read: Vec<_> = parts.map(|(index, part)| read_part(decoder, part, path.item(index))).collect();
    read.into_iter().collect()
}

fn read_role(decoder: &mut Decoder, role: i32, path: FieldPath<'_>) -> Option<Role> {
    match role {
        0 => decoder.refuse(path, "is required: ROLE_USER or ROLE_AGENT"),
        1 => Some(Role::User),
        2 => Some(Role::Agent),
        other => decoder.refuse(path, format!("must be ROLE_USER or ROLE_AGENT, not {other}")),
    }
}

/// A non-negative integer of at most `most`.
fn bounded_integer(
    decoder: &mut Decoder,
    value: i32,
    least: i32,
    most: i32,
    path: FieldPath<'_>,
) -> Option<usize> {
    if (least..=most).contains(&value) {
        return usize::try_from(value).ok();
    }
    decoder.refuse(
        path,
        match least {
            0 if value < 0 => format!("must not be negative, but is {value}"),
            0 => format!("must be at most {most}, but is {value}"),
            _ => format!("must be between {least} and {most}, but is {value}"),
        },
    )
}

fn to_base64(bytes: &[u8]) -> Base64 {
    Base64(STANDARD.encode(bytes))
}
