//! Histories, whole and broken.

use attache_domain::{Base64, Content, ProviderData};
use bytes::Bytes;
use proptest::prelude::*;
use serde_json::{Map, Value};

use super::*;

/// The contents that are sent.
fn contents(exchanges: &[Arc<Exchange>], model: &Model) -> Vec<Value> {
    contents_after(exchanges, None, model, &PrefixCache::default())
}

fn contents_after(
    exchanges: &[Arc<Exchange>],
    key: Option<PromptKey>,
    model: &Model,
    prefixes: &PrefixCache,
) -> Vec<Value> {
    serde_json::from_slice(&body(exchanges, key, model, prefixes)).unwrap()
}

fn body(exchanges: &[Arc<Exchange>], key: Option<PromptKey>, model: &Model, prefixes: &PrefixCache) -> Bytes {
    let target = TargetModel { model, route: "gemini" };
    let mut text = write_contents("[", exchanges, key, target, prefixes).unwrap();
    text.write(if text.is_empty() { "[]" } else { "]" });
    prefixes.finish(text)
}

fn text(text: &str) -> Vec<Content> {
    vec![Content::Text(text.into())]
}

fn user(said: &str) -> Exchange {
    Exchange::User(text(said))
}

fn call(id: &str, name: &str) -> ToolCall {
    ToolCall { id: CallId(id.into()), name: name.into(), input: Map::new() }
}

fn opaque(provider: &str, model: &str, data: Value) -> Option<ProviderData> {
    Some(ProviderData { provider: provider.into(), model: model.into(), data })
}

fn calls(calls: &[(&str, &str)]) -> Exchange {
    let said =
        |(id, name): &(&str, &str)| ModelPart { what: ModelPartContent::Call(call(id, name)), opaque: None };
    Exchange::Model(calls.iter().map(said).collect())
}

fn result(id: &str, name: &str, output: &str) -> ToolResult {
    ToolResult { call: CallId(id.into()), name: name.into(), output: text(output), failed: false }
}

fn said(what: ModelPartContent, opaque: Option<ProviderData>) -> Exchange {
    Exchange::Model(vec![ModelPart { what, opaque }])
}

#[track_caller]
fn check(model: &str, exchanges: Vec<Exchange>, expected: Value) {
    let exchanges: Vec<_> = exchanges.into_iter().map(Arc::new).collect();
    let model = Model::named(model);
    let found = contents(&exchanges, &model);
    assert_eq!(json!(found), expected);
}

#[test]
fn neighbours_of_one_side_are_one() {
    check(
        "m",
        vec![user("a"), user("b"), said(ModelPartContent::Text("c".into()), None)],
        json!([
            {"role": "user", "parts": [{"text": "a"}, {"text": "b"}]},
            {"role": "model", "parts": [{"text": "c"}]},
        ]),
    );
}

#[test]
fn results_follow_their_calls_in_order_and_keep_to_themselves() {
    let results = Exchange::Results(vec![result("2", "b", "two"), result("unnamed-1", "a", "one")]);
    check(
        "m",
        vec![user("a"), calls(&[("unnamed-1", "a"), ("2", "b")]), results, user("more")],
        json!([
            {"role": "user", "parts": [{"text": "a"}]},
            {"role": "model", "parts": [
                {"functionCall": {"name": "a", "args": {}}},
                {"functionCall": {"name": "b", "args": {}, "id": "2"}},
            ]},
            {"role": "user", "parts": [
                {"functionResponse": {"name": "a", "response": {"output": "one"}}},
                {"functionResponse": {"name": "b", "response": {"output": "two"}, "id": "2"}},
            ]},
            {"role": "user", "parts": [{"text": "more"}]},
        ]),
    );
}

#[test]
fn a_call_without_a_result_gets_one_and_a_result_without_a_call_goes() {
    let lost = json!({"functionResponse": {"name": "a", "response": {"error": NO_RESULT}, "id": "1"}});
    let asked = json!({"role": "user", "parts": [{"text": "q"}]});
    let called = json!({"role": "model", "parts": [{"functionCall": {"name": "a", "args": {}, "id": "1"}}]});
    let repaired = json!({"role": "user", "parts": [lost]});
    let history = || vec![user("q"), calls(&[("1", "a")])];
    check("m", history(), json!([asked, called, repaired]));
    let next = json!({"role": "user", "parts": [{"text": "n"}]});
    check("m", [history(), vec![user("n")]].concat(), json!([asked, called, repaired, next]));
    let stray = Exchange::Results(vec![result("9", "z", "stray")]);
    check("m", [history(), vec![stray.clone()]].concat(), json!([asked, called, repaired]));
    check("m", vec![user("q"), stray], json!([asked]));
}

