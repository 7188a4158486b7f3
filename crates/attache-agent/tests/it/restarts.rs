//! What was under way goes on, and what was done is not done again.

use attache_domain::TaskState;

use crate::world::{World, calls, says};

#[tokio::test]
async fn a_question_survives_a_restart() {
    let world = World::new([calls("", &["a write"]), says("Done.")]).await;
    let view = world.send("Write!").await;
    let world = world.restart().await;
    let view = world.reply(&view.task, "yes").await.unwrap();
    assert_eq!(view.status.state, TaskState::Completed);
    assert_eq!(world.tools.done(), ["write a proposed"]);
}

#[tokio::test]
async fn a_call_that_had_started_is_not_run_again_by_itself() {
    let world = World::new([calls("", &["a slow"])]).await;
    world.send_until("Go!", "begin a").await;
    world.model.scripts.lock().unwrap().push_back(says("I see."));
    let world = world.restart().await;
    while world.model.prompts.lock().unwrap().len() < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.tools.done(), ["begin a"]);
    assert!(world.model.heard()[2].starts_with("results: !The server stopped while this was running."));
}

#[tokio::test]
async fn a_cancelled_task_drops_its_calls() {
    let world = World::new([calls("", &["a slow"])]).await;
    world.send_until("Go!", "begin a").await;
    let view = world.cancel_newest().await;
    assert_eq!(view.status.state, TaskState::Canceled);
    world.tools.go.add_permits(1);
    tokio::task::yield_now().await;
    assert_eq!(world.tools.done(), ["begin a"]);
}
