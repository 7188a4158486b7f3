//! Clients of Gemini CLI's server that do not say so where its own protocol expects it: settings beside the message, or no
//! settings at all.

use attache_testkit::editor::URI;
use attache_testkit::model_server::gemini::{calls, says};
use attache_testkit::model_server::{ModelServer, gemini};
use attache_testkit::{SseStream, TestClient};
use attache_wire::devtool;
use serde_json::{Value, json};

use attache_testkit::pairs::{Ask, Pair};

use super::world::require_extension;
use crate::agent_world::{AgentServer, launch_with};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Dialect {
    Plain,
    Developer,
    Gemini,
}

/// The dialect in which a stream tells the answer; never several.
async fn dialect_of(stream: &mut SseStream) -> Dialect {
    let frames = stream.rest().await;
    let count = |sign: &str| frames.iter().filter(|frame| frame.raw.contains(sign)).count();
    match (
        count("\"coderAgent\":{\"kind\":\"text-content\""),
        count("\"kind\":\"TEXT_CONTENT\""),
        count("answer-"),
    ) {
        (1.., 0, 0) => Dialect::Gemini,
        (0, 1.., 0) => Dialect::Developer,
        (0, 0, 1..) => Dialect::Plain,
        _ => panic!("several dialects, or none: {frames:#?}"),
    }
}

async fn spoken(pair: Pair, client: &TestClient, params: Value) -> Dialect {
    dialect_of(&mut pair.stream(client, &Ask::Stream(params)).await).await
}

/// A server that is greeted back, where clients of 0.3 without a sign get this dialect.
async fn greeting(default: devtool::Dialect) -> (ModelServer, AgentServer) {
    let model = ModelServer::with_handler(|_| says("Hello."));
    let server = launch_with(&model).options(move |options| options.default_dialect = default).start().await;
    (model, server)
}

const GEMINI: devtool::Dialect = devtool::Dialect::Gemini;

fn settings() -> Value {
    json!({"coderAgent": {"kind": "agent-settings"}})
}

#[tokio::test]
async fn the_operator_says_what_clients_of_0_3_without_a_sign_speak() {
    for (default, expected) in [
        (GEMINI, Dialect::Gemini),
        (devtool::Dialect::Developer, Dialect::Developer),
        (devtool::Dialect::Plain, Dialect::Plain),
    ] {
        let (_model, server) = greeting(default).await;
        for pair in Pair::ALL {
            // Clients of 1.0 say what they know.
            let expected = if pair.is_v1_0() { Dialect::Plain } else { expected };
            let params = pair.text(&format!("m-{pair:?}"), "Hi!");
            let spoken = spoken(pair, &server.client(), params).await;
            assert_eq!(spoken, expected, "{pair:?} {default:?}");
        }
    }
}

#[tokio::test]
async fn settings_beside_the_message_are_a_sign_on_every_binding() {
    let (_model, server) = greeting(devtool::Dialect::Plain).await;
    for pair in Pair::ALL {
        let mut params = pair.text(&format!("gemini-{pair:?}"), "Hi!");
        params["metadata"] = settings();
        assert_eq!(spoken(pair, &server.client(), params).await, Dialect::Gemini, "{pair:?}");
        let mut params = pair.text(&format!("developer-{pair:?}"), "Hi!");
        params["metadata"] = json!({ URI: {} });
        assert_eq!(spoken(pair, &server.client(), params).await, Dialect::Developer, "{pair:?}");
        // What the message itself says counts before what is beside it.
        let mut params = pair.text(&format!("both-{pair:?}"), "Hi!");
        params["metadata"] = settings();
        params["message"]["extensions"] = json!([URI]);
        assert_eq!(spoken(pair, &server.client(), params).await, Dialect::Developer, "{pair:?}");
        let mut params = pair.text(&format!("other-{pair:?}"), "Hi!");
        params["metadata"] = json!({"editor": "any"});
        assert_eq!(spoken(pair, &server.client(), params).await, Dialect::Plain, "{pair:?}");
    }
}

/// As the extensions `pi-gemini-cli-search` and `pi-gemini-cli-provider` do: `message/stream` with a text and nothing else,
/// then a second message to the same task.
#[tokio::test]
async fn a_client_that_sends_no_settings_sees_the_events_it_waits_for() {
    let model = ModelServer::with_responses([
        calls("run_shell_command", json!({"command": "touch made"})),
        says("Made."),
        says("Again."),
    ]);
    let launch = launch_with(&model).options(|options| options.default_dialect = GEMINI);
    let server = launch.start().await;
    let client = server.client();
    let mut stream = Pair::Rpc03.stream(&client, &Ask::Stream(Pair::Rpc03.text("m1", "Make it!"))).await;
    let events = results(&mut stream).await;
    let task = events[0]["id"].as_str().expect("the task comes first").to_owned();
    let kinds = kinds(&events);
    assert_eq!(kinds, ["state-change", "tool-call-confirmation", "state-change"], "{events:#?}");
    let call = events[2]["status"]["message"]["parts"][0]["data"]["request"]["callId"].clone();
    let mut answer = Pair::Rpc03.text_to(&task, "m2", "");
    answer["message"]["parts"] =
        json!([{"kind": "data", "data": {"callId": call, "outcome": "proceed_once"}}]);
    let mut stream = Pair::Rpc03.stream(&client, &Ask::Stream(answer)).await;
    let events = results(&mut stream).await;
    let last = events.last().expect("events");
    assert_eq!((&last["status"]["state"], &last["final"]), (&json!("input-required"), &json!(true)));
    let text = events.iter().find(|event| event["metadata"]["coderAgent"]["kind"] == "text-content");
    let text = text.expect("the answer is told by events");
    assert_eq!(text["status"]["message"]["parts"][0]["text"], "Made.");
    let mut stream =
        Pair::Rpc03.stream(&client, &Ask::Stream(Pair::Rpc03.text_to(&task, "m3", "Once more!"))).await;
    assert_eq!(kinds_of(&mut stream).await, ["state-change", "text-content", "state-change"]);
}

