//! Answers on the live endpoint while several sessions have calls of the same id: the script model numbers its calls.

use attache_testkit::pairs::{Ask, Pair};
use attache_wire::devtool::URI;
use serde_json::{Value, json};

use crate::asking_agent::Notes;
use crate::live_socket::{Socket, activity, connect, live, next, prompt, send};
use crate::world::TestServer;

const SCRIPT: &str =
    "rules: [{text: '^note (.+)$', steps: [{call: {tool: note, input: {text: '{{1}}'}}}, {say: done}]}]";

async fn start(notes: &Notes) -> TestServer {
    live().script(SCRIPT).asking(notes).start().await
}

fn answer(call: &str, option: &str) -> Value {
    let data = json!({"kind": "TOOL_CALL_CONFIRMATION", "tool_call_id": call, "selected_option_id": option});
    json!({"jsonrpc": "2.0", "id": "answer", "method": "message/stream", "params": {"message": {"content": {"data": data}}}})
}

fn to_task(mut request: Value, task: &str) -> Value {
    request["params"]["taskId"] = json!(task);
    request
}

async fn request(socket: &mut Socket, request: &Value) -> Value {
    send(socket, request).await;
    loop {
        let frame = next(socket).await;
        if frame["id"] == request["id"] {
            return frame;
        }
    }
}

/// A session that asks whether it may note `text`: its task, its socket, and the id of the call as it is shown.
async fn asking(server: &TestServer, text: &str) -> (String, Socket, String) {
    let created = server.client().post("/tasks", &json!({})).await.json();
    let task = created["taskId"].as_str().unwrap().to_owned();
    let mut socket = connect(server, &format!("/ws?taskId={task}")).await;
    send(&mut socket, &prompt(&format!("note {text}"))).await;
    let mut call = None;
    loop {
        let event = next(&mut socket).await;
        if event.get("confirmation_request").is_some() {
            call = Some(event["tool_call_id"].as_str().unwrap().to_owned());
        }
        if event["state"] == "input-required" {
            return (task, socket, call.unwrap());
        }
    }
}

#[track_caller]
fn check_refused(response: &Value, why: &str) {
    let message = response["error"]["message"].as_str().unwrap_or_else(|| panic!("{response:#}"));
    assert!(message.contains(why), "{message}");
}

#[tokio::test]
async fn an_answer_reaches_the_call_of_its_own_session_only() {
    // Which of two sessions is answered before the late answers come.
    for answered in [&[][..], &[0], &[1], &[0, 1], &[1, 0]] {
        let notes = Notes::default();
        let server = start(&notes).await;
        let (first, first_socket, one) = asking(&server, "one").await;
        let (second, second_socket, two) = asking(&server, "two").await;
        assert_ne!(one, two);
        let mut sessions = [(first, first_socket, one), (second, second_socket, two)];
        let mut other = connect(&server, "/ws").await;
        for index in answered {
            let (_, socket, call) = &mut sessions[*index];
            let given = request(&mut other, &answer(call, "cancel")).await;
            assert!(given["result"].is_object(), "{answered:?}: {given:#}");
            activity(socket).await;
        }
        // The id alone fits a call of both sessions.
        check_refused(&request(&mut other, &answer("call-1-0", "proceed_once")).await, "names no task");
        for (index, (task, _, call)) in sessions.iter().enumerate() {
            if answered.contains(&index) {
                let late = request(&mut other, &answer(call, "proceed_once")).await;
                check_refused(&late, &format!("the call {call:?} was answered already"));
                let late = request(&mut other, &to_task(answer("call-1-0", "proceed_once"), task)).await;
                check_refused(&late, "was answered already");
            }
        }
        assert_eq!(*notes.lock().unwrap(), [""; 0], "{answered:?}");
        let mut expected = Vec::new();
        for (index, text) in [(0, "one"), (1, "two")] {
            let (_, socket, call) = &mut sessions[index];
            if !answered.contains(&index) {
                request(&mut other, &answer(call, "proceed_once")).await;
                activity(socket).await;
                expected.push(text);
                assert_eq!(*notes.lock().unwrap(), expected, "{answered:?}");
            }
        }
    }
}

#[tokio::test]
async fn errors_name_calls_as_the_events_do() {
    let notes = Notes::default();
    let server = start(&notes).await;
    let (task, mut socket, call) = asking(&server, "one").await;
    check_refused(&request(&mut socket, &answer("nonesuch", "cancel")).await, &format!("open are: {call}"));
    let unknown = format!("{task}.nonesuch");
    check_refused(&request(&mut socket, &answer(&unknown, "cancel")).await, &format!("open are: {call}"));
    let no_choice = format!("is no answer to the call {call:?}");
    check_refused(&request(&mut socket, &answer("call-1-0", "proceed_twice")).await, &no_choice);
    let path = format!("/tasks/{task}/messages/stream");
    let over_http = server.client().post(&path, &answer("call-1-0", "proceed_twice")).await.json();
    check_refused(&over_http, &no_choice);
    // What is named so can be answered.
    request(&mut socket, &answer(&call, "proceed_once")).await;
    activity(&mut socket).await;
    assert_eq!(*notes.lock().unwrap(), ["one"]);
    let without_question = request(&mut socket, &answer("uuid-correlation-id", "proceed_once")).await;
    check_refused(&without_question, "uuid-correlation-id");
    send(&mut socket, &prompt("note two")).await;
    while next(&mut socket).await.get("confirmation_request").is_none() {}
}

