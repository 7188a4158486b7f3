//! Keys of clients in the settings of messages: they are kept in memory, and nothing that is stored or shown holds them.

use attache_wire::devtool;
use serde_json::json;

use crate::world::launch;

const KEY: &str = "sk-of-a-client-78";

#[tokio::test]
async fn a_key_in_the_metadata_of_a_message_is_taken_out() {
    let server = launch().durable().start().await;
    let client = server.client();
    for (index, member) in ["coderAgent", "attache", devtool::URI].into_iter().enumerate() {
        let settings = json!({"kind": "agent-settings", "apiKey": KEY});
        let settings = if member == "attache" { json!({"apiKey": KEY}) } else { settings };
        let message = json!({"messageId": format!("m-{index}"), "role": "ROLE_USER", "parts": [{"text": "echo x"}],
            "metadata": {member: settings}});
        let request = json!({"message": message, "metadata": {member: {"api_key": KEY}}});
        let answer = client.post("/message:send", &request).await;
        assert_eq!(answer.status, 200, "{member}: {}", answer.text());
        assert!(!answer.text().contains(KEY), "{member}: {}", answer.text());
    }
    let listed = client.get("/tasks?historyLength=9").await.text();
    assert!(listed.contains("agent-settings") && !listed.contains(KEY), "{listed}");
    for file in server.files() {
        let bytes = std::fs::read(&file).unwrap();
        let found = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
        assert!(!found, "{}", file.display());
    }
}

#[tokio::test]
async fn a_key_that_cannot_be_one_is_refused_and_not_quoted() {
    let server = launch().start().await;
    let client = server.client();
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "echo x"}],
        "metadata": {"coderAgent": {"kind": "agent-settings", "apiKey": "two words"}}});
    let refused = client.post("/message:send", &json!({ "message": message })).await;
    assert_eq!(refused.status, 400, "{}", refused.text());
    assert!(refused.text().contains("message.metadata.coderAgent.apiKey"), "{}", refused.text());
    assert!(!refused.text().contains("two words"), "{}", refused.text());
}
