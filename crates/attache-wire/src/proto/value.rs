//! Any JSON value, as protobuf's `Struct` and `Value` have it.
//!
//! All numbers there are floating; those that stand for an integer become one again.

use attache_domain::Metadata;
use prost_types::value::Kind;
use prost_types::{Struct, Value};
use serde_json::{Map, Number, Value as Json};

use crate::decode::decoder::{Decoder, FieldPath};
use crate::proto::encode::field_writer::{FieldWriter, write_nested};

/// Beyond this not every integer has a floating form of its own.
const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;

/// Readers of protobuf give up on more than 100 messages in each other. What is around a value takes up to 12 of them.
const MAX_DEPTH: usize = 88;
/// The messages that an object in a value is made of: itself, a member, and the member's value.
const OBJECT_DEPTH: usize = 3;
/// A list and an item.
const LIST_DEPTH: usize = 2;

pub(super) fn read_object(
    reading: &mut Decoder,
    object: Option<Struct>,
    place: FieldPath<'_>,
) -> Option<Metadata> {
    object.map(|object| read_struct(reading, object, place))
}

pub(super) fn read_struct(reading: &mut Decoder, object: Struct, place: FieldPath<'_>) -> Metadata {
    read_members(reading, object, place, MAX_DEPTH)
}

pub(super) fn read(reading: &mut Decoder, value: Value, place: FieldPath<'_>) -> Json {
    read_within(reading, value, place, MAX_DEPTH)
}

fn read_members(reading: &mut Decoder, object: Struct, place: FieldPath<'_>, room: usize) -> Metadata {
    let mut members = Map::new();
    for (name, value) in object.fields {
        let value = read_within(reading, value, place.member(&name), room);
        members.insert(name, value);
    }
    members
}

/// A value without a kind is null.
fn read_within(reading: &mut Decoder, value: Value, place: FieldPath<'_>, room: usize) -> Json {
    match value.kind {
        None | Some(Kind::NullValue(_)) => Json::Null,
        Some(Kind::BoolValue(value)) => Json::Bool(value),
        Some(Kind::StringValue(text)) => Json::String(text),
        Some(Kind::NumberValue(number)) => match json_number(number) {
            Some(number) => Json::Number(number),
            None => {
                reading.refuse::<()>(place, format!("must be a finite number, not {number}"));
                Json::Null
            }
        },
        Some(Kind::StructValue(object)) => match room.checked_sub(OBJECT_DEPTH) {
            Some(room) => Json::Object(read_members(reading, object, place, room)),
            None => too_deep(reading, place),
        },
        Some(Kind::ListValue(list)) => match room.checked_sub(LIST_DEPTH) {
            Some(room) => {
                let items = list.values.into_iter().enumerate();
                let read = |(index, item)| read_within(reading, item, place.item(index), room);
                Json::Array(items.map(read).collect())
            }
            None => too_deep(reading, place),
        },
    }
}

fn too_deep(reading: &mut Decoder, place: FieldPath<'_>) -> Json {
    reading.refuse::<()>(
        place,
        format!(
            "is nested too deep: there may be {} lists or {} objects in each other",
            MAX_DEPTH / LIST_DEPTH,
            MAX_DEPTH / OBJECT_DEPTH
        ),
    );
    Json::Null
}

fn json_number(number: f64) -> Option<Number> {
    if number.fract() == 0.0 && number.abs() <= MAX_EXACT_INTEGER {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "whole, and within what both types have exactly"
        )]
        return Some(Number::from(number as i64));
    }
    Number::from_f64(number)
}

/// The fields of a `Struct`.
pub(super) fn write_struct(members: &Map<String, Json>, out: &mut Vec<u8>) {
    write_members(members, MAX_DEPTH, out);
}

/// The one field of a `Value`; it is written even where it is what readers take for granted.
pub(super) fn write(value: &Json, out: &mut Vec<u8>) {
    write_within(value, MAX_DEPTH, out);
}

fn write_members(members: &Map<String, Json>, room: usize, out: &mut Vec<u8>) {
    for (name, value) in members {
        write_nested(1, out, |out| {
            out.text(1, name);
            write_nested(2, out, |out| write_within(value, room, out));
        });
    }
}

/// What is nested deeper than readers go is written as JSON, so that they can read the rest.
fn write_within(value: &Json, room: usize, out: &mut Vec<u8>) {
    let needed = match value {
        Json::Object(_) => OBJECT_DEPTH,
        Json::Array(_) => LIST_DEPTH,
        _ => 0,
    };
    let Some(room) = room.checked_sub(needed) else {
        return out.bytes_always(3, value.to_string().as_bytes());
    };
    match value {
        Json::Null => out.number_always(1, 0),
        Json::Number(number) => out.double_always(2, number.as_f64().unwrap_or_default()),
        Json::String(text) => out.bytes_always(3, text.as_bytes()),
        Json::Bool(value) => out.number_always(4, u64::from(*value)),
        Json::Object(members) => write_nested(5, out, |out| write_members(members, room, out)),
        Json::Array(items) => write_nested(6, out, |out| {
            for item in items {
                write_nested(1, out, |out| write_within(item, room, out));
            }
        }),
    }
}
