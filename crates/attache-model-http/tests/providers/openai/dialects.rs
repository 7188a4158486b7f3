//! What OpenAI-compatible servers do differently.

use attache_domain::ModelPartContent;
use attache_model::{AnswerEvent, LanguageModel, StopReason};
use attache_model_http::ModelOptions;
use attache_testkit::model_server::openai::{self, bare, chunk};
use attache_testkit::model_server::{ModelServer, PlannedResponse};
use futures_util::StreamExt;
use serde_json::{Value, json};

use super::world::{World, answered, hello, options, prompt, user};

#[track_caller]
fn text_and_calls(told: &super::world::PromptResult) -> (String, Vec<Value>) {
    let calls = told.said().iter().filter_map(|said| match &said.what {
        ModelPartContent::Call(call) => Some(Value::Object(call.input.clone())),
        _ => None,
    });
    (told.text(), calls.collect())
}

async fn check(answer: PlannedResponse, text: &str, calls: &[Value]) {
    let told = World::new([answer]).ask(hello()).await;
    assert_eq!(text_and_calls(&told), (text.to_owned(), calls.to_vec()), "{told:?}");
    assert_eq!(told.stop(), &StopReason::Done);
}

#[tokio::test(start_paused = true)]
async fn whole_calls_without_number_or_id() {
    let piece =
        |folder: &str| json!({"function": {"name": "list", "arguments": format!("{{\"f\":\"{folder}\"}}")}});
    let answer = openai::answer([
        chunk().call_piece(piece("a")),
        chunk().call_piece(piece("b")),
        chunk().finish("stop"),
    ]);
    let world = World::new([answer, openai::answer([chunk().text("Done.").finish("stop")])]);
    let told = world.ask(hello()).await;
    assert_eq!(text_and_calls(&told).1, [json!({"f": "a"}), json!({"f": "b"})]);
    world.ask(prompt([vec![user("Hello")], answered(told.said())].concat())).await;
    let messages = world.server.received()[1].json()["messages"].clone();
    let (first, second) = (&messages[1]["tool_calls"][0]["id"], &messages[1]["tool_calls"][1]["id"]);
    assert!(first.is_string() && first != second);
    assert_eq!((&messages[2]["tool_call_id"], &messages[3]["tool_call_id"]), (first, second));
}

#[tokio::test(start_paused = true)]
async fn ends_that_say_less() {
    // A reason and no last word; a last word and no reason; neither null nor a role.
    check(openai::unended([chunk().text("Done."), chunk().finish("stop")]), "Done.", &[]).await;
    check(openai::answer([chunk().text("Done.")]), "Done.", &[]).await;
    check(openai::answer([chunk().call(0, "c", "a", "{}")]), "", &[json!({})]).await;
    check(openai::answer([chunk().text("Done.").finish("")]), "Done.", &[]).await;
    let bare_choice = |delta: Value| bare(json!({"choices": [{"delta": delta}]}));
    check(openai::answer([bare_choice(json!({"content": "Done."}))]), "Done.", &[]).await;
    let reason = bare(json!({"choices": [{"finish_reason": "eos"}]}));
    check(openai::unended([chunk().text("Done."), reason]), "Done.", &[]).await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_not_streamed() {
    let whole = json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
        "role": "assistant", "content": "I look.",
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "a", "arguments": "{\"p\":1}"}}],
    }}], "usage": {"prompt_tokens": 1, "completion_tokens": 2}});
    check(PlannedResponse::text(200, "application/json", &whole.to_string()), "I look.", &[json!({"p": 1})])
        .await;
}

#[tokio::test(start_paused = true)]
async fn odd_framing_and_content_in_parts() {
    let parts = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]);
    check(openai::answer([chunk().delta("content", parts), chunk().finish("stop")]), "ab", &[]).await;
    let body = ": hello\n\ndata:{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\r\n\r\ndata: {broken\n\n\
        event: x\ndata: {\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}";
    check(PlannedResponse::stream().bytes(body).bytewise(), "ab", &[]).await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_keeps_the_connection_open_after_its_last_word_is_left_at_once() {
    let world = World::new([openai::answer([chunk().text("Done.").finish("stop")]).hold()]);
    let told: Vec<_> = world.model.stream(hello()).collect().await;
    assert!(matches!(told.last(), Some(Ok(AnswerEvent::End { stop: StopReason::Done, .. }))), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_server_of_ones_own_needs_no_key() {
    let server = ModelServer::with_responses([openai::answer([chunk().text("Yes.").finish("stop")])]);
    let options = ModelOptions { key: None, ..options(&server, "qwen3") };
    let world = World::with(server, options);
    assert_eq!(world.ask(hello()).await.text(), "Yes.");
    let received = &world.server.received()[0];
    assert_eq!((received.target.as_str(), received.header("authorization")), ("/v1/chat/completions", None));
}

#[tokio::test(start_paused = true)]
async fn details_of_reasoning_go_back_as_they_came() {
    let detail =
        |index: u64| json!({"type": "reasoning.encrypted", "data": format!("d{index}"), "index": index});
    let world = World::new([
        openai::answer([
            chunk().reasoning("Hm.").delta("reasoning_details", json!([detail(0)])),
            chunk().delta("reasoning_details", json!([detail(1)])),
            chunk().call(0, "c", "a", "{}").finish("tool_calls"),
        ]),
        openai::answer([chunk().text("Done.").finish("stop")]),
    ]);
    let told = world.ask(hello()).await;
    world.ask(prompt([vec![user("Hello")], answered(told.said())].concat())).await;
    let answer = world.server.received()[1].json()["messages"][1].clone();
    assert_eq!(answer["reasoning_details"], json!([detail(0), detail(1)]));
    assert_eq!(answer.get("reasoning"), None);
}