#[tokio::test]
async fn events_name_the_answer_of_the_model_also_after_a_crash() {
    let chunk = || gemini::chunk().response_id("r-1");
    let command = json!({"command": "touch made"});
    let model = ModelServer::with_responses([
        gemini::answer([
            chunk().thought("**Making** it"),
            chunk().text("I make it."),
            chunk().call("run_shell_command", command).finish("STOP").usage(100, 10),
        ]),
        gemini::answer([gemini::chunk().response_id("r-2").text("Made.").finish("STOP").usage(100, 10)]),
    ]);
    let launch = launch_with(&model).options(|options| options.default_dialect = GEMINI);
    let server = launch.start().await;
    let send = Ask::Stream(Pair::Rpc03.text("m1", "Make it!"));
    let events = results(&mut Pair::Rpc03.stream(&server.client(), &send).await).await;
    let traces = |events: &[Value]| {
        let traced = events.iter().filter_map(|event| {
            let trace = event["metadata"]["traceId"].as_str()?;
            Some(format!("{} {trace}", event["metadata"]["coderAgent"]["kind"].as_str()?))
        });
        traced.collect::<Vec<_>>()
    };
    assert_eq!(traces(&events), ["thought r-1", "text-content r-1"]);
    let task = events[0]["id"].as_str().expect("the task comes first").to_owned();
    let asked = |task: &Value| {
        let parts = task["status"]["message"]["parts"].as_array().expect("parts").clone();
        parts.into_iter().find(|part| part["kind"] == "data").expect("the call that waits")["data"].clone()
    };
    server.kill().await;
    let server = launch.start().await;
    let seen = Pair::Rpc03.result(&server.client(), &Ask::Get(task.clone())).await;
    let request = &asked(&seen)["request"];
    assert_eq!(request["traceId"], "r-1", "{seen:#}");
    let mut answer = Pair::Rpc03.text_to(&task, "m2", "");
    answer["message"]["parts"] =
        json!([{"kind": "data", "data": {"callId": request["callId"], "outcome": "proceed_once"}}]);
    let events = results(&mut Pair::Rpc03.stream(&server.client(), &Ask::Stream(answer)).await).await;
    assert_eq!(traces(&events), ["text-content r-2"]);
}

/// A client that names another extension, or that one in 1.0's header, knows what it wants.
#[tokio::test]
async fn a_sign_counts_before_what_the_operator_says() {
    let (_model, server) = greeting(GEMINI).await;
    let developer = server.client().with("X-A2A-Extensions", URI);
    let mut stream = Pair::Rpc03.stream(&developer, &Ask::Stream(Pair::Rpc03.text("m1", "Hi!"))).await;
    let events = results(&mut stream).await;
    let task = events[0]["id"].as_str().expect("the task comes first").to_owned();
    assert_eq!(events.last().expect("events")["status"]["state"], "completed");
    // Without a sign it is taken for the client that opened the task.
    let again = Ask::Stream(Pair::Rpc03.text_to(&task, "m2", "Hi!"));
    assert_eq!(dialect_of(&mut Pair::Rpc03.stream(&server.client(), &again).await).await, Dialect::Developer);
    let other = server.client().with("X-A2A-Extensions", "https://example.com/x");
    assert_eq!(spoken(Pair::Rpc03, &other, Pair::Rpc03.text("m3", "Hi!")).await, Dialect::Plain);
}

#[tokio::test]
async fn where_the_extension_is_required_the_operators_word_is_a_sign_too() {
    let model = ModelServer::with_handler(|_| says("Hello."));
    let server = launch_with(&model)
        .options(|options| {
            options.default_dialect = GEMINI;
            require_extension(options);
        })
        .start()
        .await;
    let params = Pair::Rpc03.text("m1", "Hi!");
    assert_eq!(spoken(Pair::Rpc03, &server.client(), params).await, Dialect::Gemini);
}

async fn results(stream: &mut SseStream) -> Vec<Value> {
    let frames = stream.rest().await;
    frames.iter().map(|frame| frame.payload().clone()).collect()
}

async fn kinds_of(stream: &mut SseStream) -> Vec<String> {
    kinds(&results(stream).await)
}

/// What the events are about, without the task at the beginning.
fn kinds(events: &[Value]) -> Vec<String> {
    let kinds = events.iter().filter_map(|event| event["metadata"]["coderAgent"]["kind"].as_str());
    kinds.map(str::to_owned).collect()
}
