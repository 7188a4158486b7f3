//! Histories, whole and broken, as OpenAI takes them.

use std::sync::Arc;

use attache_domain::{Base64, CallId, Exchange, ProviderData, ToolCall, ToolResult};

use super::*;

fn user(text: &str) -> Exchange {
    Exchange::User(vec![Content::Text(text.into())])
}

fn said(what: ModelPartContent) -> ModelPart {
    ModelPart { what, opaque: None }
}

fn call(id: &str) -> ModelPartContent {
    let input = json!({"p": 1}).as_object().cloned().unwrap_or_default();
    ModelPartContent::Call(ToolCall { id: CallId(id.into()), name: "look.at".into(), input })
}

fn opaque(provider: &str, model: &str, data: Value) -> Option<ProviderData> {
    Some(ProviderData { provider: provider.into(), model: model.into(), data })
}

fn result(id: &str, output: Vec<Content>) -> ToolResult {
    ToolResult { call: CallId(id.into()), name: "look.at".into(), output, failed: false }
}

fn bytes(media_type: &str, bytes: &str) -> Content {
    Content::Bytes { media_type: media_type.into(), bytes: Base64(bytes.into()), name: Some("x".into()) }
}

fn encoded(exchanges: Vec<Exchange>, return_reasoning: bool) -> Value {
    let exchanges = Arc::new(exchanges.into_iter().map(Arc::new).collect());
    let names = ToolNames::default();
    let reader = TargetModel { route: "openai", model: "m", return_reasoning, names: &names };
    json!(messages(&Prompt { exchanges, ..Prompt::default() }, false, reader))
}

#[track_caller]
fn check(exchanges: Vec<Exchange>, expected: Value) {
    assert_eq!(encoded(exchanges, false), expected);
}

#[test]
fn neighbours_of_the_user_are_one_and_plain_text_is_plain() {
    let answer = Exchange::Model(vec![said(ModelPartContent::Text("c".into()))]);
    check(
        vec![user("a"), user("b"), answer],
        json!([{"role": "user", "content": "a\nb"}, {"role": "assistant", "content": "c"}]),
    );
    check(vec![user(" ")], json!(null));
    check(
        vec![Exchange::Model(vec![said(ModelPartContent::Text("c".into()))])],
        json!([{"role": "user", "content": GO_ON}, {"role": "assistant", "content": "c"}]),
    );
}

#[test]
fn pictures_in_results_follow_as_if_the_user_showed_them() {
    let answer = Exchange::Model(["a", "b", "c", "d"].map(|id| said(call(id))).into());
    let results = Exchange::Results(vec![
        result("a", vec![Content::Text("seen".into()), bytes("image/png", "AAAA")]),
        result("b", vec![]),
        ToolResult { failed: true, ..result("d", vec![]) },
    ]);
    let encoded_call = |id: &str| {
        json!({"id": id, "type": "function",
        "function": {"name": "look_at", "arguments": "{\"p\":1}"}})
    };
    let encoded_calls = ["a", "b", "c", "d"].map(encoded_call);
    check(
        vec![user("q"), answer, results, user("and?")],
        json!([
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": null,
                "tool_calls": encoded_calls},
            {"role": "tool", "tool_call_id": "a", "content": "seen"},
            {"role": "tool", "tool_call_id": "b", "content": "The call has no output."},
            {"role": "tool", "tool_call_id": "c", "content": NO_RESULT},
            {"role": "tool", "tool_call_id": "d", "content": "The call failed and does not say why."},
            {"role": "user", "content": [
                {"type": "text", "text": "The output of look.at (a):"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
                {"type": "text", "text": "and?"},
            ]},
        ]),
    );
}

#[test]
fn documents_are_files_and_what_cannot_be_shown_is_told_of() {
    let content = vec![
        bytes("application/pdf", "AAAA"),
        bytes("text/plain", "aGk="),
        bytes("application/zip", "AAAA"),
        Content::Link { media_type: None, url: "https://example.com".into() },
    ];
    check(
        vec![Exchange::User(content)],
        json!([{"role": "user", "content": [
            {"type": "file", "file": {"filename": "x", "file_data": "data:application/pdf;base64,AAAA"}},
            {"type": "text", "text": "The file x:\nhi"},
            {"type": "text", "text": "The file x of type application/zip is not shown: it cannot be read here."},
            {"type": "text", "text": "https://example.com"},
        ]}]),
    );
}

#[test]
fn only_what_this_very_model_gave_goes_back_to_it() {
    let extra = json!({"extra_content": {"google": {"thought_signature": "s"}}});
    let answered = |provider: &str, model: &str| {
        let thought = ModelPart {
            what: ModelPartContent::Thought("hm".into()),
            opaque: opaque(provider, model, json!({"field": "reasoning_content"})),
        };
        let called = ModelPart { what: call("a"), opaque: opaque(provider, model, extra.clone()) };
        let hidden = ModelPart {
            what: ModelPartContent::Hidden,
            opaque: opaque(provider, model, json!({"part": {}})),
        };
        vec![user("q"), Exchange::Model(vec![thought, called, hidden])]
    };
    let own = encoded(answered("openai", "m"), true)[1].clone();
    assert_eq!(own["reasoning_content"], "hm");
    assert_eq!(own["tool_calls"][0]["extra_content"], extra["extra_content"]);
    assert_eq!(encoded(answered("openai", "m"), false)[1].get("reasoning_content"), None);
    // Servers that need them need them of every turn.
    let earlier = [answered("openai", "m"), vec![user("n")]].concat();
    assert_eq!(encoded(earlier, true)[1]["reasoning_content"], "hm");
    for (provider, model) in [("openai", "n"), ("openai@https://x", "m"), ("gemini", "m"), ("anthropic", "m")]
    {
        let other = encoded(answered(provider, model), true)[1].clone();
        assert_eq!(
            (&other["reasoning_content"], other["tool_calls"][0].get("extra_content")),
            (&json!(""), None)
        );
    }
}
