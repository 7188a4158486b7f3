//! What was under way when the server was killed: a call with an unknown outcome, about which a person is asked;
//! a call that changes nothing, which runs again; half an answer, which does not count.

use std::fs;

use attache_testkit::agent_client::reaches;
use attache_testkit::editor::chosen;
use attache_testkit::model_requests::asked;
use attache_testkit::model_server::gemini::{calls, says, stuck};
use attache_testkit::model_server::{ModelServer, PlannedResponse};
use attache_testkit::waiting::eventually;
use attache_tool::policy::PolicyMode;
use serde_json::{Value, json};

use super::world::World;
use crate::agent_world::work;
use attache_testkit::pairs::Pair;

/// A command that ran when the server was killed, and the call as it is shown afterwards.
async fn lost() -> (World, String, Value) {
    let command = "echo ran >> runs; while [ ! -e go ]; do sleep 0.01; done";
    let run = calls("run_shell_command", json!({"command": command}));
    let world = World::with([run, says("I see.")], |launch| launch.mode(PolicyMode::Yolo)).await;
    let editor = world.editor();
    let mut stream = editor.stream(editor.text("m1", "Run!")).await;
    let begun = editor.until(&mut stream, |event| event.has_call("EXECUTING")).await;
    // The file exists before its line is written.
    eventually("the command", || world.file("runs").is_some_and(|text| text.ends_with('\n'))).await;
    let world = world.crash().await;
    let editor = world.editor();
    reaches(&editor.client, begun.task(), "INPUT_REQUIRED").await;
    let task = editor.task(begun.task()).await;
    let parts = task["status"]["message"]["parts"].as_array().unwrap();
    let call = parts.iter().find_map(|part| part["content"].get("data")).unwrap().clone();
    assert_ne!(call["tool_call_id"], begun.call("EXECUTING")["tool_call_id"], "a question of its own");
    assert_eq!(call["status"], "PENDING");
    assert!(call["description"].as_str().unwrap().contains("not known whether"), "{call:#}");
    let options = call["confirmation_request"]["options"].as_array().unwrap();
    let ids: Vec<_> = options.iter().map(|option| option["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["run_again", "skip", "cancel"]);
    fs::write(work(&world.launch).join("go"), "").unwrap();
    (world, begun.task().to_owned(), call)
}

fn runs(world: &World) -> usize {
    world.file("runs").unwrap().lines().count()
}

#[tokio::test]
async fn it_is_done_again_when_a_person_says_so() {
    let (world, task, call) = lost().await;
    let done = world.editor_on(Pair::Rest03).answer(&task, "m2", &[chosen(&call, "run_again")]).await;
    assert_eq!((done.last().state(), runs(&world)), ("completed", 2));
    assert_eq!(done.call("SUCCEEDED")["tool_call_id"], call["tool_call_id"]);
}

#[tokio::test]
async fn it_is_left_as_it_is_and_the_agent_knows_that_it_may_have_happened() {
    let (world, task, call) = lost().await;
    let done = world.editor().answer(&task, "m2", &[chosen(&call, "skip")]).await;
    done.check(&[
        "TOOL_CALL_UPDATE working run_shell_command FAILED",
        "TEXT_CONTENT working I see.",
        "STATE_CHANGE completed final",
    ]);
    assert_eq!(done.call("FAILED")["error"]["type"], "outcome_unknown");
    assert_eq!(runs(&world), 1);
    assert!(world.told().contains("not known whether"), "{}", world.told());
}

#[tokio::test]
async fn it_can_be_the_end_of_the_turn() {
    let (world, task, call) = lost().await;
    let rests = world.editor().answer(&task, "m2", &[chosen(&call, "cancel")]).await;
    assert_eq!(rests.last().state(), "input-required", "{:#?}", rests.lines());
    assert_eq!((runs(&world), world.model.received().len()), (1, 1));
}

#[tokio::test]
async fn a_call_that_only_looks_runs_again_by_itself() {
    let page = ModelServer::with_responses([
        PlannedResponse::stream().hold(),
        PlannedResponse::text(200, "text/plain", "The page."),
    ]);
    let fetch = calls("web_fetch", json!({"prompt": format!("Read {}/page", page.url())}));
    let world = World::with([fetch, says("I read it.")], |launch| launch.mode(PolicyMode::Yolo)).await;
    let editor = world.editor();
    let mut stream = editor.stream(editor.text("m1", "Fetch!")).await;
    // It may run before that is written down, and until then a crash means that the model is asked anew.
    let begun = editor.until(&mut stream, |event| event.has_call("EXECUTING")).await;
    asked(&page, 1).await;
    let world = world.crash().await;
    let editor = world.editor();
    let mut stream = editor.resubscribe(begun.task(), Some(begun.last().id)).await;
    let rest = editor.rest(&mut stream).await;
    assert_eq!((rest.said().as_str(), rest.last().state()), ("I read it.", "completed"));
    assert_eq!(rest.call("SUCCEEDED")["tool_call_id"], begun.call("EXECUTING")["tool_call_id"]);
    assert_eq!((page.received().len(), world.model.received().len()), (2, 2));
    assert!(world.told().contains("The page."), "{}", world.told());
}

#[tokio::test]
async fn half_an_answer_is_taken_back_by_its_name() {
    let world = World::playing([stuck("Half"), says("Whole.")]).await;
    let editor = world.editor();
    let mut stream = editor.stream(editor.text("m1", "Hi!")).await;
    let begun = editor.until(&mut stream, |event| event.kind() == "TEXT_CONTENT").await;
    let world = world.crash().await;
    let editor = world.editor();
    let mut stream = editor.resubscribe(begun.task(), Some(begun.last().id)).await;
    let rest = editor.rest(&mut stream).await;
    assert_eq!(rest.events[1].metadata()["withdrawn_message_id"], begun.last().message()["id"]);
    assert_eq!((rest.said().as_str(), rest.last().state()), ("Whole.", "completed"));
    let names: Vec<_> = rest.events.iter().filter(|event| event.kind() == "TEXT_CONTENT").collect();
    assert!(names.iter().all(|event| event.message()["id"] != begun.last().message()["id"]), "{names:#?}");
}
