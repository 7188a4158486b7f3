//! Decodes the extension's settings and answers, in every dialect, into the same domain words.

mod api_key;
mod settings;

use attache_domain::{Message, MessageAnswers, Metadata, RequestedSettings};
use serde_json::Value;

use super::{Dialect, is_devtool_uri};
use crate::approval_answers::decode_answers;
use crate::decode::decoder::{Decoder, FieldPath};

/// The member of a message's metadata that marks clients of Gemini CLI's server.
pub(crate) const GEMINI: &str = "coderAgent";

/// The member of a message's metadata for attache's own settings.
pub(crate) const OWN: &str = "attache";

/// Reads the settings and the answers of `message`, and tells which dialect they are in.
pub(crate) fn read(
    decoder: &mut Decoder,
    message: &mut Message,
    path: FieldPath<'_>,
) -> (MessageAnswers, Option<Dialect>) {
    message.requested = read_settings(decoder, message.metadata.as_mut(), path);
    let (answers, answered) = decode_answers(decoder, message, path);
    let keys = message.metadata.iter().flat_map(Metadata::keys).chain(&message.extensions);
    let dialect = detect_dialect(message.metadata.as_ref(), keys.map(String::as_str));
    (answers, dialect.or(answered))
}

/// Reads the settings in the metadata of the request around `message`, where some clients put them. Settings and the
/// dialect of the message take precedence.
pub(crate) fn read_request(
    decoder: &mut Decoder,
    message: &mut Message,
    mut metadata: Option<&mut Metadata>,
) {
    if let Some(mut requested) = read_settings(decoder, metadata.as_deref_mut(), FieldPath::Root) {
        requested.metadata_key.insert_str(0, RequestedSettings::IN_REQUEST);
        message.requested = Some(match message.requested.take() {
            Some(own) => Box::new(own.over(*requested)),
            None => requested,
        });
    }
    if decoder.dialect().is_none() {
        let metadata = metadata.as_deref();
        let keys = metadata.into_iter().flat_map(Metadata::keys).map(String::as_str);
        decoder.set_dialect(detect_dialect(metadata, keys));
    }
}

/// The settings in `metadata`, and the client's key, which is taken out.
pub(crate) fn read_settings(
    decoder: &mut Decoder,
    metadata: Option<&mut Metadata>,
    path: FieldPath<'_>,
) -> Option<Box<RequestedSettings>> {
    settings::read(decoder, metadata, path.member("metadata")).map(Box::new)
}

/// Why a client's key cannot be used.
pub(crate) use api_key::problem as api_key_problem;

/// The settings of a client of Gemini CLI's server.
pub(crate) fn read_gemini_settings(
    decoder: &mut Decoder,
    settings: Value,
    path: FieldPath<'_>,
) -> Option<Box<RequestedSettings>> {
    settings::read_gemini(decoder, settings, path).map(Box::new)
}

/// The dialect that `metadata`, or one of the extension URIs in `names`, shows.
fn detect_dialect<'a>(
    metadata: Option<&Metadata>,
    mut names: impl Iterator<Item = &'a str>,
) -> Option<Dialect> {
    if metadata.is_some_and(|metadata| metadata.contains_key(GEMINI)) {
        return Some(Dialect::Gemini);
    }
    names.any(is_devtool_uri).then_some(Dialect::Developer)
}
