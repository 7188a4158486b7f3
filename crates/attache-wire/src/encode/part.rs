//! A part of a message or artifact.
//!
//! 0.3 has no members for the media type and file name of text and data, and its data must be an object: other values
//! travel as `{"value": …}` with a flag in the part's metadata, which both SDKs recognise.

use attache_domain::{Base64, Metadata, Part, PartContent};
use serde_json::Value;

use super::text::{write_metadata, write_object, write_optional_text, write_text, write_value};
use crate::JsonForm;

/// Metadata member that marks a wrapped data value.
pub(crate) const WRAPPED_DATA_FLAG: &str = "data_part_compat";
/// Member of the wrapping object that holds the value.
pub(crate) const WRAPPED_DATA_MEMBER: &str = "value";

pub(super) fn write(json_form: JsonForm, part: &Part, out: &mut Vec<u8>) {
    match json_form {
        JsonForm::V1_0 => write_v1_0(part, out),
        JsonForm::V0_3Rpc => write_v0_3(&RPC_NAMES, part, out),
        JsonForm::V0_3Rest => write_v0_3(&REST_NAMES, part, out),
    }
}

fn write_v1_0(part: &Part, out: &mut Vec<u8>) {
    match &part.content {
        PartContent::Text(text) => write_named_text(b"{\"text\":", text, out),
        PartContent::Raw(Base64(bytes)) => write_named_text(b"{\"raw\":", bytes, out),
        PartContent::Url(url) => write_named_text(b"{\"url\":", url, out),
        PartContent::Data(data) => {
            out.extend_from_slice(b"{\"data\":");
            write_value(data, out);
        }
    }
    write_optional_text(b",\"filename\":", part.filename.as_deref(), out);
    write_optional_text(b",\"mediaType\":", part.media_type.as_deref(), out);
    write_metadata(part.metadata.as_ref(), out);
    out.push(b'}');
}

/// The text before each kind of content, and after data, in the two forms of 0.3.
struct V0_3PartNames {
    text: &'static [u8],
    bytes: &'static [u8],
    uri: &'static [u8],
    data: &'static [u8],
    data_end: &'static [u8],
}

const RPC_NAMES: V0_3PartNames = V0_3PartNames {
    text: b"{\"kind\":\"text\",\"text\":",
    bytes: b"{\"kind\":\"file\",\"file\":{\"bytes\":",
    uri: b"{\"kind\":\"file\",\"file\":{\"uri\":",
    data: b"{\"kind\":\"data\",\"data\":",
    data_end: b"",
};

const REST_NAMES: V0_3PartNames = V0_3PartNames {
    text: b"{\"text\":",
    bytes: b"{\"file\":{\"fileWithBytes\":",
    uri: b"{\"file\":{\"fileWithUri\":",
    data: b"{\"data\":{\"data\":",
    data_end: b"}",
};

fn write_v0_3(names: &V0_3PartNames, part: &Part, out: &mut Vec<u8>) {
    match &part.content {
        PartContent::Text(text) => write_named_text(names.text, text, out),
        PartContent::Raw(Base64(bytes)) => write_file(names.bytes, bytes, part, out),
        PartContent::Url(uri) => write_file(names.uri, uri, part, out),
        PartContent::Data(Value::Object(data)) => {
            out.extend_from_slice(names.data);
            write_object(data, out);
            out.extend_from_slice(names.data_end);
        }
        PartContent::Data(data) => {
            out.extend_from_slice(names.data);
            out.extend_from_slice(b"{\"value\":");
            write_value(data, out);
            out.push(b'}');
            out.extend_from_slice(names.data_end);
            let mut metadata = part.metadata.clone().unwrap_or_default();
            metadata.insert(WRAPPED_DATA_FLAG.to_owned(), Value::Bool(true));
            return write_end(Some(&metadata), out);
        }
    }
    write_end(part.metadata.as_ref(), out);
}

fn write_file(open: &[u8], content: &str, part: &Part, out: &mut Vec<u8>) {
    write_named_text(open, content, out);
    write_optional_text(b",\"mimeType\":", part.media_type.as_deref(), out);
    write_optional_text(b",\"name\":", part.filename.as_deref(), out);
    out.push(b'}');
}

fn write_named_text(open: &[u8], text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(open);
    write_text(text, out);
}

fn write_end(metadata: Option<&Metadata>, out: &mut Vec<u8>) {
    write_metadata(metadata, out);
    out.push(b'}');
}
