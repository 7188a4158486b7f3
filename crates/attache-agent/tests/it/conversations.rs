//! Tasks of one context are one conversation.

use std::sync::Arc;

use attache_domain::TaskState;
use attache_model::offline::OfflineModel;

use crate::world::{Setup, World, calls, says};

#[tokio::test]
async fn a_new_task_goes_on_with_the_conversation_of_those_before() {
    let world = World::new([calls("I look. ", &["a look"]), says("Seen."), says("As I said.")]).await;
    world.send("Look!").await;
    let world = world.restart().await;
    let view = world.send("And?").await;
    assert_eq!(view.status.state, TaskState::Completed);
    assert_eq!(
        world.model.heard(),
        ["user: Look!", "model: I look. <look a>", "results: result of a", "model: Seen.", "user: And?"]
    );
}

#[tokio::test]
async fn turns_of_one_conversation_wait_for_each_other() {
    let world = World::new([calls("", &["a slow"]), says("First."), says("Second.")]).await;
    world.send_until("One", "begin a").await;
    let second = world.send("Two");
    tokio::pin!(second);
    for _ in 0..20 {
        assert!(futures_util::poll!(&mut second).is_pending());
        tokio::task::yield_now().await;
    }
    assert_eq!(world.model.prompts.lock().unwrap().len(), 1, "the second has not begun");
    world.tools.go.add_permits(1);
    assert_eq!(second.await.history.last().unwrap().text(), "Second.");
    assert_eq!(world.model.heard().len(), 5, "{:?}", world.model.heard());
}

#[tokio::test]
async fn a_task_that_waits_its_turn_can_be_cancelled_at_once() {
    let world = World::new([calls("", &["a slow"])]).await;
    world.send_until("One", "begin a").await;
    let cancelled = world.cancel_when_sent("Two").await;
    assert_eq!(cancelled.status.state, TaskState::Canceled);
}

#[tokio::test]
async fn a_language_model_hears_what_was_said_before_it_came() {
    let offline = Setup { built_in: Some(Arc::new(OfflineModel)), ..Setup::default() };
    let world = World::with(offline, [says("Yes.")]).await;
    let first = world.send("Hello").await;
    let said = first.history.last().unwrap().text();
    let world = world.restart_with(Setup::default()).await;
    world.send("Did you say that?").await;
    let said = format!("model: {}", said.trim());
    assert_eq!(world.model.heard(), ["user: Hello", said.as_str(), "user: Did you say that?"]);
}
