//! Commands in a conversation: what they change for the turns after them. What the model hears is tested in `attache-agent`.

use serde_json::json;

use super::world::{URI, World, command};
use crate::agent_world::says;

/// The name of the model in the path of the latest request.
fn asked_model(world: &World) -> String {
    world.model.received().last().unwrap().target.clone()
}

#[tokio::test]
async fn memory_that_is_read_again_is_in_the_next_prompt() {
    let world = World::playing([says("One."), says("Two."), says("Three.")]).await;
    world.say_in("talk", "m1", "Hello").await;
    let asked = world.line_in("talk", "/memory add tabs, not spaces").await;
    world.answer(&asked, "proceed_once").await;
    world.say_in("talk", "m2", "And now?").await;
    assert!(
        !world.told().to_string().contains("tabs, not spaces"),
        "a prompt changes when somebody wants that"
    );
    let told = world.line_in("talk", "/memory refresh").await;
    assert!(told.text().starts_with("Read again: 1 file"), "{}", told.text());
    world.say_in("talk", "m3", "And now?").await;
    assert!(world.told().to_string().contains("tabs, not spaces"), "{:#}", world.told());
}

#[tokio::test]
async fn a_chosen_model_answers_from_then_on_also_after_a_restart() {
    let world = World::playing([says("One."), says("Two."), says("Three."), says("Four.")]).await;
    world.say_in("talk", "m1", "Hello").await;
    assert!(asked_model(&world).contains("gemini-2.5-pro"), "{}", asked_model(&world));
    let told = world.line_in("talk", "/model set gemini-2.5-flash").await;
    assert_eq!(told.text(), "From now on gemini-2.5-flash answers in this conversation.");
    assert_eq!(told.context(), "talk");
    world.say_in("talk", "m2", "Who are you?").await;
    assert!(asked_model(&world).contains("gemini-2.5-flash"), "{}", asked_model(&world));
    let world = world.crash().await;
    world.say_in("talk", "m3", "And now?").await;
    assert!(asked_model(&world).contains("gemini-2.5-flash"), "{}", asked_model(&world));
    assert_eq!(world.line_in("talk", "/model").await.data()["model"], "gemini-2.5-flash");
    world.say_in("another", "m4", "And you?").await;
    assert!(asked_model(&world).contains("gemini-2.5-pro"), "{}", asked_model(&world));
}

#[tokio::test]
async fn the_latest_word_about_the_model_counts() {
    let world = World::playing([says("One."), says("Two.")]).await;
    let opened = world.say_in("talk", "m1", "Hello").await;
    let mut params = command("/model set gemini-2.5-flash");
    params["taskId"] = opened.task().into();
    world.run(params).await;
    let message = json!({"messageId": "m2", "taskId": opened.task(), "kind": "message", "role": "user",
        "parts": [{"kind": "text", "text": "Go on"}], "metadata": {URI: {"model": "gemini-2.5-flash-lite"}}});
    world.client().rpc("message/send", json!({ "message": message })).await;
    assert!(asked_model(&world).contains("gemini-2.5-flash-lite"), "{}", asked_model(&world));
}

#[tokio::test]
async fn a_model_that_cannot_be_had_is_not_chosen() {
    let world = World::playing([says("One.")]).await;
    let told = world.line_in("talk", "/model set openai:gpt-4o").await;
    assert_eq!(told.state(), "failed");
    assert!(told.last_words().contains("OPENAI_API_KEY"), "{}", told.last_words());
    world.say_in("talk", "m1", "Hello").await;
    assert!(asked_model(&world).contains("gemini-2.5-pro"), "{}", asked_model(&world));
}
