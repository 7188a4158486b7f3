//! Clients that know nothing of the extension: readable text, the answer once, approvals in words.

use attache_testkit::SseFrame;
use attache_testkit::agent_client::{
    answer, answer_text, artifact, check, frames, message, message_to, reply, send, state,
};
use attache_testkit::editor::{URI, chosen};
use attache_testkit::model_server::gemini;
use attache_testkit::model_server::gemini::{calls, says};
use serde_json::{Value, json};

use super::world::World;
use attache_testkit::pairs::{Ask, Pair};

const QUESTION: &str = "INPUT_REQUIRED I need your answer before I go on:";

/// Nothing here is meant for machines that know more.
#[track_caller]
fn is_plain(value: &Value) {
    let text = value.to_string();
    for sign in ["\"data\"", URI, "tool_call_id", "coderAgent"] {
        assert!(!text.contains(sign), "{sign} in {value:#}");
    }
}

#[track_caller]
fn all_plain(frames: &[SseFrame]) {
    frames.iter().for_each(|frame| is_plain(frame.payload()));
}

#[tokio::test]
async fn they_read_a_question_say_yes_and_get_the_answer_once() {
    let thinks = gemini::answer([gemini::chunk()
        .thought("**Plan** to write")
        .text("I write. ")
        .call("write_file", json!({"file_path": "new.txt", "content": "new\n"}))
        .finish("STOP")
        .usage(1, 1)]);
    let world = World::playing([thinks, says("Done.")]).await;
    let client = world.server.client();
    let asked = frames(&client, "m1", "Write!").await;
    check(&asked, &["task SUBMITTED", "WORKING", "answer-1 = I write. ", QUESTION]);
    all_plain(&asked);
    let question = asked[3].payload()["statusUpdate"]["status"]["message"]["parts"][0]["text"].clone();
    let question = question.as_str().unwrap();
    assert!(question.contains("new.txt") && question.contains("+new") && question.contains("yes or no"));
    let id = asked[0].payload()["task"]["id"].as_str().unwrap();
    let done = answer(&client, id, "m2", "yes").await;
    all_plain(&done);
    check(&done, &["task WORKING", "answer-1 + Done.", "answer-1 +  (.)", "COMPLETED"]);
    assert_eq!(world.file("new.txt").as_deref(), Some("new\n"));
    for pair in Pair::ALL {
        is_plain(&pair.result(&client, &Ask::Get(id.to_owned())).await);
    }
    let task = client.rpc("GetTask", json!({"id": id})).await["result"].clone();
    assert_eq!(
        (answer_text(&task).as_str(), artifact(&task, "answer-1").as_str()),
        ("I write. Done.", "I write. Done.")
    );
    let spoken = task["history"].as_array().unwrap().iter().filter(|it| it.to_string().contains("Done."));
    assert_eq!(spoken.count(), 1, "{task:#}");
}

#[tokio::test]
async fn they_say_no_in_words() {
    let world = World::playing([calls("run_shell_command", json!({"command": "touch made"}))]).await;
    let client = world.server.client();
    let task = send(&client, "m1", "Run!").await;
    is_plain(&task);
    let rests = reply(&client, "m2", &task, "no").await;
    assert_eq!(state(&rests), "TASK_STATE_INPUT_REQUIRED");
    is_plain(&rests);
    assert_eq!(world.file("made"), None);
}

#[tokio::test]
async fn they_may_watch_and_answer_what_an_editor_has_begun() {
    let world =
        World::playing([calls("run_shell_command", json!({"command": "touch made"})), says("Done.")]).await;
    let asked = world.editor().ask("m1", "Run!").await;
    let id = asked.task();
    // Naming others says that this one is not known.
    let plain = world.server.client().with("A2A-Extensions", "https://example.com/x");
    let task = plain.rpc("GetTask", json!({"id": id})).await["result"].clone();
    assert_eq!(state(&task), "TASK_STATE_INPUT_REQUIRED");
    is_plain(&task["status"]);
    assert!(task["status"]["message"]["parts"][0]["text"].as_str().unwrap().contains("touch made"));
    let mut watching = plain.rpc_stream("SubscribeToTask", json!({"id": id})).await;
    assert_eq!(watching.header("a2a-extensions"), None);
    let first = watching.next().await.unwrap();
    let done = plain.rpc_stream("SendStreamingMessage", message_to(id, "m2", "yes")).await.rest().await;
    let rest = ["WORKING", "answer-1 = Done.", "answer-1 +  (.)", "COMPLETED"];
    check(&done, &[&["task WORKING"], &rest[1..]].concat());
    let watched: Vec<_> = [first].into_iter().chain(watching.rest().await).collect();
    check(&watched, &[&["task INPUT_REQUIRED"], &rest[..]].concat());
    all_plain(&done);
    all_plain(&watched);
    assert!(world.file("made").is_some());
}

#[tokio::test]
async fn an_editor_may_answer_for_them_in_its_own_words() {
    let world =
        World::playing([calls("run_shell_command", json!({"command": "touch made"})), says("Done.")]).await;
    let task = send(&world.server.client(), "m1", "Run!").await;
    let id = task["id"].as_str().unwrap();
    let mut watching = world.server.client().rpc_stream("SubscribeToTask", json!({"id": id})).await;
    watching.next().await.unwrap();
    let editor = world.editor();
    let seen = editor.task(id).await;
    let parts = seen["status"]["message"]["parts"].as_array().unwrap();
    let call = parts.iter().find_map(|part| part["content"].get("data")).unwrap();
    let done = editor.answer(id, "m2", &[chosen(call, "proceed_once")]).await;
    done.check(&[
        "TOOL_CALL_UPDATE working run_shell_command EXECUTING",
        "TOOL_CALL_UPDATE working run_shell_command SUCCEEDED",
        "TEXT_CONTENT working Done.",
        "STATE_CHANGE completed final",
    ]);
    let watched = watching.rest().await;
    check(&watched, &["WORKING", "answer-1 = Done.", "answer-1 +  (.)", "COMPLETED"]);
    all_plain(&watched);
}

#[tokio::test]
async fn who_does_not_say_what_it_speaks_is_taken_for_who_opened_the_task() {
    let world =
        World::playing([calls("run_shell_command", json!({"command": "touch made"})), says("Done.")]).await;
    let editor = world.editor();
    let asked = editor.ask("m1", "Run!").await;
    let silent = world.server.client();
    let task = silent.rpc("tasks/get", json!({"id": asked.task()})).await["result"].clone();
    let shown = &task["status"]["message"]["parts"];
    assert!(shown.to_string().contains("confirmation_request"), "{task:#}");
    let params = editor.answers(asked.task(), "m2", &[chosen(&asked.only_asked(), "proceed_once")]);
    let stream = silent.rpc_stream("message/stream", params).await.rest().await;
    assert!(stream.iter().all(|frame| frame.raw.contains(URI)), "{stream:#?}");
}

#[tokio::test]
async fn a_plain_task_that_is_over_stays_over() {
    let world = World::playing([says("Hello."), says("Never.")]).await;
    let client = world.server.client();
    let task = client.rpc("SendMessage", message("m1", "Hi!")).await["result"]["task"].clone();
    let refused = reply(&client, "m2", &task, "And?").await;
    assert_eq!(refused["error"]["code"], -32004, "{refused:#}");
    let editor = world.editor();
    let refused = editor.refused(editor.pair.text_to(task["id"].as_str().unwrap(), "m3", "And?")).await;
    assert_eq!(refused.code, Some(-32004), "how it ends was fixed when it was opened: {refused:#?}");
    assert_eq!(world.model.received().len(), 1);
}
