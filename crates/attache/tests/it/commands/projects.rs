//! `init`: the model looks at the project and writes down what it found.

use serde_json::json;

use super::world::World;
use crate::agent_world::{calls, says, write};

const FOUND: &str = "# Greetings\n\nOne file that greets.\n";

#[tokio::test]
async fn the_model_writes_the_file_once_a_person_agrees_and_only_once() {
    let world = World::playing([
        calls("read_file", json!({"file_path": "hello.txt"})),
        calls("write_file", json!({"file_path": "GEMINI.md", "content": FOUND})),
        says("I wrote it down."),
    ])
    .await;
    let asked = world.line("/init").await;
    assert_eq!((asked.status(), asked.state()), ("STARTED", "input-required"));
    assert_eq!(asked.asked()["tool_name"], "write_file");
    assert_eq!(world.file("GEMINI.md"), None);
    let told = world.answer(&asked, "proceed_once").await;
    assert_eq!((told.state(), told.text().as_str()), ("completed", "I wrote it down."));
    assert_eq!(world.file("GEMINI.md").unwrap(), FOUND);
    assert!(!world.ever_told().contains("\"/init\""));
    let again = world.line("/init").await;
    assert_eq!(again.state(), "completed");
    assert_eq!(again.data(), &json!({"file": "GEMINI.md", "changed": false}));
    assert!(again.text().contains("nothing was changed"), "{}", again.text());
    assert_eq!(world.model.received().len(), 3);
    assert_eq!(world.file("GEMINI.md").unwrap(), FOUND);
}

#[tokio::test]
async fn an_empty_file_is_filled() {
    let world = World::with(
        [calls("write_file", json!({"file_path": "GEMINI.md", "content": FOUND})), says("Done.")],
        |launch| {
            write(&launch, "work/GEMINI.md", "\n");
            launch.argument("--approval-mode").argument("yolo")
        },
    )
    .await;
    assert_eq!(world.line("/init").await.state(), "completed");
    assert_eq!(world.file("GEMINI.md").unwrap(), FOUND);
}

#[tokio::test]
async fn a_crash_while_the_model_answers_says_nothing_twice() {
    let cut = attache_testkit::model_server::gemini::answer([
        attache_testkit::model_server::gemini::chunk().text("I begin to ")
    ])
    .hold();
    let world = World::playing([cut, says("There is one file.")]).await;
    let mut params = super::world::command("/init");
    params["messageId"] = "init-1".into();
    let client = world.client().with("accept", "text/event-stream");
    let mut stream = client.rpc_stream("command/execute", params.clone()).await;
    stream.until(|frame| frame.payload().to_string().contains("I begin to ")).await;
    let world = world.crash().await;
    let told = world.run(params).await;
    let task = world.task(told.task()).await;
    assert_eq!(task["status"]["state"], "completed", "{task:#}");
    assert_eq!(task["history"][1]["parts"][0]["text"], "There is one file.", "{task:#}");
}
