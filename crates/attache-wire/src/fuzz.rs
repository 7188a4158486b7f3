//! Entry points for arbitrary bytes: nothing may panic, and decoded values keep their meaning.
//!
//! Called by the tests of this crate and by the targets in the folder `fuzz`.

use attache_domain::{Message, Operation, OperationKind};
use serde_json::{Value, json};

use crate::{JsonForm, Version, decode, encode, extensions, json, jsonrpc, percent, replay, rest, version};

mod devtool;
#[cfg(test)]
mod generated;
mod live;
mod proto;
mod rest_api;

const DEPTH: usize = 64;

/// Small enough that generated requests are checked.
const WEIGHT: usize = 4096;

/// A fault quotes parts of the request.
const MAX_FAULT_TEXT: usize = 4096;

/// The body of a JSON-RPC request.
pub fn jsonrpc(body: &[u8]) {
    let _ = json::check_decoded_size(body, WEIGHT);
    let envelope = match jsonrpc::parse(body, DEPTH) {
        Ok(envelope) => envelope,
        Err((id, fault)) => {
            for version in Version::ALL {
                let mut out = Vec::new();
                jsonrpc::write_error(version, &id, &fault, &mut out);
                check_said(&out, body);
            }
            return;
        }
    };
    let Some((version, kind)) = jsonrpc::method(&envelope.method) else { return };
    if let Err(fault) = decode(jsonrpc::json_form(version), kind, envelope.params) {
        let mut out = Vec::new();
        jsonrpc::write_error(version, &envelope.id, &fault, &mut out);
        check_said(&out, body);
    }
}

/// A REST request: verb, path and query in the first line, the body after it.
pub fn rest(request: &[u8]) {
    let end = request.iter().position(|byte| *byte == b'\n').unwrap_or(request.len());
    let (line, body) = request.split_at(end);
    let line = String::from_utf8_lossy(line);
    let (verb, target) = line.split_once(' ').unwrap_or(("GET", &line));
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let body = json::parse(body, DEPTH).ok();
    let done = rest::route(verb, path).and_then(|route| rest::decode(&route, query, body));
    if let Err(fault) = done {
        check_said(&rest::error(rest::version_of_path(path), &fault).body, request);
    }
}

/// A request of the REST API: method and path in the first line, the body after it.
pub fn rest_api(request: &[u8]) {
    rest_api::request(request);
}

/// The parameters of a request of the live endpoint.
pub fn live(text: &[u8]) {
    live::params(text);
}

/// The parameters of every operation in every JSON form.
pub fn operations(params: &[u8]) {
    let Ok(params) = json::parse(params, DEPTH) else { return };
    for json_form in JsonForm::ALL {
        for kind in OperationKind::ALL {
            let read = decode(json_form, kind, Some(params.clone()));
            assert_eq!(read, decode(json_form, kind, Some(params.clone())), "read twice, read alike");
        }
    }
    let _ = crate::devtool::gemini_routes::read_execute(&params);
    let _ = crate::devtool::gemini_routes::read_create(params.clone());
}

/// The parameters of send in every JSON form; a decoded message that is encoded decodes to the same.
pub fn message(params: &[u8]) {
    let Ok(params) = json::parse(params, DEPTH) else { return };
    for json_form in JsonForm::ALL {
        let Some(message) = sent(json_form, params.clone()) else { continue };
        for json_form in JsonForm::ALL {
            let once = written(json_form, &message);
            // Another form may refuse the message, but must not change it.
            let Some(again) = sent(json_form, json!({ "message": once })) else { continue };
            assert_eq!(written(json_form, &again), once, "in {json_form:?}");
        }
    }
}

/// The message of a gRPC request in both versions: a decoded message that is encoded decodes to the same, also in
/// JSON, and errors fit into headers.
pub fn proto(message: &[u8]) {
    proto::request(message);
}

/// Settings and answers of the development-tool extension.
pub fn devtool(text: &[u8]) {
    devtool::said(text);
}

/// A cursor of the replay extension or the id of an event: a parsed one that is encoded parses to the same.
pub fn cursor(text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    match replay::parse_cursor(&text) {
        Ok(cursor) => {
            let encoded = match &cursor.epoch {
                Some(epoch) => replay::encode_cursor(epoch, cursor.seq),
                None => cursor.seq.to_string(),
            };
            assert!(encoded.len() <= text.len(), "{encoded:?} of {text:?}");
            assert_eq!(replay::parse_cursor(&encoded), Ok(cursor));
        }
        Err(fault) => check_said(&rest::error(Version::V1_0, &fault).body, b""),
    }
}

fn sent(json_form: JsonForm, params: Value) -> Option<Message> {
    match decode(json_form, OperationKind::Send, Some(params)).ok()?.operation {
        Operation::Send(send) => Some(send.message),
        _ => None,
    }
}

fn written(json_form: JsonForm, message: &Message) -> Value {
    let mut out = Vec::new();
    encode::write_message_item(json_form, message, &mut out);
    let mut item: Value = serde_json::from_slice(&out).expect("what is written is JSON");
    match item.get_mut("message") {
        Some(message) if json_form != JsonForm::V0_3Rpc => message.take(),
        _ => item,
    }
}

