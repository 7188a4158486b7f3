//! Commands that need an approval: asked in the RFC's way, answered, refused, and after a crash.

use attache_testkit::CommandEvents;
use attache_testkit::ServerLaunch;
use serde_json::json;

use super::world::World;
use crate::agent_world::{says, write};

/// A project with a command that runs another.
fn with_shell(launch: ServerLaunch) -> ServerLaunch {
    let file =
        "description = \"Looks around.\"\nprompt = \"What is this?\\n!{touch made; echo seen-{{args}}}\"\n";
    write(&launch, "work/.gemini/commands/look.toml", file);
    launch
}

#[track_caller]
fn check_asked(told: &CommandEvents, status: &str, tool: &str) {
    assert_eq!((told.status(), told.state()), (status, "input-required"));
    assert_eq!((&told.asked()["tool_name"], &told.asked()["status"]), (&json!(tool), &json!("PENDING")));
    assert!(
        told.response["message"].as_str().unwrap().starts_with("the command waits"),
        "{:#}",
        told.response
    );
}

#[tokio::test]
async fn a_fact_is_remembered_once_a_person_agrees() {
    let world = World::silent().await;
    let asked = world.line("/memory add tabs, not spaces").await;
    check_asked(&asked, "AWAITING_ACTION_CONFIRMATION", "save_memory");
    assert_eq!(world.file("GEMINI.md"), None);
    let told = world.answer(&asked, "proceed_once").await;
    assert_eq!(told.state(), "completed");
    assert_eq!(told.text(), "Remembered: tabs, not spaces");
    assert!(told.calls().any(|call| call["status"] == "SUCCEEDED"), "{told:#?}");
    assert_eq!(told.data()["saved"], true);
    assert!(world.file("GEMINI.md").unwrap().contains("- tabs, not spaces"));
    // Words answer as well.
    let asked = world.line("/memory add short lines").await;
    let message = json!({"messageId": "w1", "taskId": asked.task(), "kind": "message", "role": "user",
        "parts": [{"kind": "text", "text": "yes"}]});
    let answer = world.server.client().rpc("message/send", json!({ "message": message })).await;
    assert_eq!(answer["result"]["status"]["state"], "completed", "{answer:#}");
    assert!(world.file("GEMINI.md").unwrap().contains("- short lines"));
    assert!(world.model.received().is_empty());
}

#[tokio::test]
async fn a_shell_command_of_a_prompt_runs_once_a_person_agrees_also_after_kill_9() {
    let world = World::with([says("A project.")], with_shell).await;
    let asked = world.line("/look").await;
    let told = world.answer(&asked, "cancel").await;
    assert_eq!(told.state(), "completed");
    assert!(told.text().contains("was refused"), "{}", told.text());
    assert!(world.file("made").is_none() && world.model.received().is_empty(), "its prompt is not put");
    let asked = world.line("/look here").await;
    check_asked(&asked, "AWAITING_SHELL_CONFIRMATION", "run_shell_command");
    let details = &asked.asked()["confirmation_request"]["execute_details"];
    assert_eq!(details["command"], "touch made; echo seen-'here'", "{:#}", asked.asked());
    let world = world.crash().await;
    let task = world.task(asked.task()).await;
    assert_eq!(task["status"]["state"], "input-required");
    assert_eq!(world.file("made"), None);
    let told = world.answer(&asked, "proceed_once").await;
    assert_eq!((told.state(), told.text().as_str()), ("completed", "A project."));
    assert!(world.file("made").is_some());
    let prompt = world.told()["contents"].to_string();
    assert!(prompt.contains("What is this?") && prompt.contains("seen-here"), "{prompt}");
    assert!(
        !prompt.contains("/look") && !prompt.contains("functionCall"),
        "only the prompt is put: {prompt}"
    );
}

#[tokio::test]
async fn what_is_allowed_anyway_is_not_asked_about() {
    let yolo = |launch| with_shell(launch).argument("--approval-mode").argument("yolo");
    let world = World::with([says("A project.")], yolo).await;
    let told = world.line("/look").await;
    assert_eq!((told.status(), told.state()), ("STARTED", "completed"));
    assert!(world.file("made").is_some());
}