#[tokio::test]
async fn the_id_of_the_call_alone_answers_where_the_task_is_known() {
    let notes = Notes::default();
    let server = start(&notes).await;
    let (_, mut narrow, _) = asking(&server, "one").await;
    let (task, mut second, _) = asking(&server, "two").await;
    request(&mut narrow, &answer("call-1-0", "proceed_once")).await;
    activity(&mut narrow).await;
    let mut wide = connect(&server, "/ws").await;
    request(&mut wide, &to_task(answer("call-1-0", "proceed_once"), &task)).await;
    activity(&mut second).await;
    assert_eq!(*notes.lock().unwrap(), ["one", "two"]);
}

#[tokio::test]
async fn a_socket_of_one_session_cannot_answer_for_another() {
    let notes = Notes::default();
    let server = start(&notes).await;
    let (_, mut one, _) = asking(&server, "one").await;
    let (second, _, two) = asking(&server, "two").await;
    check_refused(&request(&mut one, &answer(&two, "proceed_once")).await, "call-1-0");
    check_refused(&request(&mut one, &to_task(answer(&two, "proceed_once"), &second)).await, "taskId");
    assert_eq!(*notes.lock().unwrap(), [""; 0]);
}

#[tokio::test]
async fn the_shown_id_answers_on_every_route_with_the_task() {
    let notes = Notes::default();
    let server = start(&notes).await;
    let client = server.client();
    for (number, route) in ["live", "rest", "a2a", "words"].into_iter().enumerate() {
        let (task, mut socket, call) = asking(&server, route).await;
        match route {
            "live" => {
                let path = format!("/tasks/{task}/messages/stream");
                client.post_stream(&path, &answer(&call, "proceed_once")).await.rest().await;
            }
            "rest" => {
                let body = json!({"toolCallId": call, "optionId": "proceed_once"});
                let response = client.post(&format!("/tasks/{task}/confirmations"), &body).await;
                assert_eq!(response.status, 200, "{}", response.text());
            }
            _ => {
                let part = match route {
                    "a2a" => json!({"kind": "data", "data": {"callId": call, "outcome": "proceed_once"}}),
                    _ => json!({"kind": "text", "text": format!("{call}: yes")}),
                };
                let message = json!({"messageId": route, "role": "user", "taskId": task, "parts": [part]});
                let response = client.rpc("message/send", json!({ "message": message })).await;
                assert!(response.get("result").is_some(), "{response:#}");
            }
        }
        activity(&mut socket).await;
        assert_eq!(notes.lock().unwrap().len(), number + 1, "{route}");
    }
}

#[tokio::test]
async fn data_that_is_no_answer_is_refused_and_runs_no_turn() {
    let notes = Notes::default();
    let server = start(&notes).await;
    let (task, mut socket, call) = asking(&server, "one").await;
    request(&mut socket, &answer(&call, "cancel")).await;
    activity(&mut socket).await;
    for (data, field) in [
        (json!({"x": 1}), "tool_call_id"),
        (json!({}), "tool_call_id"),
        (json!({"tool_call_id": call}), "selected_option_id"),
        (json!({"call": call, "choice": "proceed_once"}), "tool_call_id"),
        (json!({"kind": "OTHER", "tool_call_id": call, "selected_option_id": "cancel"}), "kind"),
        (json!({"kind": null, "tool_call_id": call, "selected_option_id": "cancel"}), "kind"),
    ] {
        let mut request_of = answer("", "");
        request_of["params"]["message"]["content"]["data"] = data;
        check_refused(&request(&mut socket, &request_of).await, field);
        let path = format!("/tasks/{task}/messages/stream");
        assert_eq!(server.client().post(&path, &request_of).await.status, 400);
    }
    send(&mut socket, &prompt("note two")).await;
    let event = next(&mut socket).await;
    assert_eq!((&event["kind"], &event["content"]["text"]), (&json!("USER_PROMPT"), &json!("note two")));
}

#[tokio::test]
async fn clients_of_the_rfc_see_who_prompts_and_who_answers() {
    let notes = Notes::default();
    let server = start(&notes).await;
    let client = server.client();
    let rfc = client.with("x-a2a-extensions", URI);
    let created = client.post("/tasks", &json!({})).await.json();
    let task = created["taskId"].as_str().unwrap();
    let mut stream = Pair::Rpc03.stream(&rfc, &Ask::Subscribe(task.to_owned())).await;
    stream.next().await.unwrap();
    let mut socket = connect(&server, &format!("/ws?taskId={task}")).await;
    send(&mut socket, &prompt("note one")).await;
    let mut seen = Vec::new();
    while let Some(item) = stream.next().await {
        seen.push(item.payload().clone());
    }
    let mut stream = Pair::Rpc03.stream(&rfc, &Ask::Subscribe(task.to_owned())).await;
    stream.next().await.unwrap();
    send(&mut socket, &answer("call-1-0", "proceed_once")).await;
    while let Some(item) = stream.next().await {
        seen.push(item.payload().clone());
    }
    let prompts: Vec<_> = seen.iter().filter_map(|event| event["metadata"][URI].get("user_prompt")).collect();
    let [prompt] = prompts.as_slice() else { panic!("{seen:#?}") };
    let members = ["status", "text", "client", "interface"].map(|member| prompt[member].as_str().unwrap());
    assert_eq!(members, ["RECEIVED", "note one", "test", "websocket"]);
    let data = |event: &Value| event["status"]["message"]["parts"][0]["data"].clone();
    let answers: Vec<_> =
        seen.iter().map(data).filter_map(|call| call.get("confirmation_answer").cloned()).collect();
    assert!(!answers.is_empty(), "{seen:#?}");
    for answer in answers {
        assert_eq!(answer["selected_option_id"], "proceed_once");
        assert!(answer["by"].as_str().unwrap().contains("test"), "{answer}");
    }
}
