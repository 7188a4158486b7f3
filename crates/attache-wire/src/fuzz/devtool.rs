//! Arbitrary JSON from clients of the development-tool extension.

use attache_domain::{Message, Part, PartContent, RequestedSettings};
use serde_json::{Value, json};

use super::{DEPTH, sent, written};
use crate::devtool::{Dialect, URI, gemini_routes, incoming};
use crate::{JsonForm, json};

/// Settings in either dialect or in our own form, and answers about calls.
pub(super) fn said(text: &[u8]) {
    let Ok(value) = json::parse(text, DEPTH) else { return };
    for (key, dialect) in
        [(incoming::GEMINI, Some(Dialect::Gemini)), (URI, Some(Dialect::Developer)), ("attache", None)]
    {
        for json_form in JsonForm::ALL {
            settings(json_form, key, dialect, &value);
        }
    }
    settings_alone(&value);
    answer(&value);
}

/// Settings are the same before a task and in its first message, but for where they were said.
fn settings_alone(value: &Value) {
    let params = json!({ "message": {
        "messageId": "m", "role": "user", "parts": [{ "kind": "text", "text": "hello" }], "metadata": { incoming::GEMINI: value },
    }});
    let alone = gemini_routes::read_create(json!({ "agentSettings": value })).map(|(_, requested)| requested);
    let said = sent(JsonForm::V0_3Rpc, params).map(|message| message.requested);
    let without_place = |requested: Option<Box<RequestedSettings>>| {
        requested.map(|requested| RequestedSettings { metadata_key: String::new(), ..*requested })
    };
    assert_eq!(alone.ok().map(without_place), said.map(without_place));
}

/// Requested settings survive encoding and decoding.
fn settings(json_form: JsonForm, key: &str, dialect: Option<Dialect>, value: &Value) {
    let params = json!({ "message": {
        "messageId": "m", "role": role(json_form), parts(json_form): [{ "kind": "text", "text": "hello" }], "metadata": { key: value },
    }});
    let Some(message) = sent(json_form, params) else { return };
    if let Some(requested) = &message.requested {
        assert_eq!(requested.metadata_key, key);
    }
    assert!(dialect.is_none() || message.metadata.is_some(), "a sign is not lost");
    let again = sent(json_form, json!({ "message": written(json_form, &message) }));
    let without_key =
        message.requested.map(|requested| RequestedSettings { api_key: None, ..*requested }).map(Box::new);
    assert_eq!(again.expect("what was read is read again").requested, without_key, "in {json_form:?}");
}

/// An answer in the domain's words is one already.
fn answer(value: &Value) {
    let params = json!({ "message": {
        "messageId": "m", "taskId": "t", "role": role(JsonForm::V1_0), "parts": [{ "data": value }],
    }});
    let Some(message) = sent(JsonForm::V1_0, params) else { return };
    let data = |message: &Message| match message.parts.as_slice() {
        [Part { content: PartContent::Data(data), .. }] => data.clone(),
        other => panic!("one part was sent, not {other:?}"),
    };
    let once = data(&message);
    let again = sent(JsonForm::V1_0, json!({ "message": written(JsonForm::V1_0, &message) }));
    assert_eq!(data(&again.expect("what was read is read again")), once);
}

fn role(json_form: JsonForm) -> &'static str {
    crate::enum_names::role_name(json_form, attache_domain::Role::User)
}

fn parts(json_form: JsonForm) -> &'static str {
    match json_form {
        JsonForm::V0_3Rest => "content",
        JsonForm::V1_0 | JsonForm::V0_3Rpc => "parts",
    }
}