/// The headers for version and extensions, and the query that may replace the first.
pub fn headers(text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    let (header, rest) = text.split_once('\n').unwrap_or((&text, ""));
    if let Ok(Some(version)) = version::parse_requested(Some(header), Some(rest)) {
        let again = version::parse_requested(Some(version.as_str()), None);
        assert_eq!(again, Ok(Some(version)), "a version's own name is understood");
    }
    let uris = extensions::requested(text.lines());
    for (index, uri) in uris.iter().enumerate() {
        assert!(!uri.is_empty() && uri.trim() == uri && !uri.contains(','), "{uri:?}");
        assert!(!uris[..index].contains(uri), "{uri:?} is asked for once");
        let _ = crate::devtool::is_devtool_uri(uri);
    }
    assert_eq!(extensions::requested(uris.iter().map(String::as_str)), uris, "what was read is read alike");
}

/// Escapes in paths and queries: escaped text decodes to itself, and broken escapes are refused or ignored.
pub fn escapes(text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    if let Some(decoded) = percent::decode_segment(&text) {
        assert!(decoded.len() <= text.len(), "decoding only shortens");
    }
    let escaped: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
    assert_eq!(percent::decode_segment(&escaped).as_deref(), Some(&*text));
    assert!(percent::query_pairs(&text).count() <= text.split('&').count());
    let expected = (text.clone().into_owned(), Some(text.clone().into_owned()));
    let pairs: Vec<_> = percent::query_pairs(&format!("{escaped}={escaped}")).collect();
    assert_eq!(pairs, [expected]);
}

/// Bytes as a part of a message: accepted ones become standard base64 with padding, which stays unchanged.
pub fn base64(text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    let params =
        |text: &str| json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"raw": text}]}});
    let Some(message) = sent(JsonForm::V1_0, params(&text)) else { return };
    let kept = written(JsonForm::V1_0, &message);
    let raw = kept["parts"][0]["raw"].as_str().expect("the bytes are written as they were read");
    assert!(raw.len().is_multiple_of(4) && raw.len() < text.len() + 4, "{raw:?}");
    let letters = raw.trim_end_matches('=');
    assert!(raw.len() - letters.len() <= 2, "{raw:?}");
    assert!(letters.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(&byte)), "{raw:?}");
    let again = sent(JsonForm::V1_0, params(raw)).expect("the standard form is taken");
    assert_eq!(written(JsonForm::V1_0, &again), kept);
}

/// An error is JSON and not much longer than its request.
fn check_said(said: &[u8], about: &[u8]) {
    assert!(serde_json::from_slice::<Value>(said).is_ok(), "{}", String::from_utf8_lossy(said));
    // A character may be escaped twice, and one response names every invalid member.
    assert!(said.len() <= MAX_FAULT_TEXT + 256 * about.len(), "{} bytes about {}", said.len(), about.len());
}

#[cfg(test)]
mod tests {
    use attache_testkit::fuzzing::{check_arbitrary_bytes, check_likely_input};

    use super::*;

    /// Pieces of headers, escapes and base64. `tests/it/never_panics.rs` generates likely JSON.
    const WORDS: &[&str] = &[
        "1.0",
        "0.3",
        ".",
        "1",
        "A2A-Version=",
        "&",
        "=",
        ",",
        " ",
        "\n",
        "%",
        "%2",
        "%2F",
        "+",
        "/",
        "-",
        "_",
        "QUJD",
        "A",
        "é",
    ];

    /// A request of 1.0 whose one part holds `inner`, `levels` times in a list or in an object.
    fn nested(levels: usize, inner: fn(Value) -> Value) -> Vec<u8> {
        let mut out = Vec::new();
        let data = (0..levels).fold(json!(1), |data, _| inner(data));
        let params = json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"data": data}]}});
        let message = sent(JsonForm::V1_0, params).expect("a message");
        crate::proto::write_message_item(Version::V1_0, &message, &mut out);
        out
    }

    #[test]
    fn what_is_written_in_protobuf_can_be_read_however_deep_it_is() {
        for levels in [1, 20, 28, 29, 30, 31, 32, 40, 43, 44, 45, 46, 47, 48, 60, 100] {
            // An item has its message where a request of 1.0 has it.
            proto(&nested(levels, |data| json!([data])));
            proto(&nested(levels, |data| json!({ "a": data })));
        }
    }

    fn all(bytes: &[u8]) {
        proto(bytes);
        devtool(bytes);
        cursor(bytes);
        headers(bytes);
        escapes(bytes);
        base64(bytes);
        operations(bytes);
        rest_api(bytes);
        live(bytes);
    }

    fn short(bytes: &[u8]) {
        cursor(bytes);
        headers(bytes);
        escapes(bytes);
        base64(bytes);
    }

    #[test]
    fn arbitrary_bytes_do_no_harm() {
        check_arbitrary_bytes(all);
    }

    #[test]
    fn likely_texts_do_no_harm() {
        check_likely_input(WORDS, 12, short);
    }
}
