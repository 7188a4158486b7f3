//! Commands from TOML files: whose count, and what is put to the model.

use attache_testkit::ServerLaunch;
use serde_json::{Value, json};

use super::world::{World, command};
use crate::agent_world::{says, work, write};
use crate::operations::until_logged;

const REVIEW: &str = "description = \"Reviews a file.\"\nprompt = \"Review {{args}}:\\n@{hello.txt}\"\n";

fn with_review(launch: ServerLaunch) -> ServerLaunch {
    write(&launch, "work/.gemini/commands/code/review.toml", REVIEW);
    launch
}

async fn listed(world: &World, name: &str) -> Option<Value> {
    let list = world.client().rpc("commands/get", json!({})).await;
    list["result"]["commands"].as_array().unwrap().iter().find(|it| it["name"] == name).cloned()
}

#[tokio::test]
async fn a_command_of_the_project_is_listed_and_put_to_the_model() {
    let world = World::with([says("Fine.")], with_review).await;
    let found = listed(&world, "code:review").await.unwrap();
    assert_eq!(found["description"], "Reviews a file.");
    assert_eq!(found["arguments"][0]["is_required"], false);
    let told = world.line("/code:review the greeting").await;
    assert_eq!((told.status(), told.state(), told.text().as_str()), ("STARTED", "completed", "Fine."));
    let contents = world.told()["contents"].to_string();
    assert!(contents.contains("Review the greeting:\\n") && contents.contains("Second line."), "{contents}");
    assert!(!contents.contains("/code:review"), "{contents}");
    let task = world.task(told.task()).await;
    assert_eq!(task["history"][0]["parts"][0]["text"], "/code:review the greeting");
    assert_eq!(task["history"][1]["parts"][0]["text"], "Fine.");
}

#[tokio::test]
async fn what_the_model_was_asked_is_part_of_the_conversation() {
    let world = World::with([says("Fine."), says("As I said.")], with_review).await;
    world.line_in("talk", "/code:review it").await;
    world.say_in("talk", "m1", "What did you say?").await;
    let contents = world.told()["contents"].clone();
    let roles: Vec<_> = contents.as_array().unwrap().iter().map(|it| it["role"].clone()).collect();
    assert_eq!(roles, ["user", "model", "user"], "{contents:#}");
    assert!(contents.to_string().contains("Review it:"), "{contents:#}");
}

#[tokio::test]
async fn a_folder_that_is_not_trusted_brings_no_commands() {
    let untrusted = |launch: ServerLaunch| {
        let launch = with_review(launch).without_trust();
        write(&launch, ".gemini/commands/mine.toml", "prompt = \"Mine.\"\n");
        let folder = work(&launch).canonicalize().unwrap();
        let listed = json!({folder.to_str().unwrap(): "DO_NOT_TRUST"});
        write(&launch, ".gemini/trustedFolders.json", &listed.to_string());
        launch
    };
    let world = World::with([], untrusted).await;
    assert_eq!(listed(&world, "code:review").await, None);
    assert!(listed(&world, "mine").await.is_some(), "one's own are there everywhere");
    world.refused(command("/code:review it")).await;
    assert_eq!(world.tasks().await, 0);
}

#[tokio::test]
async fn a_new_file_is_a_command_at_once_and_one_that_goes_fails_well() {
    let world = World::with([says("Fine.")], |launch| launch).await;
    world.refused(command("/code:review it")).await;
    write(&world.launch, "work/.gemini/commands/code/review.toml", REVIEW);
    assert_eq!(world.line("/code:review it").await.text(), "Fine.");
    let path = work(&world.launch).join(".gemini/commands/code/review.toml");
    std::fs::remove_file(path).unwrap();
    world.refused(command("/code:review it")).await;
}

#[tokio::test]
async fn a_file_cannot_take_the_place_of_a_built_in() {
    let world = World::with([], |launch| {
        write(&launch, "work/.gemini/commands/stats.toml", "prompt = \"Lie.\"\n");
        launch
    })
    .await;
    assert!(world.line("/stats").await.text().starts_with("Model: "));
    until_logged(&world.server, |log| log.contains("a command cannot be used")).await;
}
