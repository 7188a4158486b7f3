//! Commands in a conversation: what they change for the turns after them, and what the model hears of them.

use serde_json::{Value, json};

use super::world::{URI, World, command};
use crate::agent_world::{calls, says};

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

#[tokio::test]
async fn a_conversation_is_summed_up_and_the_next_prompt_is_shorter() {
    let long: String = (0..400).map(|number| format!("Fox {number} has {} hairs. ", number * 71)).collect();
    let summary = "<state_snapshot>The person likes foxes.</state_snapshot>";
    let world = World::playing([says(&long), says(summary), says("Yes, foxes.")]).await;
    world.say_in("talk", "m1", "Tell me about foxes").await;
    let told = world.line_in("talk", "/compress").await;
    assert_eq!(told.state(), "completed");
    assert!(told.text().starts_with("Our conversation took about "), "{}", told.text());
    world.say_in("talk", "m2", "Which animals?").await;
    let prompt = world.told()["contents"].to_string();
    assert!(prompt.contains("The person likes foxes."), "{prompt}");
    assert!(!prompt.contains("hairs") && !prompt.contains("compress"), "{prompt}");
}

#[tokio::test]
async fn a_summary_that_cannot_be_had_changes_nothing() {
    let refusal = attache_testkit::model_server::gemini::error(400, "INVALID_ARGUMENT", "no", json!([]));
    let world = World::playing([says("Foxes are fine."), refusal, says("Still here.")]).await;
    world.say_in("talk", "m1", "Tell me about foxes").await;
    let told = world.line_in("talk", "/compress").await;
    assert_eq!(told.state(), "completed");
    assert!(told.text().contains("stays unchanged"), "{}", told.text());
    world.say_in("talk", "m2", "And?").await;
    assert!(world.told()["contents"].to_string().contains("Foxes are fine."));
}

#[tokio::test]
async fn figures_are_those_of_the_conversation() {
    let world =
        World::playing([calls("read_file", json!({"file_path": "hello.txt"})), says("Two lines.")]).await;
    world.say_in("talk", "m1", "What is in hello.txt?").await;
    let told = world.line_in("talk", "/stats").await;
    let figures = told.data();
    assert_eq!(
        (&figures["tasks"], &figures["answers"], &figures["calls"]),
        (&json!(2), &json!(2), &json!(1))
    );
    assert_eq!(figures["usage"]["totalTokens"], 220);
    assert_eq!(world.line_in("another", "/stats").await.data()["answers"], 0);
}

#[tokio::test]
async fn the_model_never_hears_of_commands() {
    let world = World::playing([says("One."), says("Two."), says("Three.")]).await;
    world.line_in("talk", "/tools desc").await;
    world.say_in("talk", "m1", "Hello").await;
    world.line_in("talk", "/stats").await;
    let asked = world.line_in("talk", "/memory add secret-fact-7").await;
    world.answer(&asked, "cancel").await;
    world.say_in("talk", "m2", "Hello again").await;
    let contents = world.told()["contents"].clone();
    let texts: Vec<_> = contents.as_array().unwrap().iter().map(|it| it["role"].clone()).collect();
    assert_eq!(texts, ["user", "model", "user"], "{contents:#}");
    for word in ["/stats", "Tokens: ", "/tools", "/memory", "secret-fact-7"] {
        assert!(!contents.to_string().contains(word), "{word}: {contents:#}");
    }
    // Nor when it happens in the very task.
    let mut params = command("/about");
    let opened = world.say_in("talk", "m3", "Once more").await;
    params["taskId"] = opened.task().into();
    world.run(params).await;
    assert!(!world.ever_told().contains("approval mode"));
}

fn texts(history: &Value) -> Vec<(String, String)> {
    let message = |message: &Value| {
        let text = message["parts"][0]["text"].as_str().unwrap_or_default();
        (message["role"].as_str().unwrap().to_owned(), text.to_owned())
    };
    history.as_array().unwrap().iter().map(message).collect()
}

#[tokio::test]
async fn a_command_within_a_task_is_part_of_its_history() {
    let world = World::playing([says("One."), says("Two.")]).await;
    let opened = world.say_in("talk", "m1", "Hello").await;
    let mut params = command("/memory list");
    params["taskId"] = opened.task().into();
    let told = world.run(params).await;
    assert_eq!(told.response["execution_id"], opened.task());
    assert_eq!((told.state(), told.text().as_str()), ("completed", "There are no context files."));
    let message = json!({"messageId": "m2", "taskId": opened.task(), "kind": "message", "role": "user",
        "parts": [{"kind": "text", "text": "Go on"}]});
    let answer = world.client().rpc("message/send", json!({ "message": message })).await;
    let said = |role: &str, text: &str| (role.to_owned(), text.to_owned());
    let expected = [
        said("user", "Hello"),
        said("agent", "One."),
        said("user", "/memory list"),
        said("agent", "There are no context files."),
        said("user", "Go on"),
        said("agent", "Two."),
    ];
    assert_eq!(texts(&answer["result"]["history"]), expected, "{answer:#}");
    let contents = world.told()["contents"].to_string();
    assert!(!contents.contains("context files") && contents.contains("One."), "{contents}");
    assert_eq!(world.tasks().await, 1);
}
