//! The keys of clients in settings. They are taken out of the metadata, because metadata is stored and shown.

use std::collections::HashMap;

use attache_domain::{ApiKey, Metadata};
use serde_json::Value;

use super::{GEMINI, OWN};
use crate::decode::decoder::{Decoder, FieldPath};
use crate::devtool::is_devtool_uri;

pub(super) const NAME: &str = "apiKey";

/// A longer key is refused.
const MAX_BYTES: usize = 4096;

/// Takes the keys out of all settings in `metadata`, by the member that held the settings.
pub(super) fn take_out(metadata: &mut Metadata) -> HashMap<String, Value> {
    let mut taken = HashMap::new();
    for (member, settings) in metadata.iter_mut() {
        if !(member == GEMINI || member == OWN || is_devtool_uri(member)) {
            continue;
        }
        let Value::Object(settings) = settings else { continue };
        let names: Vec<_> = settings.keys().filter(|name| is_name(name)).cloned().collect();
        for name in names {
            let key = settings.remove(&name).filter(|key| !key.is_null());
            taken.extend(key.map(|key| (member.clone(), key)));
        }
    }
    taken
}

/// Any spelling is taken out: a misspelt key is a secret too.
fn is_name(name: &str) -> bool {
    has_letters(name, "apikey")
}

fn has_letters(name: &str, expected: &str) -> bool {
    let letters = name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase());
    letters.eq(expected.chars())
}

/// Refuses keys where they do not count, but clients put them: beside the settings or deeper in them. `metadata` is what
/// [`take_out`] leaves.
pub(super) fn refuse_misplaced(decoder: &mut Decoder, metadata: &Metadata, path: FieldPath<'_>) {
    for (name, value) in metadata {
        let here = path.member(name);
        if is_name(name) && !value.is_null() {
            refuse(decoder, here);
        }
        refuse_below(decoder, value, here, is_settings(name));
    }
}

/// The settings of an MCP server may have a key of their own.
fn refuse_below(decoder: &mut Decoder, value: &Value, path: FieldPath<'_>, in_settings: bool) {
    match value {
        Value::Object(members) => {
            for (name, value) in members.iter().filter(|(name, _)| !(in_settings && *name == "mcpServers")) {
                let here = path.member(name);
                if in_settings && is_name(name) && !value.is_null() {
                    refuse(decoder, here);
                }
                refuse_below(decoder, value, here, in_settings || is_settings(name));
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                refuse_below(decoder, item, path.item(index), in_settings);
            }
        }
        _ => {}
    }
}

fn refuse(decoder: &mut Decoder, path: FieldPath<'_>) {
    let what =
        format!("does not count here: a key goes into metadata.{GEMINI}.{NAME} or metadata.{OWN}.{NAME}");
    decoder.refuse::<()>(path, what);
}

fn is_settings(name: &str) -> bool {
    name == GEMINI || name == OWN || is_devtool_uri(name) || has_letters(name, "agentsettings")
}

/// The key; an empty one counts as absent. A refusal never quotes it.
pub(super) fn read(decoder: &mut Decoder, given: Value, settings: FieldPath<'_>) -> Option<ApiKey> {
    let path = settings.member(NAME);
    let key = decoder.text(given, path).filter(|key| !key.is_empty())?;
    match problem(&key) {
        None => Some(ApiKey::from(key)),
        Some(problem) => decoder.refuse(path, problem),
    }
}

/// A key becomes a header, so it must fit into one.
pub(crate) fn problem(key: &str) -> Option<String> {
    if key.len() > MAX_BYTES {
        return Some(format!("must have at most {MAX_BYTES} bytes"));
    }
    let fits = key.bytes().all(|byte| byte.is_ascii_graphic());
    (!fits).then(|| "must consist of printable ASCII characters without spaces".to_owned())
}

#[cfg(test)]
mod tests {
    use attache_domain::OperationKind;
    use serde_json::json;