#[test]
fn a_history_begins_with_the_user() {
    check(
        "m",
        vec![said(ModelPartContent::Text("hello".into()), None)],
        json!([
            {"role": "user", "parts": [{"text": "Please go on."}]},
            {"role": "model", "parts": [{"text": "hello"}]},
        ]),
    );
}

#[test]
fn signatures_go_back_to_their_own_family_only() {
    let signed = |provider: &str, model: &str| {
        said(
            ModelPartContent::Call(call("1", "a")),
            opaque(provider, model, json!({"thoughtSignature": "s"})),
        )
    };
    #[track_caller]
    fn check_signature(model: &str, exchanges: Vec<Exchange>, expected: Option<&str>) {
        let exchanges: Vec<_> = exchanges.into_iter().map(Arc::new).collect();
        let model = Model::named(model);
        let found = contents(&exchanges, &model);
        let call = &found.iter().find(|content| content["role"] == "model").unwrap()["parts"][0];
        assert_eq!(call.get("thoughtSignature").and_then(Value::as_str), expected);
    }
    let skip = Some(NO_SIGNATURE);
    check_signature("gemini-3-pro-preview", vec![user("q"), signed("gemini", "gemini-3-pro")], Some("s"));
    check_signature("gemini-3-pro-preview", vec![user("q"), signed("gemini", "gemini-3-flash")], skip);
    check_signature("gemini-3-pro-preview", vec![user("q"), signed("gemini-vertex", "gemini-3-pro")], skip);
    check_signature("gemini-3-pro-preview", vec![user("q"), calls(&[("1", "a"), ("2", "b")])], skip);
    check_signature("gemini-2.5-pro", vec![user("q"), signed("gemini", "gemini-3-pro")], None);
    // An earlier turn is not checked.
    check_signature("gemini-3-pro", vec![user("q"), signed("anthropic", "x"), user("n")], None);
}

#[test]
fn only_the_first_call_of_a_step_needs_a_signature() {
    let exchanges = [user("q"), calls(&[("1", "a"), ("2", "b")])].map(Arc::new);
    let model = Model::named("gemini-3-flash");
    let found = contents(&exchanges, &model);
    assert_eq!(found[1]["parts"][0]["thoughtSignature"], NO_SIGNATURE);
    assert_eq!(found[1]["parts"][1].get("thoughtSignature"), None);
}

#[test]
fn thoughts_stay_here_and_hidden_parts_go_back() {
    let part = json!({"text": "", "thoughtSignature": "s"});
    let answer = |model: &str| {
        Exchange::Model(vec![
            ModelPart { what: ModelPartContent::Thought("hm".into()), opaque: None },
            ModelPart { what: ModelPartContent::Text("t".into()), opaque: None },
            ModelPart {
                what: ModelPartContent::Hidden,
                opaque: opaque("gemini", model, json!({"part": part})),
            },
        ])
    };
    let asked = json!({"role": "user", "parts": [{"text": "q"}]});
    check(
        "m",
        vec![user("q"), answer("m")],
        json!([asked, {"role": "model", "parts": [{"text": "t"}, part]}]),
    );
    check("m", vec![user("q"), answer("n")], json!([asked, {"role": "model", "parts": [{"text": "t"}]}]));
}

