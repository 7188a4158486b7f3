//! Estimates how much memory a message takes once it is decoded, as `json::decoded_size` does for JSON.
//!
//! Walks the bytes along the definitions, because only these tell messages from texts.

use attache_domain::Fault;
use bytes::Buf;
use prost::encoding::{WireType, decode_key, decode_varint};
use prost_reflect::{Kind, MessageDescriptor};

use super::transcode::descriptor_pool;
use crate::json::decoded_size_fault;

/// Memory for a list item or a text, including spare capacity.
const FIELD_BYTES: usize = 96;
/// Memory for a part, as generated type and as domain type.
const PART_BYTES: usize = 512;
/// Memory for the first members of an object, in both forms.
const OBJECT_BYTES: usize = 1300;

/// A decoded message takes at most so many times its length: a part whose metadata has one member takes most.
const MAX_GROWTH: usize = 384;

/// The parser itself refuses deeper nesting.
const MAX_DEPTH: usize = 100;

/// Refuses the message of a call to `path` if it would take more than `limit` bytes of memory.
pub fn check_decoded_size(path: &str, message: &[u8], limit: usize) -> Result<(), Fault> {
    if message.len() <= limit / MAX_GROWTH {
        return Ok(());
    }
    // An unknown method is refused elsewhere.
    let Some(input) = input_of(path) else { return Ok(()) };
    let mut scales = MemoryCounter { weight: message.len(), limit };
    match scales.add_message(&input, message, 0) {
        Ok(()) | Err(CountError::Unreadable) => Ok(()),
        Err(CountError::TooHeavy) => Err(decoded_size_fault(limit)),
    }
}

fn input_of(path: &str) -> Option<MessageDescriptor> {
    let (service, name) = path.strip_prefix('/')?.split_once('/')?;
    let service = descriptor_pool().ok()?.get_service_by_name(service)?;
    service.methods().find(|method| method.name() == name).map(|method| method.input())
}

struct MemoryCounter {
    weight: usize,
    limit: usize,
}

enum CountError {
    TooHeavy,
    /// The parser fails here as well.
    Unreadable,
}

impl MemoryCounter {
    fn add_message(
        &mut self,
        message: &MessageDescriptor,
        mut bytes: &[u8],
        depth: usize,
    ) -> Result<(), CountError> {
        if depth > MAX_DEPTH {
            return Err(CountError::Unreadable);
        }
        while bytes.has_remaining() {
            let (number, kind) = decode_key(&mut bytes).map_err(|_| CountError::Unreadable)?;
            let length = match kind {
                WireType::Varint => {
                    decode_varint(&mut bytes).map(|_| 0).map_err(|_| CountError::Unreadable)?
                }
                WireType::SixtyFourBit => 8,
                WireType::ThirtyTwoBit => 4,
                WireType::LengthDelimited => decode_varint(&mut bytes).map_err(|_| CountError::Unreadable)?,
                // The contents of a group count too.
                WireType::StartGroup | WireType::EndGroup => 0,
            };
            let length = usize::try_from(length).ok().filter(|length| *length <= bytes.len());
            let (payload, rest) = bytes.split_at(length.ok_or(CountError::Unreadable)?);
            bytes = rest;
            let field = message.get_field(number).map(|field| field.kind());
            self.add_bytes(FIELD_BYTES)?;
            if let (WireType::LengthDelimited, Some(Kind::Message(inner))) = (kind, field) {
                self.add_bytes(match inner.full_name() {
                    "google.protobuf.Struct" if !payload.is_empty() => OBJECT_BYTES,
                    "a2a.v1.Part" | "lf.a2a.v1.Part" => PART_BYTES,
                    _ => 0,
                })?;
                self.add_message(&inner, payload, depth + 1)?;
            }
        }
        Ok(())
    }

    fn add_bytes(&mut self, weight: usize) -> Result<(), CountError> {
        self.weight += weight;
        if self.weight > self.limit { Err(CountError::TooHeavy) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use attache_proto::v1_0;
    use prost::Message as _;
    use prost_types::value::Kind as ValueKind;
    use prost_types::{ListValue, Struct, Value};

    use super::*;

    const LIMIT: usize = 16 << 20;
    const PATH: &str = "/lf.a2a.v1.A2AService/SendMessage";

    fn request(parts: Vec<v1_0::Part>) -> Vec<u8> {
        let message = v1_0::Message { message_id: "m1".into(), parts, ..Default::default() };
        v1_0::SendMessageRequest { message: Some(message), ..Default::default() }.encode_to_vec()
    }

    fn part(content: v1_0::part::Content) -> v1_0::Part {
        v1_0::Part { content: Some(content), ..Default::default() }
    }

    fn data(values: Vec<Value>) -> Vec<u8> {
        let kind = Some(ValueKind::ListValue(ListValue { values }));
        request(vec![part(v1_0::part::Content::Data(Value { kind }))])
    }

    fn is_too_heavy(message: &[u8]) -> bool {
        check_decoded_size(PATH, message, LIMIT).is_err_and(|fault| fault.to_string().contains("16 MiB"))
    }

    #[test]
    fn many_small_values_are_too_heavy_and_few_large_ones_are_not() {
        assert!(is_too_heavy(&request(vec![v1_0::Part::default(); 100_000])));
        assert!(is_too_heavy(&data(vec![Value::default(); 200_000])));
        let members = [(String::new(), Value::default())].into_iter().collect();
        let object = Value { kind: Some(ValueKind::StructValue(Struct { fields: members })) };
        assert!(is_too_heavy(&data(vec![object.clone(); 20_000])));
        assert!(!is_too_heavy(&data(vec![object; 2_000])));
        // Text that looks like a list of empty parts is text.
        let text = "*\0".repeat(1 << 20);
        assert!(!is_too_heavy(&request(vec![part(v1_0::part::Content::Text(text))])));
    }

    #[test]
    fn nothing_hides_behind_what_is_unknown() {
        let heavy = request(vec![v1_0::Part::default(); 100_000]);
        // Field 90 is unknown: a number, a text, and a group with a number in it.
        for unknown in
            [&[0xd0, 0x05, 0x01][..], &[0xd2, 0x05, 0x01, b'x'], &[0xd3, 0x05, 0x08, 1, 0xd4, 0x05]]
        {
            assert!(is_too_heavy(&[unknown, &heavy].concat()), "{unknown:?}");
        }
        assert!(!is_too_heavy(&vec![0xff; 1 << 20]), "the parser refuses this");
    }
}