    use super::*;
    use crate::devtool::URI;
    use crate::{JsonForm, decode};

    fn message(metadata: &Value, request: &Value) -> Value {
        json!({ "metadata": request, "message": {
            "messageId": "m", "role": "ROLE_USER", "parts": [{ "text": "hello" }], "metadata": metadata,
        }})
    }

    #[test]
    fn a_key_is_read_and_taken_out_of_the_metadata_in_every_dialect() {
        for (member, name) in [(GEMINI, "apiKey"), (OWN, "apiKey"), (URI, "api_key")] {
            let settings = json!({ member: { name: "sk-1", "model": "flash" }, "note": { name: "kept" } });
            for (metadata, request) in [(&settings, &json!({})), (&json!({}), &settings)] {
                let sent = decode(JsonForm::V1_0, OperationKind::Send, Some(message(metadata, request)));
                let mut operation = sent.unwrap().operation;
                let stored = format!("{operation:?}");
                assert!(!stored.contains("sk-1") && stored.contains("kept"), "{member}: {stored}");
                let requested = operation.requested_settings_mut().unwrap();
                assert_eq!(requested.api_key.as_ref().map(ApiKey::expose), Some("sk-1"), "{member}");
                assert_eq!(requested.model.as_deref(), Some("flash"), "{member}");
            }
        }
    }

    #[test]
    fn a_misspelt_key_is_taken_out_too() {
        for name in ["apikey", "API_KEY", "Api-Key"] {
            let mut metadata =
                Metadata::from_iter([(GEMINI.to_owned(), json!({ name: "sk-1", "kind": "x" }))]);
            take_out(&mut metadata);
            assert_eq!(Value::Object(metadata), json!({ GEMINI: { "kind": "x" } }), "{name}");
        }
    }

    #[test]
    fn a_key_in_another_place_is_refused_by_its_place_and_not_quoted() {
        for (metadata, place) in [
            (json!({ "agentSettings": { "apiKey": "sk-1" } }), "metadata.agentSettings.apiKey"),
            (json!({ "apiKey": "sk-1" }), "metadata.apiKey"),
            (
                json!({ GEMINI: { "agentSettings": { "apiKey": "sk-1" } } }),
                "metadata.coderAgent.agentSettings.apiKey",
            ),
            (json!({ "x": [{ "agent_settings": { "api-key": "sk-1" } }] }), "agent_settings.api-key"),
            (json!({ URI: { "auth": { "api_key": "sk-1" } } }), "auth.api_key"),
        ] {
            for (metadata, request) in [(&metadata, &json!({})), (&json!({}), &metadata)] {
                let sent = decode(JsonForm::V1_0, OperationKind::Send, Some(message(metadata, request)));
                let refused = sent.unwrap_err().to_string();
                assert!(
                    refused.contains(place) && refused.contains("metadata.coderAgent.apiKey"),
                    "{refused}"
                );
                assert!(!refused.contains("sk-1"), "{refused}");
            }
        }
    }

    #[test]
    fn the_keys_of_mcp_servers_stay() {
        let servers = json!({ "x": { "headers": { "api-key": "theirs" } } });
        let metadata = json!({ GEMINI: { "mcpServers": servers, "apiKey": null } });
        decode(JsonForm::V1_0, OperationKind::Send, Some(message(&metadata, &json!({})))).unwrap();
    }

    #[test]
    fn a_key_that_fits_into_no_header_is_refused_and_not_quoted() {
        let settings = json!({ GEMINI: { "apiKey": "two words" } });
        let sent = decode(JsonForm::V1_0, OperationKind::Send, Some(message(&settings, &json!({}))));
        let refused = sent.unwrap_err().to_string();
        assert!(refused.contains("message.metadata.coderAgent.apiKey must consist"), "{refused}");
        assert!(!refused.contains("two words"), "{refused}");
    }
}
