//! Histories, whole and broken, as Anthropic takes them.

use attache_domain::{Base64, CallId, ProviderData, ToolCall, ToolResult};

use super::*;

fn user(text: &str) -> Exchange {
    Exchange::User(vec![Content::Text(text.into())])
}

fn said(what: ModelPartContent) -> ModelPart {
    ModelPart { what, opaque: None }
}

fn call(id: &str) -> ModelPartContent {
    let input = json!({"p": 1}).as_object().cloned().unwrap_or_default();
    ModelPartContent::Call(ToolCall { id: CallId(id.into()), name: "look".into(), input })
}

fn own(what: ModelPartContent, provider: &str, model: &str, data: Value) -> ModelPart {
    ModelPart { what, opaque: Some(ProviderData { provider: provider.into(), model: model.into(), data }) }
}

fn bytes(media_type: &str, name: Option<&str>) -> Content {
    let name = name.map(str::to_owned);
    Content::Bytes { media_type: media_type.into(), bytes: Base64("AAAA".into()), name }
}

fn read(exchanges: Vec<Exchange>) -> Option<Vec<Value>> {
    let exchanges: Vec<_> = exchanges.into_iter().map(Arc::new).collect();
    let names = ToolNames::default();
    messages(&exchanges, TargetModel { route: "anthropic", family: "claude-x", names: &names })
}

#[track_caller]
fn check(exchanges: Vec<Exchange>, expected: Value) {
    assert_eq!(json!(read(exchanges)), expected);
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

#[test]
fn neighbours_are_one_and_the_user_is_first_and_last() {
    check(vec![user("a"), user("b")], json!([{"role": "user", "content": [text("a"), text("b")]}]));
    check(vec![user(" \n")], json!(null));
    let answer = Exchange::Model(vec![said(ModelPartContent::Text("c".into()))]);
    check(
        vec![answer.clone(), answer],
        json!([
            {"role": "user", "content": [text(GO_ON)]},
            {"role": "assistant", "content": [text("c"), text("c")]},
            {"role": "user", "content": [text(GO_ON)]},
        ]),
    );
}

#[test]
fn results_come_first_and_together() {
    let answer = Exchange::Model(vec![said(call("a")), said(call("b")), said(call("c"))]);
    let result = |id: &str, output, failed| ToolResult {
        call: CallId(id.into()),
        name: "look".into(),
        output,
        failed,
    };
    let results = Exchange::Results(vec![
        result("a", vec![Content::Text("seen".into()), bytes("image/png", None)], false),
        result("b", vec![Content::Text("no".into()), bytes("application/pdf", Some("x.pdf"))], true),
    ]);
    let source = |media_type: &str| json!({"type": "base64", "media_type": media_type, "data": "AAAA"});
    let used = |id: &str| json!({"type": "tool_use", "id": id, "name": "look", "input": {"p": 1}});
    let image = json!({"type": "image", "source": source("image/png")});
    let document = json!({"type": "document", "source": source("application/pdf"), "title": "x.pdf"});
    check(
        vec![user("q"), answer, results, user("and?")],
        json!([
            {"role": "user", "content": [text("q")]},
            {"role": "assistant", "content": [used("a"), used("b"), used("c")]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": [text("seen"), image]},
                {"type": "tool_result", "tool_use_id": "b", "content": [text("no")], "is_error": true},
                {"type": "tool_result", "tool_use_id": "c", "content": [text(NO_RESULT)], "is_error": true},
                document,
                text("and?"),
            ]},
        ]),
    );
}

#[test]
fn an_error_says_something_and_an_empty_result_need_not() {
    let encoded = |output: Vec<Content>, failed| {
        let result = ToolResult { call: CallId("a".into()), name: "look".into(), output, failed };
        let answer = Exchange::Model(vec![said(call("a"))]);
        let exchanges = vec![user("q"), answer, Exchange::Results(vec![result])];
        read(exchanges).unwrap().swap_remove(2)["content"][0].take()
    };
    let silent = [text("The call failed and does not say why.")];
    assert_eq!(encoded(vec![], true)["content"], json!(silent));
    assert_eq!(encoded(vec![bytes("image/png", None)], true)["content"], json!(silent));
    assert_eq!(encoded(vec![], false).get("content"), None);
}

#[test]
fn thoughts_go_back_whole_to_their_own_family_and_to_no_other() {
    let answered = |provider: &str, model: &str| {
        let redacted = json!({"type": "redacted_thinking", "data": "d", "new": 1});
        vec![
            user("q"),
            Exchange::Model(vec![
                own(ModelPartContent::Thought("hm ".into()), provider, model, json!({"signature": "s"})),
                own(ModelPartContent::Hidden, provider, model, json!({"block": redacted})),
                said(ModelPartContent::Thought("unsigned".into())),
                said(call("a")),
            ]),
        ]
    };
    let whole = read(answered("anthropic", "claude-x-20260101")).unwrap();
    let used = json!({"type": "tool_use", "id": "a", "name": "look", "input": {"p": 1}});
    let thinking = json!({"type": "thinking", "thinking": "hm ", "signature": "s"});
    let redacted = json!({"type": "redacted_thinking", "data": "d", "new": 1});
    assert_eq!(whole[1]["content"], json!([thinking, redacted, used]));
    for (provider, model) in
        [("anthropic", "claude-y"), ("gemini", "claude-x"), ("anthropic@https://x", "claude-x")]
    {
        let other = read(answered(provider, model)).unwrap();
        assert_eq!(other[1]["content"], json!([used]), "{provider} {model}");
    }
}
