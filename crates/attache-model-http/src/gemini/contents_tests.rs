//! Histories, whole and broken.

use attache_domain::{Base64, Content, Opaque};
use serde_json::{Map, Value};

use super::*;

/// As it goes out.
fn spelled(exchanges: &[Arc<Exchange>], model: &Model) -> Vec<Value> {
    let kept = Kept::default();
    let told = |exchanges| {
        let contents = contents(exchanges, Reader { model, route: "gemini" }, &kept);
        contents.iter().map(|content| to_value(content)).collect::<Vec<_>>()
    };
    // Told bit by bit, as a conversation grows, it is the same as told at once.
    for length in 0..exchanges.len() {
        told(&exchanges[..length]);
    }
    let again = told(exchanges);
    let fresh = contents(exchanges, Reader { model, route: "gemini" }, &Kept::default());
    assert_eq!(again, fresh.iter().map(to_value).collect::<Vec<_>>());
    again
}

fn to_value(content: &Told<'_>) -> Value {
    serde_json::from_str(&serde_json::to_string(content).unwrap()).unwrap()
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

fn opaque(provider: &str, model: &str, data: Value) -> Option<Opaque> {
    Some(Opaque { provider: provider.into(), model: model.into(), data })
}

fn calls(calls: &[(&str, &str)]) -> Exchange {
    let said = |(id, name): &(&str, &str)| Said { what: Utterance::Call(call(id, name)), opaque: None };
    Exchange::Model(calls.iter().map(said).collect())
}

fn result(id: &str, name: &str, output: &str) -> ToolResult {
    ToolResult { call: CallId(id.into()), name: name.into(), output: text(output), failed: false }
}

fn said(what: Utterance, opaque: Option<Opaque>) -> Exchange {
    Exchange::Model(vec![Said { what, opaque }])
}

#[track_caller]
fn check(model: &str, exchanges: Vec<Exchange>, expected: Value) {
    let exchanges: Vec<_> = exchanges.into_iter().map(Arc::new).collect();
    let model = Model::named(model);
    let found = spelled(&exchanges, &model);
    assert_eq!(json!(found), expected);
}

#[test]
fn neighbours_of_one_side_are_one() {
    check(
        "m",
        vec![user("a"), user("b"), said(Utterance::Text("c".into()), None)],
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
        vec![said(Utterance::Text("hello".into()), None)],
        json!([
            {"role": "user", "parts": [{"text": "Please go on."}]},
            {"role": "model", "parts": [{"text": "hello"}]},
        ]),
    );
}

#[test]
fn signatures_go_back_to_their_own_family_only() {
    let signed = |provider: &str, model: &str| {
        said(Utterance::Call(call("1", "a")), opaque(provider, model, json!({"thoughtSignature": "s"})))
    };
    #[track_caller]
    fn check_signature(model: &str, exchanges: Vec<Exchange>, expected: Option<&str>) {
        let exchanges: Vec<_> = exchanges.into_iter().map(Arc::new).collect();
        let model = Model::named(model);
        let found = spelled(&exchanges, &model);
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
    let found = spelled(&exchanges, &model);
    assert_eq!(found[1]["parts"][0]["thoughtSignature"], NO_SIGNATURE);
    assert_eq!(found[1]["parts"][1].get("thoughtSignature"), None);
}

#[test]
fn thoughts_stay_here_and_hidden_parts_go_back() {
    let part = json!({"text": "", "thoughtSignature": "s"});
    let answer = |model: &str| {
        Exchange::Model(vec![
            Said { what: Utterance::Thought("hm".into()), opaque: None },
            Said { what: Utterance::Text("t".into()), opaque: None },
            Said { what: Utterance::Hidden, opaque: opaque("gemini", model, json!({"part": part})) },
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
        spelled(&exchanges, &model).pop().unwrap()["parts"].clone()
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
