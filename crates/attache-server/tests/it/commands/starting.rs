//! `command/execute`: what is answered, and how what happens is followed.

use attache_domain::DuplicateWindow;
use attache_testkit::{CommandEvents, check_command_response};
use serde_json::{Value, json};

use super::world::{World, command};
use crate::world::launch;

#[tokio::test]
async fn the_answer_comes_first_and_then_the_events() {
    let world = World::start().await;
    let told = world.line("/memory list").await;
    assert_eq!(told.response["execution_id"], told.task());
    assert_eq!((told.status(), told.state()), ("STARTED", "completed"));
    assert_eq!(told.events[0]["kind"], "task");
    assert_eq!(told.text(), "There are no context files.");
    assert_eq!(told.data(), &json!({"files": []}));
}

#[tokio::test]
async fn without_a_stream_the_task_is_followed_by_its_id() {
    let world = World::start().await;
    let response = world.give(command("/memory list")).await;
    assert_eq!(response["status"], "STARTED");
    let id = response["execution_id"].as_str().unwrap();
    let mut stream = world.client().rpc_stream("tasks/resubscribe", json!({"id": id})).await;
    let told = CommandEvents::of_message(stream.rest().await);
    assert_eq!(told.task(), id);
    // A stream from the start has every event.
    let client = world.client().with("last-event-id", "1");
    let mut stream = client.rpc_stream("tasks/resubscribe", json!({"id": id})).await;
    let told = CommandEvents::of_message(stream.rest().await);
    assert_eq!((told.state(), told.text().as_str()), ("completed", "There are no context files."));
}

#[tokio::test]
async fn every_way_in_gives_commands() {
    let world = World::start().await;
    let client = world.server.client();
    let params = json!({"command_path": ["memory", "list"]});
    for method in ["command/execute", "commands/execute"] {
        let older = client.rpc(method, params.clone()).await;
        assert_eq!(check_command_response(&older["result"])["status"], "STARTED", "{method}");
        let newer = client.with("A2A-Version", "1.0").rpc(method, params.clone()).await;
        assert_eq!(check_command_response(&newer["result"])["status"], "STARTED", "{method}");
    }
    for path in ["/commands:execute", "/v1/commands:execute"] {
        let answer = client.post(path, &params).await;
        assert_eq!(check_command_response(&answer.json())["status"], "STARTED", "{path}");
        let mut stream = client.with("accept", "text/event-stream").post_stream(path, &params).await;
        let frames = stream.rest().await;
        assert_eq!(check_command_response(frames[0].payload())["status"], "STARTED", "{path}");
        let events: String = frames[1..].iter().map(|frame| frame.payload().to_string()).collect();
        assert!(
            events.contains("There are no context files.") && events.contains("TEXT_CONTENT"),
            "{events}"
        );
    }
}

async fn refused(world: &World, params: Value, part: &str) {
    let message = world.refused(params).await;
    assert!(message.contains(part), "{message}");
}

#[tokio::test]
async fn what_cannot_start_leaves_nothing_behind() {
    let world = World::start().await;
    refused(&world, command("/memroy show"), "did you mean `/memory`?").await;
    refused(&world, command("/memory shwo"), "did you mean `/memory show`?").await;
    refused(&world, command("/memory add"), "usage: /memory add <text>").await;
    refused(&world, command("/stats now"), "it takes no arguments").await;
    refused(&world, command("/model set two words"), "a model's name is one word").await;
    refused(&world, json!({"command_path": [""]}), "no command is named").await;
    assert_eq!(world.tasks().await, 0);
}

#[tokio::test]
async fn a_command_that_is_sent_again_is_recognised() {
    let world =
        World::of(launch().session(|options| options.duplicate_sends = DuplicateWindow::Always)).await;
    let mut params = command("/memory list");
    params["messageId"] = "again-1".into();
    let first = world.give(params.clone()).await;
    let second = world.run(params).await;
    assert_eq!(first["execution_id"], second.task());
    assert_eq!(second.text(), "There are no context files.");
    assert_eq!(world.tasks().await, 1);
}

#[tokio::test]
async fn a_command_has_a_task_also_where_the_model_would_reply_without_one() {
    let world = World::start().await;
    let mut params = command("/memory list");
    params["messageId"] = "bare-1".into();
    let told = world.run(params).await;
    assert_eq!((told.state(), told.text().as_str()), ("completed", "There are no context files."));
    assert_eq!(world.tasks().await, 1);
}

#[tokio::test]
async fn paths_are_understood_as_people_write_them() {
    let world = World::start().await;
    for path in [json!(["memory", "list"]), json!(["/memory", "list"]), json!(["/memory list"])] {
        let told = world.run(json!({ "command_path": path })).await;
        assert_eq!(told.data(), &json!({"files": []}), "{path}");
        let task = world.task(told.task()).await;
        assert_eq!(task["history"][0]["parts"][0]["text"], "/memory list");
    }
}

#[tokio::test]
async fn help_tells_how_one_command_is_given() {
    let world = World::start().await;
    let told = world.line("/help memory add").await;
    assert!(told.text().contains("/memory add <text>"), "{}", told.text());
    let message = world.refused(command("/help nonsense")).await;
    assert!(message.contains("there is no command `/nonsense`"), "{message}");
}

#[tokio::test]
async fn an_unknown_task_takes_no_command() {
    let world = World::start().await;
    let mut params = command("/stats");
    params["taskId"] = "nothing".into();
    let answer = world.client().rpc("command/execute", params).await;
    assert_eq!(answer["error"]["code"], -32001, "{answer:#}");
}
