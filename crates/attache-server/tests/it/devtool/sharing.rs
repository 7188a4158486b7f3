//! Approvals belong to no client: the first answer counts, from any client, and all clients see it.

mod partly;
mod racing;

use std::fs;

use attache_testkit::agent_client::reaches;
use attache_testkit::editor::{Editor, chosen};
use attache_testkit::model_server::PlannedResponse;
use attache_testkit::model_server::gemini::{batch, calls, says};
use serde_json::{Value, json};

use super::world::World;
use crate::agent_world::work;
use attache_testkit::pairs::Pair;

fn runs(command: &str) -> PlannedResponse {
    calls("run_shell_command", json!({"command": command}))
}

/// The tasks that wait for a person, as a client over REST lists them.
async fn waiting(editor: &Editor) -> Vec<Value> {
    let client = editor.client.with("A2A-Version", "1.0");
    let page = client.get("/tasks?status=TASK_STATE_INPUT_REQUIRED").await.json();
    page["tasks"].as_array().unwrap().clone()
}

/// The calls that a listed task waits for.
fn pending(task: &Value) -> Vec<Value> {
    let parts = task["status"]["message"]["parts"].as_array().unwrap();
    parts.iter().filter_map(|part| part.get("data").cloned()).collect()
}

#[tokio::test]
async fn what_one_client_is_asked_another_lists_and_answers_elsewhere() {
    let world = World::playing([runs("touch made"), says("Done.")]).await;
    let asked = world.editor().ask("m1", "Run!").await;
    let other = world.editor_on(Pair::Rest10).with("User-Agent", "other");
    let listed = waiting(&other).await;
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["id"], asked.task());
    assert_eq!(pending(&listed[0]), [asked.only_asked()], "the very call that was shown");
    for pair in Pair::ALL {
        let task = world.editor_on(pair).task(asked.task()).await;
        let parts = task["status"]["message"]["parts"].as_array().unwrap();
        let shown: Vec<_> = parts.iter().filter_map(|part| part["content"].get("data")).collect();
        assert_eq!(shown, [&asked.only_asked()], "{pair:?}");
    }
    let done = other.answer(asked.task(), "m2", &[chosen(&pending(&listed[0])[0], "proceed_once")]).await;
    assert_eq!(done.last().state(), "completed");
    assert!(world.file("made").is_some());
    assert!(waiting(&other).await.is_empty());
    let task = world.editor().task(asked.task()).await;
    assert!(!task["status"].to_string().contains("confirmation_request"), "{task:#}");
}

#[tokio::test]
async fn the_asking_client_sees_what_another_answered_when_it_follows() {
    let world = World::playing([runs("touch made"), says("Done.")]).await;
    let editor = world.editor();
    let asked = editor.ask("m1", "Run!").await;
    let mut following = editor.resubscribe(asked.task(), None).await;
    let first = following.next().await.unwrap();
    assert!(first.raw.contains("confirmation_request"), "a new subscriber is asked again: {}", first.raw);
    let other = world.editor_on(Pair::Rpc10);
    other.answer(asked.task(), "m2", &[chosen(&asked.only_asked(), "proceed_once")]).await;
    editor.rest(&mut following).await.check(&[
        "TOOL_CALL_UPDATE working run_shell_command PENDING",
        "TOOL_CALL_UPDATE working run_shell_command EXECUTING",
        "TOOL_CALL_UPDATE working run_shell_command SUCCEEDED",
        "TEXT_CONTENT working Done.",
        "STATE_CHANGE completed final",
    ]);
}

#[tokio::test]
async fn a_pending_approval_survives_its_client_and_its_server() {
    let world = World::playing([runs("echo ran >> runs"), says("Done.")]).await;
    let editor = world.editor();
    let mut stream = editor.stream(editor.text("m1", "Run!")).await;
    let begun = editor.until(&mut stream, |event| event.has_call("PENDING")).await;
    drop(stream);
    let world = world.crash().await;
    let other = world.editor_on(Pair::Rest10);
    let listed = reaches(&other.client, begun.task(), "INPUT_REQUIRED").await;
    assert_eq!(pending(&listed), [begun.only_asked()], "the same is asked, word for word");
    let world = world.crash().await;
    let other = world.editor_on(Pair::Rest03);
    let done = other.answer(begun.task(), "m2", &[chosen(&begun.only_asked(), "proceed_once")]).await;
    assert_eq!(done.last().state(), "completed");
    assert_eq!(world.file("runs").as_deref(), Some("ran\n"));
}

#[tokio::test]
async fn an_answer_that_was_given_before_a_crash_counts_and_is_told_afterwards() {
    let world = World::playing([runs("touch made"), says("Done.")]).await;
    let editor = world.editor().with("User-Agent", "ann");
    let asked = editor.ask("m1", "Run!").await;
    let answer = editor.answers(asked.task(), "m2", &[chosen(&asked.only_asked(), "proceed_once")]);
    editor.exchange(answer.clone()).await;
    let world = world.crash().await;
    let editor = world.editor().with("User-Agent", "bob");
    let late = editor.answers(asked.task(), "m3", &[chosen(&asked.only_asked(), "cancel")]);
    let refused = editor.refused(late).await;
    assert_eq!(refused.code, Some(-32602), "{refused:#?}");
    assert!(refused.message.contains("ann") && refused.message.contains("proceed_once"), "{refused:#?}");
    // Who does not know whether the answer arrived sends it again.
    let same = editor.send(answer).await;
    assert_eq!(same["status"]["state"], "completed", "{same:#}");
}

