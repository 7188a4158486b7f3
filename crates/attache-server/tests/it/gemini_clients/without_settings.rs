//! `skdev-ai/pi-gemini-cli-search` and `pi-gemini-cli-provider`: messages without `kind` and without agent settings, on a
//! server that is started with `--compat gemini`.

use attache_testkit::TestClient;
use attache_testkit::gemini_stream::stream;
use attache_testkit::model_server::gemini::{calls, says};
use attache_testkit::model_server::{ModelServer, gemini};
use attache_wire::devtool::Dialect;
use serde_json::{Value, json};

use crate::agent_world::{AgentLaunch, AgentServer, launch_with};

async fn start(model: &ModelServer) -> (AgentLaunch, AgentServer, TestClient) {
    let launch = launch_with(model).options(|options| options.default_dialect = Dialect::Gemini);
    let server = launch.start().await;
    let client = server.client().with("accept", "text/event-stream");
    (launch, server, client)
}

/// A prompt as both send it: the id of the message is that of the request, and a model is requested in their own words.
fn prompt(id: &str, text: &str) -> Value {
    json!({"message": {
        "role": "user", "parts": [{"kind": "text", "text": text}], "messageId": id,
        "metadata": {"_model": "gemini-2.5-flash"},
    }})
}

/// An answer about a call. The task is named twice, where the protocol has it and beside the message.
fn answer(id: &str, task: &str, call: &str, outcome: &str) -> Value {
    let data = json!({"callId": call, "outcome": outcome});
    json!({"taskId": task, "message": {
        "role": "user", "parts": [{"kind": "data", "data": data}], "messageId": id, "taskId": task,
    }})
}

/// The web client of terminAI names the task beside the message only.
#[tokio::test]
async fn a_task_may_be_named_beside_the_message_only() {
    let model = ModelServer::with_responses([
        calls("run_shell_command", json!({"command": "touch made.txt"})),
        says("Made."),
    ]);
    let (launch, _server, client) = start(&model).await;
    let asked = stream(&client, prompt("request-1", "Make it.")).await;
    let [pending] = asked.pending()[..] else { panic!("one call is asked about: {:#?}", asked.events) };
    let mut params = answer("request-2", asked.task.as_deref().expect("a task"), &pending.id, "proceed_once");
    params["message"].as_object_mut().expect("a message").remove("taskId");
    let done = stream(&client, params).await;
    assert_eq!(done.text, "Made.");
    assert!(launch.folder().join("work/made.txt").exists());
}

#[tokio::test]
async fn a_search_hears_its_answer_in_pieces_and_sees_the_end() {
    let pieces = [gemini::chunk().text("Rust is "), gemini::chunk().text("a language.").finish("STOP")];
    let model = ModelServer::with_responses([gemini::answer(pieces)]);
    let (_launch, _server, client) = start(&model).await;
    let heard = stream(&client, prompt("msg-1", "Search the web for Rust.")).await;
    assert_eq!(heard.text, "Rust is a language.");
    assert_eq!((heard.state.as_str(), heard.ended), ("input-required", true));
}

#[tokio::test]
async fn a_provider_approves_a_call_and_goes_on_in_the_same_task() {
    let model = ModelServer::with_responses([
        calls("run_shell_command", json!({"command": "echo made > made.txt && cat made.txt"})),
        says("It is made."),
        says("Once more."),
    ]);
    let (launch, _server, client) = start(&model).await;
    let asked = stream(&client, prompt("request-1", "Make it.")).await;
    let task = asked.task.clone().expect("the first event is the task");
    let [pending] = asked.pending()[..] else { panic!("one call is asked about: {:#?}", asked.events) };
    assert_eq!((asked.state.as_str(), asked.ended), ("input-required", true));
    assert_eq!(asked.kinds.last().map(String::as_str), Some("state-change"));

    let done = stream(&client, answer("request-2", &task, &pending.id, "proceed_once")).await;
    assert_eq!(done.text, "It is made.");
    assert_eq!(done.statuses(&pending.id).last(), Some(&"success"), "{:#?}", done.events);
    let output = done.calls.iter().find_map(|call| call.output.as_deref()).expect("the output of the call");
    assert!(output.contains("made"), "{output}");
    assert!(launch.folder().join("work/made.txt").exists());

    let mut params = prompt("request-3", "Again.");
    params["message"]["taskId"] = json!(task);
    params["message"]["contextId"] = json!(asked.context);
    let again = stream(&client, params).await;
    assert_eq!(
        (again.text.as_str(), again.state.as_str(), again.ended),
        ("Once more.", "input-required", true)
    );
}

#[tokio::test]
async fn a_provider_cancels_a_call() {
    let model =
        ModelServer::with_responses([calls("run_shell_command", json!({"command": "touch made.txt"}))]);
    let (launch, _server, client) = start(&model).await;
    let asked = stream(&client, prompt("request-1", "Make it.")).await;
    let task = asked.task.clone().expect("the first event is the task");
    let call = asked.pending()[0].id.clone();
    let refused = stream(&client, answer("request-2", &task, &call, "cancel")).await;
    assert_eq!(refused.statuses(&call).last(), Some(&"cancelled"), "{:#?}", refused.events);
    assert_eq!((refused.state.as_str(), refused.ended), ("input-required", true));
    assert!(!launch.folder().join("work/made.txt").exists());
}
