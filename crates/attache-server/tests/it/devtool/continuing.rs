//! A finished task of an editor continues under the same id, for clients that support it.

use attache_testkit::editor::{Exchange, URI};
use attache_testkit::model_server::gemini;
use attache_testkit::model_server::gemini::{calls, says};
use serde_json::json;

use super::world::World;
use attache_testkit::pairs::{Ask, Pair};

#[tokio::test]
async fn a_completed_task_goes_on_with_all_that_was_said() {
    for pair in Pair::ALL {
        let world = World::playing([says("One."), says("Two."), says("Three.")]).await;
        let editor = world.editor_on(pair);
        let first = editor.ask("m1", "First?").await;
        let second = editor.ask_more(first.task(), "m2", "Second?").await;
        assert_eq!((second.task(), second.context()), (first.task(), first.context()), "{pair:?}");
        assert_eq!((second.said().as_str(), second.last().state()), ("Two.", "completed"), "{pair:?}");
        // Also with a blocking send.
        let third = editor.send(pair.text_to(first.task(), "m3", "Third?")).await;
        assert_eq!(third["status"]["state"], "completed", "{pair:?}");
        let history = third["history"].as_array().unwrap().clone();
        let said: Vec<_> = history.iter().map(|message| &message["parts"][0]["content"]["text"]).collect();
        assert_eq!(said, ["First?", "One.", "Second?", "Two.", "Third?", "Three."], "{pair:?}");
        let told = world.told();
        assert!(["First?", "One.", "Second?", "Two."].iter().all(|it| told.contains(it)), "{told}");
    }
}

#[tokio::test]
async fn it_goes_on_after_kill_9_too() {
    let world = World::playing([says("One."), says("Two.")]).await;
    let first = world.editor().ask("m1", "First?").await;
    let world = world.crash().await;
    let second = world.editor().ask_more(first.task(), "m2", "Second?").await;
    assert_eq!((second.said().as_str(), second.last().state()), ("Two.", "completed"));
    assert!(world.told().contains("One."), "{}", world.told());
    let name = |exchange: &Exchange| {
        let text = exchange.events.iter().find(|event| event.kind() == "TEXT_CONTENT").unwrap();
        text.message()["id"].clone()
    };
    assert_ne!(name(&first), name(&second), "who puts pieces together by their names must not mix them");
}

#[tokio::test]
async fn a_failed_task_goes_on() {
    let bad = gemini::error(400, "INVALID_ARGUMENT", "Please use a valid role.", json!([]));
    let world = World::playing([bad, says("Better.")]).await;
    let editor = world.editor();
    let first = editor.ask("m1", "First?").await;
    assert_eq!(first.last().state(), "failed");
    let second = editor.ask_more(first.task(), "m2", "Try again!").await;
    second.check(&["STATE_CHANGE working", "TEXT_CONTENT working Better.", "STATE_CHANGE completed final"]);
    assert!(second.last().metadata().get("error").is_none());
    assert!(world.told().contains("First?") && world.told().contains("Try again!"));
}

#[tokio::test]
async fn a_canceled_task_does_not() {
    let world = World::playing([calls("run_shell_command", json!({"command": "touch made"}))]).await;
    let editor = world.editor();
    let asked = editor.ask("m1", "Run!").await;
    editor.cancel(asked.task()).await;
    for pair in Pair::ALL {
        let editor = world.editor_on(pair);
        let refused = editor.refused(pair.text_to(asked.task(), "m2", "Go on!")).await;
        assert_eq!(refused.code, (pair != Pair::Rest10).then_some(-32004), "{pair:?}: {refused:#?}");
        assert!(refused.message.contains("same context"), "{}", refused.message);
    }
    assert_eq!(world.model.received().len(), 1);
}

#[tokio::test]
async fn who_says_that_it_speaks_something_else_is_told_to_open_another() {
    let world = World::playing([says("One."), says("Two.")]).await;
    let first = world.editor().ask("m1", "First?").await;
    for pair in Pair::ALL {
        let plain = world
            .server
            .client()
            .with("A2A-Extensions", "https://example.com/x")
            .with("X-A2A-Extensions", "https://example.com/x");
        let refused = pair.call(&plain, &Ask::Send(pair.text_to(first.task(), "m2", "And?"))).await.refusal();
        assert_eq!(refused.code, (pair != Pair::Rest10).then_some(-32004), "{pair:?}: {refused:#?}");
    }
    let second = world.editor().ask_more(first.task(), "m3", "Second?").await;
    assert_eq!(second.said(), "Two.");
}

#[tokio::test]
async fn a_message_that_came_before_does_not_open_it_again() {
    let world = World::playing([says("One."), says("Two.")]).await;
    let editor = world.editor();
    let editor = editor.with("A2A-Extensions", &format!("{}, urn:attache:extension:idempotent-send:v1", URI));
    let first = editor.ask("m1", "First?").await;
    let params = editor.pair.text_to(first.task(), "m2", "Second?");
    editor.exchange(params.clone()).await;
    let again = editor.send(params).await;
    assert_eq!(again["status"]["state"], "completed");
    assert_eq!(world.model.received().len(), 2);
}

#[tokio::test]
async fn without_the_extension_a_message_that_came_before_is_said_again() {
    let world = World::playing([says("One."), says("Two."), says("Three.")]).await;
    let editor = world.editor();
    let first = editor.ask("m1", "First?").await;
    let params = editor.pair.text_to(first.task(), "m2", "Second?");
    editor.exchange(params.clone()).await;
    assert_eq!(editor.exchange(params).await.said(), "Three.");
}
