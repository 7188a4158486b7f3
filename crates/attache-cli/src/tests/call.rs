//! `attache call` against scripted agents.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use attache_testkit::model_server::{ModelServer, PlannedResponse};
use serde_json::{Value, json};

use super::world::{Ended, World};

/// `attache call` with these arguments.
pub(super) fn call(arguments: &[&str]) -> Ended {
    World::new().run(&[&["call"], arguments].concat())
}

#[track_caller]
fn check(ended: &Ended, code: u8, out: &str, err: &[&str]) {
    assert_eq!((ended.code, ended.out.as_str()), (code, out), "{}", ended.err);
    for words in err {
        assert!(ended.err.contains(words), "{words:?} in {}", ended.err);
    }
}

fn json_body(value: &Value) -> PlannedResponse {
    PlannedResponse::text(200, "application/json", &value.to_string())
}

/// A card with one interface.
fn card(url: &str, streaming: bool) -> PlannedResponse {
    let interface = json!({"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"});
    json_body(&json!({
        "name": "agent", "supportedInterfaces": [interface], "capabilities": {"streaming": streaming},
    }))
}

fn result(result: &Value) -> PlannedResponse {
    json_body(&json!({"jsonrpc": "2.0", "id": 1, "result": result}))
}

fn task(state: &str, more: &Value) -> Value {
    let mut task = json!({"id": "t-1", "contextId": "c-1", "status": {"state": state}});
    task.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({ "task": task })
}

#[test]
fn what_an_agent_sends_does_not_steer_the_terminal() {
    let hostile = json!({"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [
        {"text": "\u{1b}[2Jgone\u{7}"}, {"data": {"\u{1b}]0;x\u{7}": 1}},
    ]}});
    let agent = ModelServer::with_responses([card("/", false), result(&hostile)]);
    let ended = call(&[&agent.url(), "hi"]);
    assert_eq!(ended.code, 0, "{}", ended.err);
    let said = format!("{}{}", ended.out, ended.err);
    assert!(!said.contains('\u{1b}') && !said.contains('\u{7}') && said.contains(r"\u{1b}[2Jgone"), "{said}");
    let refusal = json_body(&json!({"error": {"code": -32603, "message": "\u{1b}[31mno"}}));
    let agent = ModelServer::with_responses([card("/", false), refusal]);
    check(
        &call(&[&agent.url(), "hi"]),
        1,
        "",
        &[r"the agent refused the request (error -32603): \u{1b}[31mno"],
    );
}

#[test]
fn the_exit_code_tells_how_the_task_ended() {
    for (state, code) in [
        ("TASK_STATE_COMPLETED", 0),
        ("TASK_STATE_FAILED", 3),
        ("TASK_STATE_REJECTED", 4),
        ("TASK_STATE_CANCELED", 5),
        ("TASK_STATE_INPUT_REQUIRED", 6),
        ("TASK_STATE_AUTH_REQUIRED", 7),
    ] {
        let artifacts = json!({"artifacts": [{"artifactId": "a", "parts": [{"text": "so far"}]}]});
        let agent = ModelServer::with_responses([card("/", false), result(&task(state, &artifacts))]);
        check(&call(&[&agent.url(), "hi"]), code, "so far\n", &[]);
    }
}

#[test]
fn questions_are_answered_from_the_command_line() {
    let asked = json!({"status": {"state": "TASK_STATE_INPUT_REQUIRED", "message": {
        "messageId": "q", "role": "ROLE_AGENT", "parts": [{"text": "Which one?"}],
    }}});
    let done = json!({"artifacts": [{"artifactId": "a", "parts": [{"text": "done"}]}]});
    let agent = ModelServer::with_responses([
        card("/", false),
        result(&task("", &asked)),
        // The question as it is before the answer, by which the response is understood.
        result(&task("", &asked)["task"]),
        result(&task("TASK_STATE_COMPLETED", &done)),
    ]);
    let ended = call(&[&agent.url(), "hi", "--answer", "the first"]);
    check(&ended, 0, "done\n", &["[input-required]", "Which one?"]);
    let received = agent.received();
    let message = &received[3].json()["params"]["message"];
    assert_eq!((&message["taskId"], &message["contextId"]), (&json!("t-1"), &json!("c-1")));
    assert_eq!(message["parts"], json!([{"text": "the first"}]));
}

#[test]
fn a_result_that_only_the_task_holds_is_fetched() {
    let kept = json!({"artifacts": [{"artifactId": "a", "parts": [{"text": "kept"}]}]});
    let fetched = task("TASK_STATE_COMPLETED", &kept)["task"].clone();
    let bare = task("TASK_STATE_COMPLETED", &json!({}));
    let agent = ModelServer::with_responses([card("/", false), result(&bare), result(&fetched)]);
    check(&call(&[&agent.url(), "hi"]), 0, "kept\n", &[]);
}

#[test]
fn another_origin_in_the_card_is_told_with_the_flag_that_allows_it() {
    let agent = ModelServer::with_responses([card("https://evil.example/rpc", true)]);
    let ended = call(&[&agent.url(), "hi"]);
    check(
        &ended,
        1,
        "",
        &["names https://evil.example, but comes from", "hint: ", "--allow-origin https://evil.example"],
    );
    check(&call(&["http://127.0.0.1:9", "hi"]), 1, "", &["is the agent running?"]);
    check(&call(&["no.where", "hi"]), 1, "", &["not a URL"]);
    check(&call(&["http://127.0.0.1:9"]), 2, "", &["there is no message"]);
    check(&call(&["http://127.0.0.1:9", "hi", "--binding", "soap"]), 2, "", &["jsonrpc, http, grpc"]);
}

