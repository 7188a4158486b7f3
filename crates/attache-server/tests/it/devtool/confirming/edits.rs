//! Edits: asked about with the file before and after, and a person may put other content in their place.

use attache_testkit::editor::{chosen, options};
use attache_testkit::model_server::PlannedResponse;
use attache_testkit::model_server::gemini::{calls, says};
use serde_json::{Value, json};

use crate::devtool::world::World;
use attache_testkit::pairs::Pair;

fn greets(new: &str) -> PlannedResponse {
    let input =
        json!({"file_path": "hello.txt", "instruction": "greet", "old_string": "world", "new_string": new});
    calls("replace", input)
}

fn writes(name: &str, content: &str) -> PlannedResponse {
    calls("write_file", json!({"file_path": name, "content": content}))
}

#[tokio::test]
async fn an_edit_is_shown_with_what_was_there_and_what_will_be() {
    let world = World::playing([greets("moon"), says("Done.")]).await;
    let editor = world.editor();
    let asked = editor.ask("m1", "Greet the moon").await;
    let call = asked.only_asked();
    assert_eq!(options(&call), ["proceed_once", "proceed_always", "modify_with_editor", "cancel"]);
    let change = &call["confirmation_request"]["file_edit_details"];
    assert_eq!(change["old_content"], "Hello, world.\nSecond line.\n");
    assert_eq!(change["new_content"], "Hello, moon.\nSecond line.\n");
    let diff = change["formatted_diff"].as_str().unwrap();
    assert!(diff.contains("-Hello, world.") && diff.contains("+Hello, moon."), "{diff}");
    let done = editor.answer(asked.task(), "m2", &[chosen(&call, "proceed_once")]).await;
    assert_eq!(done.call("SUCCEEDED")["output"]["diff"], *change);
    assert_eq!(world.file("hello.txt").as_deref(), Some("Hello, moon.\nSecond line.\n"));
    let artifacts = done.events.iter().filter(|event| event.kind().is_empty()).count();
    assert_eq!(artifacts, 0, "the call has told it: {:#?}", done.lines());
}

/// An approval with content of the person's own, as `edit`.
async fn check_own_content(pair: Pair, edit: impl Fn(&str) -> Value) {
    let mine = "mine, \u{e4}\r\nno end";
    let world = World::playing([writes("new.txt", "the model's\n"), says("Done.")]).await;
    let editor = world.editor_on(pair);
    let asked = editor.ask("m1", "Write!").await;
    let mut answer = chosen(&asked.only_asked(), "proceed_once");
    answer.as_object_mut().unwrap().extend(edit(mine).as_object().unwrap().clone());
    let done = editor.answer(asked.task(), "m2", &[answer]).await;
    assert_eq!(done.last().state(), "completed", "{pair:?}: {:#?}", done.lines());
    assert_eq!(world.file("new.txt").as_deref(), Some(mine), "{pair:?}");
    let written = &done.call("SUCCEEDED")["output"]["diff"];
    assert_eq!(written["new_content"], mine, "{pair:?}");
    let diff = written["formatted_diff"].as_str().unwrap();
    assert!(diff.contains("+mine") && !diff.contains("the model's"), "{pair:?}: {diff}");
    assert!(world.told().contains("mine"), "the model knows what is in the file: {}", world.told());
}

#[tokio::test]
async fn what_a_person_puts_in_place_of_an_edit_is_written_exactly() {
    check_own_content(Pair::Rpc03, |mine| json!({"file_details": {"new_content": mine}})).await;
    check_own_content(Pair::Rest03, |mine| json!({"file_details": {"new_content": mine}})).await;
    let within = |mine: &str| json!({"modified_details": {"file_details": {"new_content": mine}}});
    check_own_content(Pair::Rpc10, within).await;
    let named = |mine: &str| json!({"kind": "TOOL_CALL_CONFIRMATION", "fileDetails": {"newContent": mine}});
    check_own_content(Pair::Rest10, named).await;
}

#[tokio::test]
async fn always_is_for_all_edits_of_this_conversation_and_for_nothing_else() {
    let run = calls("run_shell_command", json!({"command": "touch made"}));
    let world = World::playing([greets("moon"), writes("new.txt", "new\n"), run]).await;
    let editor = world.editor();
    let asked = editor.ask("m1", "Go!").await;
    let more = editor.answer(asked.task(), "m2", &[chosen(&asked.only_asked(), "proceed_always")]).await;
    more.check(&[
        "TOOL_CALL_UPDATE working replace EXECUTING",
        "TOOL_CALL_UPDATE working replace SUCCEEDED",
        "TOOL_CALL_UPDATE working write_file PENDING",
        "TOOL_CALL_UPDATE working write_file EXECUTING",
        "TOOL_CALL_UPDATE working write_file SUCCEEDED",
        "TOOL_CALL_UPDATE working run_shell_command PENDING ?",
        "STATE_CHANGE input-required final",
    ]);
    assert_eq!(world.file("new.txt").as_deref(), Some("new\n"));
}

#[tokio::test]
async fn an_edit_that_is_changed_first_is_asked_about_again() {
    let world = World::playing([writes("hello.txt", "Mine.\n"), says("Done.")]).await;
    let editor = world.editor();
    let asked = editor.ask("m1", "Write!").await;
    let mut answer = chosen(&asked.only_asked(), "modify_with_editor");
    let without = editor.refused(editor.answers(asked.task(), "m2", &[answer.clone()])).await;
    assert_eq!(without.code, Some(-32602), "{without:#?}");
    answer["file_details"] = json!({"new_content": "Theirs.\n"});
    let again = editor.answer(asked.task(), "m3", &[answer]).await;
    again.check(&["TOOL_CALL_UPDATE working write_file PENDING ?", "STATE_CHANGE input-required final"]);
    let change = &again.only_asked()["confirmation_request"]["file_edit_details"];
    assert_eq!(change["new_content"], "Theirs.\n");
    assert!(change["formatted_diff"].as_str().unwrap().contains("+Theirs."), "{change:#}");
    assert_eq!(world.file("hello.txt").as_deref(), Some("Hello, world.\nSecond line.\n"), "nothing yet");
    let done = editor.answer(asked.task(), "m4", &[chosen(&again.only_asked(), "proceed_once")]).await;
    assert_eq!(done.call("SUCCEEDED")["output"]["diff"]["new_content"], "Theirs.\n");
    assert_eq!(world.file("hello.txt").as_deref(), Some("Theirs.\n"));
}

#[tokio::test]
async fn a_refused_edit_changes_nothing() {
    let world = World::playing([greets("moon")]).await;
    let editor = world.editor();
    let asked = editor.ask("m1", "Go!").await;
    let refused = editor.answer(asked.task(), "m2", &[chosen(&asked.only_asked(), "cancel")]).await;
    refused.check(&["TOOL_CALL_UPDATE working replace CANCELLED", "STATE_CHANGE input-required …"]);
    assert_eq!(world.file("hello.txt").as_deref(), Some("Hello, world.\nSecond line.\n"));
}
