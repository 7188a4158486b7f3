//! Characters that a terminal or a text view does not draw are written out wherever something is to be approved.

use std::fs;

use attache_testkit::agent_client::{call_in, message, question, reply, send, state};
use attache_testkit::editor::URI;
use attache_testkit::model_server::gemini::{calls, says};
use attache_testkit::model_server::{ModelServer, gemini};
use attache_testkit::{PushReceiver, TestClient};
use serde_json::{Value, json};

use super::runs;
use crate::agent_world::{launch_with, start, work};
use crate::grpc::world::{Grpc, Speaks};
use crate::world::push_to_loopback;

/// A command, and how a person must see it.
const LIES: [(&str, &str); 5] = [
    ("ls src\u{1b}]; touch P; :\u{7}", r"ls src\u{1b}]; touch P; :\u{7}"),
    ("touch P; :\rls src      ", r"touch P; :\u{d}ls src"),
    ("touch \u{202e}P\u{2066}", r"touch \u{202e}P\u{2066}"),
    ("touch\u{200b}er P\u{feff}\u{ad}\u{3164}", r"touch\u{200b}er P\u{feff}\u{ad}\u{3164}"),
    ("touch\u{a0}P\u{2028}\u{e0041}\u{9b}2K", r"touch\u{a0}P\u{2028}\u{e0041}\u{9b}2K"),
];

/// No character of a text hides anything.
#[track_caller]
fn check(text: &str, expected: &str) {
    let hidden = |it: char| attache_domain::is_hidden(it) && it != '\n' && it != '\t';
    assert!(!text.contains(hidden), "{text:?}");
    assert!(text.contains(expected), "{expected} in {text:?}");
}

/// The same about every text of a value.
#[track_caller]
fn check_value(value: &Value, expected: &str) {
    let mut texts = Vec::new();
    collect(value, &mut texts);
    check(&texts.join("\n"), expected);
}

fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            texts.push(name.clone());
            collect(value, texts);
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// All events of a message in Gemini CLI's dialect that are about calls.
async fn gemini_events(client: &TestClient, id: &str) -> Value {
    let settings = json!({"coderAgent": {"kind": "agent-settings", "workspacePath": ""}});
    let message = json!({"kind": "message", "messageId": id, "role": "user", "metadata": settings,
        "parts": [{"kind": "text", "text": "Run!"}]});
    let frames = client.rpc_stream("message/stream", json!({"message": message})).await.rest().await;
    frames.iter().map(|frame| frame.payload()["status"]["message"]["parts"].clone()).collect()
}

#[tokio::test]
async fn a_command_that_hides_something_is_written_out_in_every_dialect() {
    let asked = LIES.iter().flat_map(|(command, _)| [runs(command), runs(command), runs(command)]);
    let model = ModelServer::with_responses(asked.collect::<Vec<_>>());
    let (folder, server) = start(&model).await;
    let client = server.client();
    for (number, (_, shown)) in LIES.iter().enumerate() {
        let task = send(&client, &format!("plain-{number}"), "Run!").await;
        assert_eq!(state(&task), "TASK_STATE_INPUT_REQUIRED");
        check(&question(&task), shown);
        let id = task["id"].as_str().unwrap();
        let older = client.rpc("tasks/get", json!({"id": id})).await;
        check_value(&older["result"]["status"], shown);
        let editor = client.with("A2A-Extensions", URI);
        let params = json!({"message": {"messageId": format!("editor-{number}"), "role": "ROLE_USER",
            "parts": [{"text": "Run!"}]}});
        let frames = editor.rpc_stream("SendStreamingMessage", params).await.rest().await;
        let calls: Value =
            frames.iter().map(|frame| frame.payload()["statusUpdate"]["status"].clone()).collect();
        check_value(&calls, shown);
        assert!(calls.to_string().contains("execute_details"), "{calls:#}");
        let calls = gemini_events(&client, &format!("gemini-{number}")).await;
        check_value(&calls, shown);
        assert!(calls.to_string().contains("awaiting_approval"), "{calls:#}");
    }
    assert!(!work(&folder).join("P").exists());
}

/// Everything that a webhook received, once the question is among it.
async fn told_to(receiver: &PushReceiver, path: &str) -> Value {
    let mut count = 1;
    loop {
        let came = receiver.until(path, count).await;
        let bodies: Value = came.iter().map(|received| received.json()).collect();
        if bodies.to_string().contains("INPUT_REQUIRED") {
            return bodies;
        }
        count = came.len() + 1;
    }
}

#[tokio::test]
async fn what_is_hidden_is_written_out_over_rest_grpc_and_webhooks_too() {
    let model = ModelServer::with_responses(LIES.map(|(command, _)| runs(command)));
    let launch = launch_with(&model).session(|options| options.push = Some(push_to_loopback()));
    let server = launch.start().await;
    let (client, receiver) = (server.client(), PushReceiver::accepting());
    for (number, (_, shown)) in LIES.iter().enumerate() {
        let path = format!("/hook-{number}");
        let mut params = message(&format!("m{number}"), "Run!");
        let hook = json!({"id": "hook", "url": receiver.url(&path)});
        params["configuration"] = json!({ "taskPushNotificationConfig": hook });
        let task = client.rpc("SendMessage", params).await["result"]["task"].clone();
        assert_eq!(state(&task), "TASK_STATE_INPUT_REQUIRED", "{task:#}");
        check_value(&told_to(&receiver, &path).await, shown);
        let id = task["id"].as_str().unwrap();
        for (version, path) in [("1.0", format!("/tasks/{id}")), ("0.3", format!("/v1/tasks/{id}"))] {
            let answer = client.with("A2A-Version", version).get(&path).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
            check_value(&answer.json()["status"], shown);
        }
        for speaks in Speaks::BOTH {
            let task = Grpc::to(server.url(), speaks).await.call("GetTask", speaks.task(id)).await.unwrap();
            check_value(&task["status"], shown);
        }
    }
    assert!(!work(&launch).join("P").exists());
}