#[tokio::test]
async fn an_unknown_option_or_call_is_refused_with_those_that_there_are() {
    let world = World::playing([runs("touch made"), says("Done.")]).await;
    let asked = world.editor().ask("m1", "Run!").await;
    let call = asked.only_asked();
    for pair in Pair::ALL {
        let editor = world.editor_on(pair);
        let refused = editor.refused(editor.answers(asked.task(), "m2", &[chosen(&call, "perhaps")])).await;
        assert_eq!(refused.code, (pair != Pair::Rest10).then_some(-32602), "{refused:#?}");
        for option in ["perhaps", "proceed_once", "proceed_always", "cancel"] {
            assert!(refused.message.contains(option), "{pair:?} {option}: {}", refused.message);
        }
        let unknown = json!({"tool_call_id": "no-such-call", "selected_option_id": "proceed_once"});
        let refused = editor.refused(editor.answers(asked.task(), "m3", &[unknown])).await;
        assert_eq!(refused.http, if pair.is_rest() { 400 } else { 200 }, "{refused:#?}");
        let id = call["tool_call_id"].as_str().unwrap();
        assert!(refused.message.contains("no-such-call") && refused.message.contains(id), "{refused:#?}");
    }
    let task = world.editor().task(asked.task()).await;
    assert_eq!(task["status"]["state"], "input-required", "nothing of it counted");
}

#[tokio::test]
async fn a_call_without_a_question_runs_while_another_waits() {
    let read = |path: &str| ("read_file", json!({"file_path": path}));
    let write = ("write_file", json!({"file_path": "new.txt", "content": "new\n"}));
    let world = World::playing([batch([read("hello.txt"), write]), says("Done.")]).await;
    let editor = world.editor();
    let asked = editor.ask("m1", "Go!").await;
    asked.check(&[
        "task submitted",
        "STATE_CHANGE working",
        "TOOL_CALL_UPDATE working read_file PENDING",
        "TOOL_CALL_UPDATE working write_file PENDING ?",
        "TOOL_CALL_UPDATE working read_file EXECUTING",
        "TOOL_CALL_UPDATE working read_file SUCCEEDED",
        "STATE_CHANGE input-required final",
    ]);
    // Words are enough where there is one question, and what is none of the answers is no prompt either.
    let refused = editor.refused(editor.pair.text_to(asked.task(), "m2", "Hurry up, please!")).await;
    assert!(refused.message.contains("proceed_once"), "{refused:#?}");
    let done = editor.ask_more(asked.task(), "m3", "yes").await;
    done.check(&[
        "TOOL_CALL_UPDATE working write_file EXECUTING",
        "TOOL_CALL_UPDATE working write_file SUCCEEDED",
        "TEXT_CONTENT working Done.",
        "STATE_CHANGE completed final",
    ]);
}

#[tokio::test]
async fn answers_in_the_words_of_gemini_clis_clients_are_understood() {
    let write = calls("write_file", json!({"file_path": "new.txt", "content": "the model's\n"}));
    let world = World::playing([write, says("Done.")]).await;
    let editor = world.editor();
    let asked = editor.ask("m1", "Write!").await;
    let call = asked.only_asked();
    let answer = json!({"callId": call["tool_call_id"], "outcome": "proceed_once", "newContent": "mine\n"});
    let done = editor.answer(asked.task(), "m2", &[answer]).await;
    assert_eq!(done.last().state(), "completed", "the header says in whose words it is told");
    assert_eq!(world.file("new.txt").as_deref(), Some("mine\n"));
}

#[tokio::test]
async fn an_answer_is_sent_again_when_its_stream_was_cut_and_goes_on_from_there() {
    let command = "touch made; echo begun; while [ ! -e go ]; do sleep 0.01; done";
    let world = World::playing([runs(command), says("Done.")]).await;
    let editor = world.editor();
    let asked = editor.ask("m1", "Run!").await;
    let answer = editor.answers(asked.task(), "m2", &[chosen(&asked.only_asked(), "proceed_once")]);
    let mut stream = editor.stream(answer.clone()).await;
    let begun = editor.until(&mut stream, |event| event.has_call("EXECUTING")).await;
    drop(stream);
    let again = editor.with("Last-Event-ID", &begun.last().id.to_string());
    let mut stream = again.stream(answer).await;
    fs::write(work(&world.launch).join("go"), "").unwrap();
    let rest = again.rest(&mut stream).await;
    assert!(rest.events[0].id > begun.last().id, "{:#?}", rest.lines());
    assert_eq!((rest.said().as_str(), rest.last().state()), ("Done.", "completed"));
    assert_eq!(world.model.received().len(), 2, "it was answered once");
}
