//! Protobuf messages to operations.
//!
//! Strings and bytes are moved out of the generated messages. Unlike JSON, protobuf cannot say that a text is
//! missing rather than empty, so an empty one counts as missing.

use attache_domain::{Base64, Fault, OperationKind, Role, TaskId};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use prost::Message;

use super::dialect;
use crate::decode::reading::{Place, Reading};
use crate::{Decoded, Version};

mod v0_3;
mod v1_0;

/// Reads the one message of a request.
pub fn decode(version: Version, kind: OperationKind, message: Bytes) -> Result<Decoded, Fault> {
    let mut reading = Reading::new(dialect(version));
    let (operation, tenant) = match version {
        Version::V0_3 => (v0_3::read(&mut reading, kind, message)?, String::new()),
        Version::V1_0 => v1_0::read(&mut reading, kind, message)?,
    };
    let profile = reading.profile();
    let operation = reading.finish(operation)?;
    Ok(Decoded { operation, tenant: Some(tenant).filter(|tenant| !tenant.is_empty()), profile })
}

fn parse<M: Message + Default>(message: Bytes) -> Result<M, Fault> {
    M::decode(message)
        .map_err(|error| Fault::InvalidRequest { what: format!("the message cannot be read: {error}") })
}

/// Only A2A's own operations are in the definitions.
fn not_there(kind: OperationKind) -> Fault {
    Fault::MethodNotFound { method: kind.name().to_owned() }
}

fn required(reading: &mut Reading, text: String, place: Place<'_>) -> Option<String> {
    if text.is_empty() { reading.refuse(place, "is required") } else { Some(text) }
}

fn nonempty(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

fn tasks(ids: Vec<String>) -> Vec<TaskId> {
    ids.into_iter().map(TaskId::from).collect()
}

fn read_role(reading: &mut Reading, role: i32, place: Place<'_>) -> Option<Role> {
    match role {
        0 => reading.refuse(place, "is required: ROLE_USER or ROLE_AGENT"),
        1 => Some(Role::User),
        2 => Some(Role::Agent),
        other => reading.refuse(place, format!("must be ROLE_USER or ROLE_AGENT, not {other}")),
    }
}

/// A whole number that may not be negative; `most` is the largest there can be.
fn whole(reading: &mut Reading, value: i32, least: i32, most: i32, place: Place<'_>) -> Option<usize> {
    if (least..=most).contains(&value) {
        return usize::try_from(value).ok();
    }
    reading.refuse(
        place,
        match least {
            0 if value < 0 => format!("must not be negative, but is {value}"),
            0 => format!("must be at most {most}, but is {value}"),
            _ => format!("must be between {least} and {most}, but is {value}"),
        },
    )
}

fn encoded(bytes: &[u8]) -> Base64 {
    Base64(STANDARD.encode(bytes))
}