#[tokio::test]
async fn what_hides_something_is_agreed_to_once_and_never_for_longer() {
    let (command, _) = LIES[0];
    let model = ModelServer::with_responses([runs(command), runs(command), says("Done.")]);
    let (folder, server) = start(&model).await;
    let client = server.client();
    let task = send(&client, "m1", "Run!").await;
    let asked = question(&task);
    assert!(asked.contains("with one of: proceed_once, cancel\n"), "{asked}");
    let call = call_in(&asked);
    for (number, word) in ["always", "proceed_always", "proceed_always_and_save"].into_iter().enumerate() {
        let refused = reply(&client, &format!("a{number}"), &task, &format!("{call}: {word}")).await;
        assert!(refused["error"].to_string().contains("it takes: proceed_once, cancel"), "{refused:#}");
    }
    assert!(!work(&folder).join("P").exists());
    let again = reply(&client, "m2", &task, &format!("{call}: yes")).await;
    assert!(work(&folder).join("P").exists(), "what was shown is what runs");
    assert_eq!(state(&again), "TASK_STATE_INPUT_REQUIRED", "the same line is asked about again: {again:#}");
}

#[tokio::test]
async fn an_edit_shows_what_it_hides_and_writes_what_it_should() {
    let content = "one\u{202e}\r\ntwo\u{200b}\u{1b}[8m\n";
    let write = || calls("write_file", json!({"file_path": "new\u{200b}.txt", "content": content}));
    let model = ModelServer::with_responses([write(), says("Done."), write(), write()]);
    let (folder, server) = start(&model).await;
    let client = server.client();
    let task = send(&client, "m1", "Write!").await;
    let asked = question(&task);
    check(&asked, r"+one\u{202e}\u{d}");
    check(&asked, r"+two\u{200b}\u{1b}[8m");
    check(&asked, r"new\u{200b}.txt");
    assert!(!asked.contains("always"), "{asked}");
    reply(&client, "m2", &task, &format!("{}: yes", call_in(&asked))).await;
    assert_eq!(fs::read_to_string(work(&folder).join("new\u{200b}.txt")).unwrap(), content);
    fs::remove_file(work(&folder).join("new\u{200b}.txt")).unwrap();

    let params = json!({"message": {"messageId": "m3", "role": "ROLE_USER", "parts": [{"text": "Write!"}]}});
    let frames =
        client.with("A2A-Extensions", URI).rpc_stream("SendStreamingMessage", params).await.rest().await;
    let calls =
        frames.iter().map(|frame| &frame.payload()["statusUpdate"]["status"]["message"]["parts"][0]["data"]);
    let call = calls.into_iter().find(|call| call["confirmation_request"].is_object()).unwrap();
    let details = &call["confirmation_request"]["file_edit_details"];
    assert_eq!(details["new_content"], content, "what an editor works on is what would be written");
    check(details["formatted_diff"].as_str().unwrap(), r"+two\u{200b}\u{1b}[8m");
    check(details["file_path"].as_str().unwrap(), r"/new\u{200b}.txt");
    check(details["file_name"].as_str().unwrap(), r"new\u{200b}.txt");
    let described = call["description"].as_str().unwrap();
    check(described, r"new\u{200b}.txt");
    assert!(described.contains("hidden characters"), "{described}");

    let parts = gemini_events(&client, "m4").await;
    let mut calls = parts.as_array().unwrap().iter().map(|parts| &parts[0]["data"]);
    let details = &calls.find(|call| call["status"] == "awaiting_approval").unwrap()["confirmationDetails"];
    assert_eq!(details["newContent"], content);
    check(details["fileDiff"].as_str().unwrap(), r"+two\u{200b}\u{1b}[8m");
    check(details["title"].as_str().unwrap(), "hidden characters");
    check(details["filePath"].as_str().unwrap(), r"/new\u{200b}.txt");
}

#[tokio::test]
async fn an_address_shows_what_it_hides() {
    let fetch =
        || calls("web_fetch", json!({"prompt": "Read https://good.example/\u{202e}moc.live\u{200b} aloud"}));
    let model = ModelServer::with_responses([fetch(), fetch()]);
    let (_folder, server) = start(&model).await;
    let task = send(&server.client(), "m1", "Read!").await;
    check(&question(&task), r"\u{202e}moc.live\u{200b}");
    check_value(&gemini_events(&server.client(), "m2").await, r"\u{202e}moc.live\u{200b}");
}

#[tokio::test]
async fn a_call_id_that_hides_something_is_shown_and_understood_as_it_is_shown() {
    let odd = gemini::chunk().call("run_shell_command", json!({"command": "touch P"})).id("c\u{202e}1");
    let model =
        ModelServer::with_responses([gemini::answer([odd.finish("STOP").usage(1, 1)]), says("Done.")]);
    let (folder, server) = start(&model).await;
    let task = send(&server.client(), "m1", "Run!").await;
    check(&question(&task), r"(c\u{202e}1)");
    let done = reply(&server.client(), "m2", &task, r"c\u{202e}1: yes").await;
    assert_eq!(state(&done), "TASK_STATE_COMPLETED", "{done:#}");
    assert!(work(&folder).join("P").exists());
}