#[test]
fn media_are_shown_or_told_of() {
    let bytes = |media_type: &str, bytes: &str| Content::Bytes {
        media_type: media_type.into(),
        bytes: Base64(bytes.into()),
        name: Some("x".into()),
    };
    let content = vec![
        bytes("image/png", "AAAA"),
        bytes("application/pdf", "AAAA"),
        bytes("text/plain; charset=utf-8", "aGk="),
        bytes("application/zip", "AAAA"),
        Content::Link { media_type: Some("video/mp4".into()), url: "gs://b/v".into() },
        Content::Link { media_type: None, url: "https://example.com".into() },
    ];
    check(
        "m",
        vec![Exchange::User(content)],
        json!([{"role": "user", "parts": [
            {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
            {"inlineData": {"mimeType": "application/pdf", "data": "AAAA"}},
            {"text": "The file x:\nhi"},
            {"text": "The file x of type application/zip is not shown: it cannot be read here."},
            {"fileData": {"mimeType": "video/mp4", "fileUri": "gs://b/v"}},
            {"text": "https://example.com"},
        ]}]),
    );
}

#[test]
fn an_image_in_a_result_is_inside_or_beside_it() {
    let image = Content::Bytes { media_type: "image/png".into(), bytes: Base64("AAAA".into()), name: None };
    let history = || {
        let mut result = result("1", "a", "seen");
        result.output.push(image.clone());
        result.failed = true;
        vec![user("q"), calls(&[("1", "a")]), Exchange::Results(vec![result])]
    };
    let last = |model: &str| {
        let exchanges: Vec<_> = history().into_iter().map(Arc::new).collect();
        let model = Model::named(model);
        contents(&exchanges, &model).pop().unwrap()["parts"].clone()
    };
    let inline = json!({"inlineData": {"mimeType": "image/png", "data": "AAAA"}});
    assert_eq!(
        last("gemini-3-pro"),
        json!([{"functionResponse": {
        "name": "a", "id": "1", "response": {"error": "seen"}, "parts": [inline]}}])
    );
    assert_eq!(
        last("gemini-2.5-pro"),
        json!([
        {"functionResponse": {"name": "a", "id": "1", "response": {"error": "seen"}}}, inline])
    );
}

/// One exchange of a made-up history; ids are few, so that calls and results pair up or do not.
fn exchange() -> impl Strategy<Value = Exchange> {
    let ids = || proptest::collection::vec(prop_oneof!["[12]", Just("unnamed-1".to_owned())], 0..3);
    let words = "[a\"]{0,2}";
    let signature = proptest::option::of("[st]");
    prop_oneof![
        words.prop_map(|words| user(&words)),
        words.prop_map(|words| said(ModelPartContent::Text(words), None)),
        (ids(), signature).prop_map(|(ids, signature)| {
            let data = signature.map(|signature| json!({"thoughtSignature": signature}));
            let opaque = data.and_then(|data| opaque("gemini", "gemini-3-pro", data));
            let said = |id: String| ModelPart {
                what: ModelPartContent::Call(call(&id, "a")),
                opaque: opaque.clone(),
            };
            Exchange::Model(ids.into_iter().map(said).collect())
        }),
        ids().prop_map(|ids| Exchange::Results(ids.iter().map(|id| result(id, "a", "r")).collect())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_history_begins_with_the_user_and_has_every_call_answered(
        history in proptest::collection::vec(exchange(), 0..12),
        model in prop_oneof![Just("gemini-2.5-pro"), Just("gemini-3-pro")],
    ) {
        let history: Vec<_> = history.into_iter().map(Arc::new).collect();
        let contents = contents(&history, &Model::named(model));
        let count = |content: &Value, kind: &str| {
            let parts = content["parts"].as_array().unwrap();
            parts.iter().filter(|part| part.get(kind).is_some()).count()
        };
        prop_assert!(contents.first().is_none_or(|first| first["role"] == "user"));
        for (index, content) in contents.iter().enumerate() {
            let calls = count(content, "functionCall");
            let answers = contents.get(index + 1).map_or(0, |next| count(next, "functionResponse"));
            prop_assert_eq!(calls, answers, "{:#?}", contents);
        }
    }

    #[test]
    fn a_prompt_that_grew_is_encoded_like_a_new_one(
        history in proptest::collection::vec(exchange(), 0..12),
        model in prop_oneof![Just("gemini-2.5-pro"), Just("gemini-3-pro")],
    ) {
        let history: Vec<_> = history.into_iter().map(Arc::new).collect();
        let (model, prefixes, key) = (Model::named(model), PrefixCache::default(), PromptKey::unique());
        for length in 0..=history.len() {
            let grown = contents_after(&history[..length], Some(key), &model, &prefixes);
            prop_assert_eq!(grown, contents(&history[..length], &model));
        }
    }
}

#[test]
fn a_prefix_is_extended_in_place_unless_it_is_still_being_sent() {
    let (prefixes, model, key) = (PrefixCache::default(), Model::named("m"), Some(PromptKey::unique()));
    let pair = |id: &str| [calls(&[(id, "a")]), Exchange::Results(vec![result(id, "a", "r")])].map(Arc::new);
    let mut history = vec![Arc::new(user("q"))];
    history.extend(pair("1"));
    let first = body(&history, key, &model, &prefixes);
    let sent = first.to_vec();
    history.extend(pair("2"));
    let second = body(&history, key, &model, &prefixes);
    assert_eq!(first, sent, "the first is still being sent");
    let beginning = &sent[..sent.len() - 1];
    assert!(second.starts_with(beginning));
    // What the key says counts: only new exchanges are looked at.
    history[0] = Arc::new(user("another question"));
    assert!(body(&history, key, &model, &prefixes).starts_with(beginning));
    assert!(!body(&history, Some(PromptKey::unique()), &model, &prefixes).starts_with(beginning));
}