/// An agent whose subscriptions are refused, and whose task is as `polled` says at each fetch.
fn without_subscriptions(polled: impl Fn(usize) -> Value + Send + Sync + 'static) -> ModelServer {
    let fetched = AtomicUsize::new(0);
    ModelServer::with_handler(move |request| {
        if request.target.contains("well-known") {
            return card("/", true);
        }
        match request.json()["method"].as_str().unwrap() {
            "GetTask" => result(&polled(fetched.fetch_add(1, Ordering::Relaxed))["task"]),
            "SendStreamingMessage" => {
                let submitted =
                    json!({"jsonrpc": "2.0", "id": 1, "result": task("TASK_STATE_SUBMITTED", &json!({}))});
                PlannedResponse::stream().bytes(format!("data: {submitted}\n\n"))
            }
            _ => json_body(&json!({"error": {"code": -32601, "message": "no subscriptions"}})),
        }
    })
}

#[test]
fn a_task_that_cannot_be_subscribed_to_is_followed_by_fetching_it() {
    let agent = without_subscriptions(|number| {
        let text = ["one", "one", "one two", "one two three"][number.min(3)];
        let state = if number < 3 { "TASK_STATE_WORKING" } else { "TASK_STATE_COMPLETED" };
        task(state, &json!({"artifacts": [{"artifactId": "a", "parts": [{"text": text}]}]}))
    });
    check(&call(&[&agent.url(), "--task", "t-1", "--follow"]), 0, "one two three\n", &[]);
}

#[test]
fn an_agent_that_ends_its_stream_too_early_is_named_as_the_reason_for_the_silence() {
    let begun = Instant::now();
    let agent = without_subscriptions(move |_| {
        let is_over = begun.elapsed() > Duration::from_secs(7);
        task(if is_over { "TASK_STATE_FAILED" } else { "TASK_STATE_SUBMITTED" }, &json!({}))
    });
    let ended = call(&[&agent.url(), "hi"]);
    check(&ended, 3, "", &["the agent's stream has ended, and its task is still submitted", "[failed]"]);
}

#[test]
fn a_question_of_another_task_is_not_answered_and_ids_mean_nothing_to_a_shell() {
    let asked = |id: &str| {
        let message = json!({"messageId": "q", "role": "ROLE_AGENT", "parts": [{"text": "Which one?"}]});
        json!({"task": {"id": id, "contextId": "c-1",
            "status": {"state": "TASK_STATE_INPUT_REQUIRED", "message": message}}})
    };
    let agent = ModelServer::with_responses([card("/", false), result(&asked("t; touch x"))]);
    let ended = call(&[&agent.url(), "hi"]);
    check(&ended, 6, "", &["--task 't; touch x' 'YOUR ANSWER'"]);
    let responses = [&asked("t-1"), &asked("t-1")["task"], &asked("VICTIM")].map(result);
    let agent = ModelServer::with_responses([vec![card("/", false)], responses.to_vec()].concat());
    let ended = call(&[&agent.url(), "hi", "--answer", "one", "--answer", "two"]);
    check(&ended, 1, "", &["answered about the task VICTIM, and the request was about t-1"]);
    assert_eq!(agent.received().len(), 4, "nothing goes to the other task");
}

#[test]
fn a_followed_task_that_asks_says_how_to_answer_and_is_followed_on() {
    let asked = json!({"status": {"state": "TASK_STATE_INPUT_REQUIRED", "message": {
        "messageId": "q", "role": "ROLE_AGENT", "parts": [{"text": "Which one?"}],
    }}});
    let agent = without_subscriptions(move |number| match number {
        0 | 1 => task("", &asked),
        _ => task("TASK_STATE_FAILED", &json!({})),
    });
    let ended = call(&[&agent.url(), "--task", "t-1", "--follow"]);
    let how = format!("answer with: attache call {} --task t-1 'YOUR ANSWER'", agent.url());
    check(&ended, 3, "", &["Which one?", "the task waits for an answer", &how, "[failed]"]);
    assert_eq!(ended.err.matches(&how).count(), 1, "{}", ended.err);
}

#[test]
fn a_call_says_which_interface_it_used_instead_of_one_that_is_not_there() {
    let interfaces = [("JSONRPC", "/rpc"), ("HTTP+JSON", "/rest")]
        .map(|(binding, url)| json!({"url": url, "protocolBinding": binding, "protocolVersion": "1.0"}));
    let card = json_body(&json!({"name": "agent", "supportedInterfaces": interfaces}));
    let absent = || PlannedResponse::text(404, "text/plain", "no\u{1b}such page");
    let message = json!({"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "hello"}]}});
    let agent = ModelServer::with_responses([card.clone(), absent(), json_body(&message)]);
    let ended = call(&[&agent.url(), "hi"]);
    let used = format!("so HTTP+JSON 1.0 at {}/rest is used", agent.url());
    check(&ended, 0, "hello\n", &["note: JSONRPC 1.0 at", "status 404", &used]);
    assert!(!ended.err.contains('\u{1b}'), "{}", ended.err);
    let agent = ModelServer::with_responses([card, absent()]);
    let ended = call(&[&agent.url(), "hi", "--binding", "jsonrpc"]);
    check(&ended, 1, "", &["/rpc: the server answered with the HTTP status 404"]);
    assert!(!ended.err.contains("note: "), "{}", ended.err);
}
