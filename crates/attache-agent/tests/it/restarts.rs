//! What was under way goes on, and what was done is not done again.

use attache_domain::{CallStep, Fact, TaskState, TaskView};

use crate::world::{World, calls, says, status_text};

#[tokio::test]
async fn a_question_survives_a_restart() {
    let world = World::new([calls("", &["a write"]), says("Done.")]).await;
    let view = world.send("Write!").await;
    let world = world.restart().await;
    let view = world.reply(&view.task, "yes").await.unwrap();
    assert_eq!(view.status.state, TaskState::Completed);
    assert_eq!(world.tools.done(), ["write a proposed"]);
}

/// A world that stopped in the middle of a call, and its task after the restart.
async fn lost() -> (World, std::sync::Arc<attache_domain::TaskView>) {
    let world = World::new([calls("", &["a slow"]), says("I see.")]).await;
    world.send_until("Go!", "begin a").await;
    let world = world.restart().await;
    let view = world.newest_at_rest().await;
    (world, view)
}

#[tokio::test]
async fn a_call_that_had_started_is_asked_about() {
    let (world, view) = lost().await;
    assert_eq!(view.status.state, TaskState::InputRequired);
    let text = status_text(&view);
    assert!(text.contains("not known whether it took effect"), "{text}");
    assert!(text.contains("Answer with one of: run_again, skip, cancel"), "{text}");
    assert_eq!(world.tools.done(), ["begin a"], "it does not run again by itself");
}

#[tokio::test]
async fn a_lost_call_can_be_done_again() {
    let (world, view) = lost().await;
    world.tools.go.add_permits(1);
    let refused = world.reply(&view.task, "yes").await.unwrap_err().to_string();
    assert!(refused.contains("it takes: run_again, skip, cancel"), "{refused}");
    let view = world.reply(&view.task, "run again").await.unwrap();
    assert_eq!(view.status.state, TaskState::Completed);
    assert_eq!(world.tools.done(), ["begin a", "begin a", "slow a"]);
    assert_eq!(world.model.heard()[2], "results: result of a");
}

#[tokio::test]
async fn a_lost_call_can_be_left_and_the_model_is_told() {
    let (world, view) = lost().await;
    let view = world.reply(&view.task, "skip").await.unwrap();
    assert_eq!(view.status.state, TaskState::Completed);
    assert_eq!(world.tools.done(), ["begin a"]);
    assert!(world.model.heard()[2].starts_with("results: !The server stopped while this was running."));
}

#[tokio::test]
async fn a_question_about_a_lost_call_survives_the_next_restart() {
    let (world, view) = lost().await;
    let world = world.restart().await;
    let view = world.reply(&view.task, "cancel").await.unwrap();
    assert_eq!(view.status.state, TaskState::InputRequired);
    assert!(status_text(&view).contains("What shall I do now"), "{}", status_text(&view));
}

#[tokio::test]
async fn what_was_agreed_to_for_longer_is_known_after_a_restart() {
    let world = World::new([calls("", &["a write"]), says("Done."), says("Hello.")]).await;
    let view = world.send("Write!").await;
    world.reply(&view.task, "always").await.unwrap();
    let world = world.restart().await;
    world.tools.learnt.lock().unwrap().clear();
    world.send("Hello").await;
    assert_eq!(*world.tools.learnt.lock().unwrap(), ["again write proceed_always"]);
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

#[tokio::test]
async fn a_cancelled_task_ends_the_threads_of_its_calls() {
    let world = World::new([calls("", &["thread slow"])]).await;
    world.send_until("Go!", "begin thread").await;
    world.cancel_newest().await;
    let ended = world.tools.until("the thread ends");
    tokio::time::timeout(std::time::Duration::from_secs(20), ended).await.expect("the thread ends");
}

#[tokio::test]
async fn a_whole_answer_is_not_asked_for_again() {
    let world = World::new([says("Only once."), says("Twice?")]).await;
    let view = world.send("Hello").await;
    let events = world.stores.log.read(&view.key(), attache_domain::Seq::START, 1000).await.unwrap();
    // As if everything had stopped right after each of the facts in turn.
    for length in 2..events.len() {
        let view = TaskView::fold(events[..length].iter().map(AsRef::as_ref)).unwrap();
        let answered = events[..length].iter().any(|event| matches!(event.fact, Fact::ModelAnswered(_)));
        let steps = view.progress.work.steps();
        assert_eq!(answered, steps != [CallStep::CallModel], "after {length} facts: {steps:?}");
    }
}
