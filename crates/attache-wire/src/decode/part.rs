//! Decodes parts of messages and artifacts.

use attache_domain::{Metadata, Part, PartContent};
use serde_json::Value;

use super::decoder::{Decoder, FieldPath, Members};
use super::{PartKinds, base64, kind};
use crate::JsonForm;
use crate::encode::part::{WRAPPED_DATA_FLAG, WRAPPED_DATA_MEMBER};

pub(crate) fn read(decoder: &mut Decoder, value: Value, path: FieldPath<'_>) -> Option<Part> {
    let members = decoder.members(value, path)?;
    match decoder.json_form() {
        JsonForm::V1_0 => read_v1_0(decoder, members),
        JsonForm::V0_3Rpc | JsonForm::V0_3Rest => read_v0_3(decoder, members),
    }
}

fn read_v1_0(decoder: &mut Decoder, mut members: Members<'_>) -> Option<Part> {
    let here = members.path();
    let (text, raw, url) = (members.take("text"), members.take("raw"), members.take("url"));
    // `null` is valid data, unless the part has other content.
    let alone = text.is_none() && raw.is_none() && url.is_none();
    let data = members.take_even_null("data").filter(|data| alone || !data.is_null());
    let candidates = &mut [("text", text), ("raw", raw), ("url", url), ("data", data)];
    let content = match exactly_one(decoder, &members, candidates) {
        None => None,
        Some(("text", value)) => decoder.text(value, here.member("text")).map(PartContent::Text),
        Some(("raw", value)) => read_bytes(decoder, value, here.member("raw")),
        Some(("url", value)) => read_url(decoder, value, here.member("url")),
        Some((_, value)) => Some(PartContent::Data(value)),
    };
    let filename = members.nonempty_text(decoder, "filename");
    let media_type = members.nonempty_text(decoder, "mediaType");
    let metadata = members.object(decoder, "metadata");
    Some(Part { content: content?, media_type, filename, metadata })
}

fn read_v0_3(decoder: &mut Decoder, mut members: Members<'_>) -> Option<Part> {
    let here = members.path();
    let kind = kind::part_kind(decoder, &mut members)?;
    // ProtoJSON has no kinds; in the JSON Schema every part names its own.
    let is_required =
        decoder.json_form() == JsonForm::V0_3Rpc && decoder.options().part_kinds == PartKinds::Required;
    if kind.is_none() && is_required {
        return decoder.refuse(here.member("kind"), "is required: \"text\", \"file\" or \"data\"");
    }
    if let Some(kind) = kind.filter(|kind| !members.has(kind)) {
        return decoder.refuse(here.member(kind), format!("is required in a part of kind \"{kind}\""));
    }
    let candidates = &mut ["text", "file", "data"].map(|name| (name, members.take(name)));
    let content = exactly_one(decoder, &members, candidates);
    let metadata = members.object(decoder, "metadata");
    match content? {
        ("text", value) => {
            let text = decoder.text(value, here.member("text"))?;
            Some(Part { metadata, ..Part::text(text) })
        }
        ("file", value) => {
            let file = decoder.members(value, here.member("file"))?;
            Some(Part { metadata, ..read_file(decoder, file)? })
        }
        (_, value) => {
            let data = read_data(decoder, value, here.member("data"), kind.is_some())?;
            let (data, metadata) = unwrap_data(data, metadata);
            Some(Part { metadata, ..Part::new(PartContent::Data(data)) })
        }
    }
}

fn read_file(decoder: &mut Decoder, mut members: Members<'_>) -> Option<Part> {
    let here = members.path();
    // Under /v1 the JSON Schema names are accepted too.
    let names: &[&'static str] = match decoder.json_form() {
        JsonForm::V0_3Rest => &["fileWithBytes", "fileWithUri", "bytes", "uri"],
        JsonForm::V1_0 | JsonForm::V0_3Rpc => &["bytes", "uri"],
    };
    let mut candidates: Vec<_> = names.iter().map(|name| (*name, members.take(name))).collect();
    let content = match exactly_one(decoder, &members, &mut candidates) {
        None => None,
        Some((name @ ("bytes" | "fileWithBytes"), value)) => read_bytes(decoder, value, here.member(name)),
        Some((name, value)) => read_url(decoder, value, here.member(name)),
    };
    let media_type = members.nonempty_text(decoder, "mimeType");
    let filename = members.nonempty_text(decoder, "name");
    Some(Part { content: content?, media_type, filename, metadata: None })
}

/// Data of 0.3 is an object. ProtoJSON puts it one level deeper than the JSON Schema, whose parts name
/// their kind.
fn read_data(
    decoder: &mut Decoder,
    value: Value,
    path: FieldPath<'_>,
    names_its_kind: bool,
) -> Option<Metadata> {
    let mut data = decoder.object(value, path)?;
    if decoder.json_form() == JsonForm::V0_3Rpc || names_its_kind {
        return Some(data);
    }
    match data.remove("data").filter(|data| !data.is_null()) {
        Some(data) => decoder.object(data, path.member("data")),
        None => decoder.refuse(path.member("data"), "is required"),
    }
}

/// Unwraps a value that 0.3 had to carry in an object.
pub(crate) fn unwrap_data(mut data: Metadata, metadata: Option<Metadata>) -> (Value, Option<Metadata>) {
    let flag = metadata.as_ref().and_then(|metadata| metadata.get(WRAPPED_DATA_FLAG));
    if flag != Some(&Value::Bool(true)) || data.len() != 1 {
        return (data.into(), metadata);
    }
    let Some(value) = data.remove(WRAPPED_DATA_MEMBER) else { return (data.into(), metadata) };
    let mut metadata = metadata.unwrap_or_default();
    metadata.remove(WRAPPED_DATA_FLAG);
    (value, Some(metadata).filter(|metadata| !metadata.is_empty()))
}

fn read_bytes(decoder: &mut Decoder, value: Value, path: FieldPath<'_>) -> Option<PartContent> {
    let text = decoder.text(value, path)?;
    match base64::normalise(text) {
        Ok(bytes) => Some(PartContent::Raw(bytes)),
        Err(problem) => decoder.refuse(path, format!("is not base64: {problem}")),
    }
}

fn read_url(decoder: &mut Decoder, value: Value, path: FieldPath<'_>) -> Option<PartContent> {
    let url = decoder.text(value, path)?;
    if url.is_empty() {
        return decoder.refuse(path, "must not be empty");
    }
    Some(PartContent::Url(url))
}

/// The only candidate that is present.
fn exactly_one(
    decoder: &mut Decoder,
    members: &Members<'_>,
    candidates: &mut [(&'static str, Option<Value>)],
) -> Option<(&'static str, Value)> {
    let is_there = |(_, value): &&mut (&str, Option<Value>)| value.is_some();
    let mut there = candidates.iter_mut().filter(is_there);
    if let (Some((name, value)), None) = (there.next(), there.next()) {
        return value.take().map(|value| (*name, value));
    }
    let names: Vec<&str> = candidates.iter().map(|(name, _)| *name).collect();
    let found = candidates.iter().filter(|(_, value)| value.is_some()).map(|(name, _)| *name);
    let has = match join_names(&found.collect::<Vec<_>>()) {
        none if none.is_empty() => "none".to_owned(),
        has => has,
    };
    let hint = match decoder.json_form() {
        JsonForm::V1_0 if members.has("file") => "; a file is spelled raw or url in version 1.0",
        _ => "",
    };
    let description = format!("must have exactly one of {}, but has {has}{hint}", join_names(&names));
    decoder.refuse(members.path(), description)
}

/// `a`, `a and b`, `a, b and c`.
fn join_names(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
