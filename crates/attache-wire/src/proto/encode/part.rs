//! A part of a message or artifact. What does not fit into 0.3 travels as in its JSON.

use attache_domain::{Base64, Part, PartContent};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::field_writer::{FieldWriter, write_nested};
use super::write_metadata;
use crate::Version;
use crate::encode::part::{WRAPPED_DATA_FLAG, WRAPPED_DATA_MEMBER};
use crate::proto::value;

pub(super) fn write(version: Version, part: &Part, out: &mut Vec<u8>) {
    match version {
        Version::V0_3 => write_v0_3(part, out),
        Version::V1_0 => write_v1_0(part, out),
    }
}

/// What a part holds is written even when it is empty: it is one of several things it could be.
fn write_v1_0(part: &Part, out: &mut Vec<u8>) {
    match &part.content {
        PartContent::Text(text) => out.bytes_always(1, text.as_bytes()),
        PartContent::Raw(bytes) => out.bytes_always(2, &base64_bytes(bytes)),
        PartContent::Url(url) => out.bytes_always(3, url.as_bytes()),
        PartContent::Data(data) => write_nested(4, out, |out| value::write(data, out)),
    }
    write_metadata(5, part.metadata.as_ref(), out);
    out.optional_text(6, part.filename.as_deref());
    out.optional_text(7, part.media_type.as_deref());
}

fn write_v0_3(part: &Part, out: &mut Vec<u8>) {
    match &part.content {
        PartContent::Text(text) => out.bytes_always(1, text.as_bytes()),
        PartContent::Raw(bytes) => write_file(2, &base64_bytes(bytes), part, out),
        PartContent::Url(uri) => write_file(1, uri.as_bytes(), part, out),
        PartContent::Data(Value::Object(data)) => write_data(data, out),
        PartContent::Data(data) => {
            write_data(&Map::from_iter([(WRAPPED_DATA_MEMBER.to_owned(), data.clone())]), out);
            let mut metadata = part.metadata.clone().unwrap_or_default();
            metadata.insert(WRAPPED_DATA_FLAG.to_owned(), Value::Bool(true));
            return write_metadata(4, Some(&metadata), out);
        }
    }
    write_metadata(4, part.metadata.as_ref(), out);
}

fn write_file(number: u32, content: &[u8], part: &Part, out: &mut Vec<u8>) {
    write_nested(2, out, |out| {
        out.bytes_always(number, content);
        out.optional_text(3, part.media_type.as_deref());
        out.optional_text(4, part.filename.as_deref());
    });
}

fn write_data(data: &Map<String, Value>, out: &mut Vec<u8>) {
    write_nested(3, out, |out| write_nested(1, out, |out| value::write_struct(data, out)));
}

/// Bytes are kept in standard base64 only, so there is nothing that could fail to be read.
fn base64_bytes(Base64(bytes): &Base64) -> Vec<u8> {
    STANDARD.decode(bytes).unwrap_or_default()
}
