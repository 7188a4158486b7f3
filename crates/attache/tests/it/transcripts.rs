//! What the settings, and the log of the process, have to do with a turn. `attache-server` tests turns event by event.

use attache_testkit::model_server::{ModelServer, gemini};
use serde_json::json;

use crate::agent_world::{launch_with, says, start, write};
use crate::watching::{check, frames, message_in};

#[tokio::test]
async fn a_wrong_key_fails_the_task_and_is_shown_nowhere() {
    let details = json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]);
    let wrong = gemini::error(400, "INVALID_ARGUMENT", "key-for-tests is not a valid API key.", details);
    let model = ModelServer::with_responses([wrong]);
    let (_launch, server) = start(&model).await;
    let frames = frames(&server.client(), "m1", "Hello?").await;
    let log = server.log();
    check(&frames, &["task SUBMITTED", "WORKING", "FAILED [credential] …"]);
    let shown: String = frames.iter().map(|frame| frame.raw.clone()).collect();
    assert!(!shown.contains("key-for-tests") && !log.contains("key-for-tests"), "{shown}{log}");
}

#[tokio::test]
async fn a_conversation_has_as_many_answers_as_the_settings_say() {
    let model = ModelServer::with_responses([says("One."), says("Two.")]);
    let launch = launch_with(&model);
    write(&launch, ".gemini/settings.json", "{\"model\": {\"maxSessionTurns\": 1}}");
    let server = launch.start().await;
    let client = server.client();
    let first = frames(&client, "m1", "First").await;
    let context = &first[0].payload()["task"]["contextId"];
    let params = message_in(context, "m2", "Second");
    let second = client.rpc_stream("SendStreamingMessage", params).await.rest().await;
    check(&second, &["task SUBMITTED", "WORKING", "INPUT_REQUIRED [session_limit] …"]);
    assert_eq!(model.received().len(), 1);
}
