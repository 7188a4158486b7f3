//! JSON values as protobuf's `Struct` and `Value`.
//!
//! Protobuf has only floating-point numbers; whole ones become integers again.

use attache_domain::{Base64, Metadata};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use prost_types::value::Kind;
use prost_types::{ListValue, Struct, Value};
use serde_json::{Map, Number, Value as Json};

use crate::decode::decoder::{Decoder, FieldPath};

/// Larger integers have no exact floating-point form.
const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;

/// Protobuf readers stop at 100 nested messages. The messages around a value take up to 12 of them.
const MAX_DEPTH: usize = 88;
/// An object nests three messages: itself, a member, and the member's value.
const OBJECT_DEPTH: usize = 3;
/// A list nests two messages: itself and an item.
const LIST_DEPTH: usize = 2;

pub(super) fn read_object(
    decoder: &mut Decoder,
    object: Option<Struct>,
    path: FieldPath<'_>,
) -> Option<Metadata> {
    object.map(|object| read_struct(decoder, object, path))
}

pub(super) fn read_struct(decoder: &mut Decoder, object: Struct, path: FieldPath<'_>) -> Metadata {
    read_members(decoder, object, path, MAX_DEPTH)
}

pub(super) fn read(decoder: &mut Decoder, value: Value, path: FieldPath<'_>) -> Json {
    read_within(decoder, value, path, MAX_DEPTH)
}

fn read_members(decoder: &mut Decoder, object: Struct, path: FieldPath<'_>, room: usize) -> Metadata {
    let mut members = Map::new();
    for (name, value) in object.fields {
        let value = read_within(decoder, value, path.member(&name), room);
        members.insert(name, value);
    }
    members
}

/// A value without a kind is null.
fn read_within(decoder: &mut Decoder, value: Value, path: FieldPath<'_>, room: usize) -> Json {
    match value.kind {
        None | Some(Kind::NullValue(_)) => Json::Null,
        Some(Kind::BoolValue(value)) => Json::Bool(value),
        Some(Kind::StringValue(text)) => Json::String(text),
        Some(Kind::NumberValue(number)) => match json_number(number) {
            Some(number) => Json::Number(number),
            None => {
                decoder.refuse::<()>(path, format!("must be a finite number, not {number}"));
                Json::Null
            }
        },
        Some(Kind::StructValue(object)) => match room.checked_sub(OBJECT_DEPTH) {
            Some(room) => Json::Object(read_members(decoder, object, path, room)),
            None => too_deep(decoder, path),
        },
        Some(Kind::ListValue(list)) => match room.checked_sub(LIST_DEPTH) {
            Some(room) => {
                let items = list.values.into_iter().enumerate();
                let read = |(index, item)| read_within(decoder, item, path.item(index), room);
                Json::Array(items.map(read).collect())
            }
            None => too_deep(decoder, path),
        },
    }
}

fn too_deep(decoder: &mut Decoder, path: FieldPath<'_>) -> Json {
    decoder.refuse::<()>(
        path,
        format!(
            "is nested too deep: there may be {} lists or {} objects in each other",
            MAX_DEPTH / LIST_DEPTH,
            MAX_DEPTH / OBJECT_DEPTH
        ),
    );
    Json::Null
}

pub(super) fn json_number(number: f64) -> Option<Number> {
    if number.fract() == 0.0 && number.abs() <= MAX_EXACT_INTEGER {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "whole, and within what both types have exactly"
        )]
        return Some(Number::from(number as i64));
    }
    Number::from_f64(number)
}

pub(super) fn to_struct(members: &Map<String, Json>) -> Struct {
    members_within(members, MAX_DEPTH)
}

pub(super) fn to_value(value: &Json) -> Value {
    value_within(value, MAX_DEPTH)
}

fn members_within(members: &Map<String, Json>, depth: usize) -> Struct {
    let fields = members.iter().map(|(name, value)| (name.clone(), value_within(value, depth)));
    Struct { fields: fields.collect() }
}

/// A value nested deeper than readers go becomes JSON text, so that they can read the rest.
fn value_within(value: &Json, depth: usize) -> Value {
    let needed = match value {
        Json::Object(_) => OBJECT_DEPTH,
        Json::Array(_) => LIST_DEPTH,
        _ => 0,
    };
    let kind = match (value, depth.checked_sub(needed)) {
        (value, None) => Kind::StringValue(value.to_string()),
        (Json::Null, _) => Kind::NullValue(0),
        (Json::Number(number), _) => Kind::NumberValue(number.as_f64().unwrap_or_default()),
        (Json::String(text), _) => Kind::StringValue(text.clone()),
        (Json::Bool(value), _) => Kind::BoolValue(*value),
        (Json::Object(members), Some(depth)) => Kind::StructValue(members_within(members, depth)),
        (Json::Array(items), Some(depth)) => {
            let values = items.iter().map(|item| value_within(item, depth)).collect();
            Kind::ListValue(ListValue { values })
        }
    };
    Value { kind: Some(kind) }
}

/// Stored bytes are always standard base64, so decoding cannot fail.
pub(super) fn base64_bytes(Base64(text): &Base64) -> Bytes {
    STANDARD.decode(text).unwrap_or_default().into()
}
