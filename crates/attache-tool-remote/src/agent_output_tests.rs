use attache_client::{Binding, Protocol, Version};
use serde_json::{Value, json};

use super::*;

fn event(value: Value) -> StreamEvent {
    let protocol = Protocol::new(Version::V1_0, Binding::HttpJson);
    protocol.decode_event(200, value.to_string().as_bytes()).unwrap()
}

fn status(role: &str, text: &str) -> Value {
    let message = json!({"messageId": "m", "role": role, "parts": [{"text": text}]});
    let status = json!({"state": "TASK_STATE_WORKING", "message": message});
    json!({"statusUpdate": {"taskId": "t", "contextId": "c", "status": status}})
}

fn artifact(id: &str, text: &str, append: bool) -> Value {
    let artifact = json!({"artifactId": id, "parts": [{"text": text}]});
    json!({"artifactUpdate": {"taskId": "t", "contextId": "c", "artifact": artifact, "append": append}})
}

fn task(artifacts: Value, message: Option<&str>, history: Value) -> Value {
    let mut status = json!({"state": "TASK_STATE_COMPLETED"});
    if let Some(text) = message {
        status["message"] = json!({"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": text}]});
    }
    json!({"task": {"id": "t", "contextId": "c", "status": status, "artifacts": artifacts, "history": history}})
}

/// The text in the end, and what was new with each event.
#[track_caller]
fn check(events: &[Value], text: &str, new: &[&str]) {
    let mut output = AgentOutput::default();
    let news = events.iter().map(|value| output.add(&event(value.clone())));
    let shown: Vec<String> = news.map(|News { artifacts, words }| artifacts + &words).collect();
    assert_eq!((output.text().as_str(), &shown), (text, &new.iter().map(|it| (*it).to_owned()).collect()));
}

#[test]
fn texts_of_statuses_are_joined_without_repetitions_and_without_those_of_the_user() {
    check(
        &[
            status("ROLE_USER", "do it"),
            status("ROLE_AGENT", "one "),
            status("ROLE_AGENT", "one "),
            status("ROLE_AGENT", "two"),
        ],
        "one two",
        &["", "one ", "", "two"],
    );
}

#[test]
fn artifacts_grow_or_are_replaced() {
    check(
        &[
            artifact("a", "one ", false),
            artifact("a", "two", true),
            artifact("b", "old", false),
            artifact("b", "new", false),
        ],
        "Artifact (a):\none two\n\nArtifact (b):\nnew",
        &["one ", "two", "old", "new"],
    );
    check(&[artifact("a", "alone", false)], "alone", &["alone"]);
}

#[test]
fn a_task_shows_only_what_is_new_in_it() {
    let whole = json!([{"artifactId": "a", "name": "Answer", "parts": [{"text": "one two"}]}]);
    check(
        &[
            artifact("a", "one ", true),
            task(whole.clone(), None, json!([])),
            task(whole, Some("one two"), json!([])),
        ],
        "Artifact (Answer):\none two",
        &["one ", "two", ""],
    );
}

#[test]
fn a_task_without_anything_else_gives_the_last_message_of_its_history() {
    let said = |role: &str, text: &str| json!({"messageId": text, "role": role, "parts": [{"text": text}]});
    let history =
        json!([said("ROLE_AGENT", "first"), said("ROLE_AGENT", "last"), said("ROLE_USER", "thanks")]);
    check(&[task(json!([]), None, history)], "last", &[""]);
}

#[test]
fn data_and_files_are_named() {
    let message = json!({"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [
        {"text": "see "}, {"data": {"n": 1}}, {"url": "https://a.example/x", "filename": "x"}, {"raw": "aGk=", "filename": "y.txt"},
    ]}});
    let mut output = AgentOutput::default();
    output.add(&event(message));
    assert_eq!(output.text(), "see Data: {\"n\":1}\nFile: x at https://a.example/x\nFile: y.txt\n");
    let files: Vec<_> = output.files().map(|file| file.name.as_deref()).collect();
    assert_eq!(files, [Some("y.txt")]);
}

#[test]
fn what_does_not_fit_is_counted() {
    let mut output = AgentOutput::default();
    let piece = "ä".repeat(300_000);
    for _ in 0..3 {
        output.add(&event(artifact("a", &piece, true)));
    }
    let text = output.text();
    assert!(text.len() <= MAX_TEXT + 100, "{}", text.len());
    assert!(text.ends_with("[751424 bytes of its text are left out]"), "{}", &text[text.len() - 60..]);
    output.add(&event(artifact("a", "short", false)));
    assert!(output.text().starts_with("Artifact") || output.text().starts_with("short"));
}

#[test]
fn ids_names_and_repeated_texts_take_little_room() {
    let mut output = AgentOutput::default();
    let long = "y".repeat(100_000);
    for number in 0..300 {
        let mut update = artifact(&format!("{number}{long}"), "x", false);
        update["artifactUpdate"]["artifact"]["name"] = long.as_str().into();
        output.add(&event(update));
    }
    output.add(&event(artifact(&format!("7{long}"), " more", true)));
    output.add(&event(status("ROLE_AGENT", &"z".repeat(3 << 20))));
    let said = json!({"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "z".repeat(3 << 20)}]});
    output.add(&event(task(json!([]), None, json!([said]))));
    assert_eq!(output.artifacts.len(), MAX_ARTIFACTS);
    assert_eq!(output.artifacts[7].text, "x more", "a long id is still one");
    let kept = serde_json::to_vec(&output).unwrap().len();
    assert!(kept < 3 << 20, "{kept}");
}
