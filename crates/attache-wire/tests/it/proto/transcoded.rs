//! Protobuf to JSON and back, by a library that knows nothing of us but the definitions.

use attache_domain::{Fault, OperationKind};
use attache_proto::DESCRIPTORS;
use attache_wire::{DecodedOperation, Version, proto};
use bytes::Bytes;
use prost::Message;
use prost_reflect::{DescriptorPool, DeserializeOptions, DynamicMessage, MessageDescriptor};
use serde_json::Value;

fn definition(version: Version, message: &str) -> MessageDescriptor {
    let package = match version {
        Version::V0_3 => "a2a.v1",
        Version::V1_0 => "lf.a2a.v1",
    };
    let pool = DescriptorPool::decode(DESCRIPTORS).unwrap();
    pool.get_message_by_name(&format!("{package}.{message}")).unwrap()
}

#[track_caller]
pub(super) fn from_json(version: Version, message: &str, json: &Value) -> Bytes {
    let options = DeserializeOptions::new().deny_unknown_fields(false);
    let message = DynamicMessage::deserialize_with_options(definition(version, message), json, &options);
    message.unwrap().encode_to_vec().into()
}

#[track_caller]
pub(super) fn to_json(version: Version, message: &str, bytes: &[u8]) -> Value {
    let message = DynamicMessage::decode(definition(version, message), bytes).unwrap();
    assert_eq!(message.unknown_fields().count(), 0, "every field has a definition: {message}");
    serde_json::to_value(&message).unwrap()
}

/// The names by which the two say the same: all numbers are floating, and no second has a fraction of nothing.
pub(super) fn alike(value: &Value) -> Value {
    match value {
        Value::Number(number) => number.as_f64().into(),
        Value::String(text) => text.replace(".000Z", "Z").into(),
        Value::Array(items) => items.iter().map(alike).collect(),
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), alike(value))).collect(),
        other => other.clone(),
    }
}

#[track_caller]
pub(super) fn check(version: Version, message: &str, bytes: &[u8], expected: &Value) {
    let (written, expected) = (alike(&to_json(version, message, bytes)), alike(expected));
    assert_eq!(written, expected, "\nwritten:  {written:#}\nexpected: {expected:#}");
}

pub(super) fn read(
    version: Version,
    kind: OperationKind,
    message: &str,
    json: &Value,
) -> Result<DecodedOperation, Fault> {
    proto::decode(version, kind, from_json(version, message, json))
}
