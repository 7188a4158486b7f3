//! Commands: asked about with the very command and where it would run.

use attache_testkit::editor::{chosen, options, output};
use attache_testkit::model_server::PlannedResponse;
use attache_testkit::model_server::gemini::{batch, calls, says};
use serde_json::json;

use crate::agent_world::work;
use crate::devtool::world::World;

fn runs(command: &str) -> PlannedResponse {
    calls("run_shell_command", json!({"command": command}))
}

#[tokio::test]
async fn a_command_is_shown_as_it_is_and_runs_once() {
    let command = "mkdir made; echo done; exit 3";
    let world = World::playing([runs(command), runs(command), says("Twice?")]).await;
    let editor = world.editor();
    let asked = editor.ask("m1", "Run!").await;
    let call = asked.only_asked();
    assert_eq!(options(&call), ["proceed_once", "proceed_always", "cancel"]);
    let details = &call["confirmation_request"]["execute_details"];
    assert_eq!(details["command"], command);
    let folder = work(&world.launch).canonicalize().unwrap();
    assert_eq!(details["working_directory"], folder.to_str().unwrap());
    assert_eq!(call["input_parameters"]["command"], command);
    assert!(!folder.join("made").exists());
    let again = editor.answer(asked.task(), "m2", &[chosen(&call, "proceed_once")]).await;
    let ran = again.call("SUCCEEDED");
    assert_eq!(ran["tool_call_id"], call["tool_call_id"]);
    assert!(output(ran).starts_with("done") && output(ran).contains('3'), "{ran:#}");
    assert!(ran.get("live_content").is_none(), "the output takes its place: {ran:#}");
    assert!(folder.join("made").exists());
    let call = again.only_asked();
    let done = editor.answer(asked.task(), "m3", &[chosen(&call, "cancel")]).await;
    assert_eq!(done.last().state(), "input-required");
}

#[tokio::test]
async fn a_command_that_runs_is_cancelled_by_its_confirmation() {
    let world = World::playing([runs("echo begun; sleep 321"), says("Then not.")]).await;
    let editor = world.editor();
    let asked = editor.ask("m1", "Run!").await;
    let call = asked.only_asked();
    let mut stream =
        editor.stream(editor.answers(asked.task(), "m2", &[chosen(&call, "proceed_once")])).await;
    editor.until(&mut stream, |event| event.has_call("EXECUTING")).await;
    editor.send(editor.answers(asked.task(), "m3", &[chosen(&call, "cancel")])).await;
    let rest = editor.rest(&mut stream).await;
    let canceled = rest.call("CANCELLED");
    assert_eq!(canceled["tool_call_id"], call["tool_call_id"]);
    assert_eq!(rest.last().state(), "completed");
}

#[tokio::test]
async fn all_of_a_confirmed_command_is_told_in_few_bytes() {
    let world = World::playing([runs("touch made; echo done"), says("Done.")]).await;
    let editor = world.editor();
    let first = editor.stream(editor.text("m1", "Run!")).await.rest().await;
    let data = &first[2].payload()["status"]["message"]["parts"][0]["data"];
    let task = first[0].payload()["id"].as_str().unwrap();
    let params = editor.answers(task, "m2", &[chosen(data, "proceed_once")]);
    let second = editor.stream(params).await.rest().await;
    let bytes: usize = first.iter().chain(&second).map(|frame| frame.raw.len()).sum();
    // Gemini CLI's server sends 42 KB for the same.
    assert!(bytes < 42_000 / 5, "{bytes} bytes");
}

#[tokio::test]
async fn always_is_for_the_same_program_in_this_conversation() {
    let world = World::playing([
        runs("touch one"),
        runs("touch two"),
        runs("mkdir three"),
        says("Done."),
        runs("touch four"),
    ])
    .await;
    let editor = world.editor();
    let asked = editor.ask("m1", "Run!").await;
    let call = asked.only_asked();
    let always = &call["confirmation_request"]["options"][1];
    assert!(always["description"].as_str().unwrap().contains("touch"), "{always:#}");
    let more = editor.answer(asked.task(), "m2", &[chosen(&call, "proceed_always")]).await;
    more.check(&[
        "TOOL_CALL_UPDATE working run_shell_command EXECUTING",
        "TOOL_CALL_UPDATE working run_shell_command SUCCEEDED",
        "TOOL_CALL_UPDATE working run_shell_command PENDING",
        "TOOL_CALL_UPDATE working run_shell_command EXECUTING",
        "TOOL_CALL_UPDATE working run_shell_command SUCCEEDED",
        "TOOL_CALL_UPDATE working run_shell_command PENDING ?",
        "STATE_CHANGE input-required final",
    ]);
    assert_eq!(more.only_asked()["input_parameters"]["command"], "mkdir three");
    editor.answer(asked.task(), "m3", &[chosen(&more.only_asked(), "proceed_once")]).await;
    let other = editor.ask("m4", "And you?").await;
    assert_eq!(other.only_asked()["input_parameters"]["command"], "touch four", "another conversation");
}

#[tokio::test]
async fn refused_commands_do_not_run_and_the_person_speaks_next() {
    let both = batch([
        ("run_shell_command", json!({"command": "touch one"})),
        ("run_shell_command", json!({"command": "touch two"})),
    ]);
    let world = World::playing([both, says("As you like.")]).await;
    let editor = world.editor().with("User-Agent", "editor-of-ann");
    let asked = editor.ask("m1", "Run!").await;
    let both: Vec<_> = asked.asked().iter().map(|call| chosen(call, "cancel")).collect();
    let refused = editor.answer(asked.task(), "m2", &both).await;
    refused.check(&[
        "TOOL_CALL_UPDATE working run_shell_command CANCELLED",
        "TOOL_CALL_UPDATE working run_shell_command CANCELLED",
        "STATE_CHANGE input-required I did not do that. What shall I do instead? final",
    ]);
    let error = &refused.call("CANCELLED")["error"];
    assert!(error["message"].as_str().unwrap().contains("editor-of-ann"), "{error:#}");
    assert!(refused.last().metadata().get("error").is_none(), "a no is no error");
    assert_eq!((world.file("one"), world.file("two")), (None, None));
    assert_eq!(world.model.received().len(), 1, "the person speaks next");
    let done = editor.ask_more(asked.task(), "m3", "Nothing.").await;
    done.check(&[
        "STATE_CHANGE working",
        "TEXT_CONTENT working As you like.",
        "STATE_CHANGE completed final",
    ]);
}
