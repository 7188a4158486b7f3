//! JSON to protobuf by reflection, for rare messages: cards, and the events of the development-tool extension.
//!
//! Takes several times as long as the generated types, so frequent messages do not go through here.

use std::sync::LazyLock;

use attache_proto::DESCRIPTORS;
use bytes::Bytes;
use prost::Message;
use prost_reflect::{DescriptorPool, DeserializeOptions, DynamicMessage, MessageDescriptor};
use serde_json::{Value, json};

use super::json_form;
use super::value::json_number;
use crate::Version;
use crate::devtool::{DevtoolFrame, Dialect};

/// Writes one event of a stream for `dialect`, which must not be the plain one. Writes nothing and returns an error
/// for an event without a protobuf form, such as a tool input that is nested too deep.
pub fn write_devtool_frame(
    dialect: Dialect,
    version: Version,
    frame: &DevtoolFrame<'_>,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    let mut event = Vec::new();
    dialect.write(json_form(version), frame, &mut event);
    let event: Value = serde_json::from_slice(&event).map_err(|error| error.to_string())?;
    out.extend_from_slice(&transcode(&format!("{}.StreamResponse", package_name(version)), event)?);
    Ok(())
}

/// Encodes the served JSON card as protobuf; signatures stay unchanged. Version 0.3 takes the document for both
/// versions.
pub fn encode_card(version: Version, document: &[u8]) -> Result<Vec<u8>, String> {
    let mut document: Value = serde_json::from_slice(document).map_err(|error| error.to_string())?;
    if version == Version::V0_3 {
        wrap_scopes(&mut document);
    }
    transcode(&format!("{}.AgentCard", package_name(version)), document)
}

/// In the protobuf of 0.3, requirements have 0.3's name and 1.0's form.
fn wrap_scopes(document: &mut Value) {
    let wrap = |object: &mut Value| {
        if let Some(Value::Array(requirements)) = object.get_mut("security") {
            for requirement in requirements {
                let schemes = requirement.as_object().cloned().unwrap_or_default();
                let schemes = schemes.into_iter().map(|(name, scopes)| (name, json!({ "list": scopes })));
                *requirement = json!({ "schemes": Value::Object(schemes.collect()) });
            }
        }
    };
    wrap(document);
    if let Some(Value::Array(skills)) = document.get_mut("skills") {
        skills.iter_mut().for_each(wrap);
    }
}

pub(crate) fn package_name(version: Version) -> &'static str {
    match version {
        Version::V0_3 => "a2a.v1",
        Version::V1_0 => "lf.a2a.v1",
    }
}

pub(crate) fn transcode(name: &str, json: Value) -> Result<Vec<u8>, String> {
    let message = message_descriptor(name)?;
    // Ignores the other version's members.
    let options = DeserializeOptions::new().deny_unknown_fields(false);
    let message = DynamicMessage::deserialize_with_options(message, json, &options);
    message.map(|message| message.encode_to_vec()).map_err(|error| error.to_string())
}

/// The JSON of an encoded message.
pub(crate) fn to_json(name: &str, bytes: Bytes) -> Result<Value, String> {
    let message =
        DynamicMessage::decode(message_descriptor(name)?, bytes).map_err(|error| error.to_string())?;
    let mut json = serde_json::to_value(&message).map_err(|error| error.to_string())?;
    restore_integers(&mut json);
    Ok(json)
}

/// Protobuf's numbers without a type are floating-point numbers; whole ones become integers again.
fn restore_integers(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(restore_integers),
        Value::Object(members) => members.values_mut().for_each(restore_integers),
        Value::Number(number) if number.is_f64() => {
            if let Some(whole) = number.as_f64().and_then(json_number) {
                *number = whole;
            }
        }
        _ => {}
    }
}

pub(super) fn message_descriptor(name: &str) -> Result<MessageDescriptor, String> {
    descriptor_pool()?.get_message_by_name(name).ok_or_else(|| format!("there is no definition of {name}"))
}

/// The definitions of both versions.
pub(super) fn descriptor_pool() -> Result<&'static DescriptorPool, String> {
    static POOL: LazyLock<Result<DescriptorPool, String>> =
        LazyLock::new(|| DescriptorPool::decode(DESCRIPTORS).map_err(|error| error.to_string()));
    POOL.as_ref().map_err(Clone::clone)
}
