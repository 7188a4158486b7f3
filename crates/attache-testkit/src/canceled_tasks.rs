//! Cancels tasks, and checks that they stay canceled.

use serde_json::{Value, json};

use crate::TestClient;
use crate::agent_client::{answer_text, message_to, send, state, task};
use crate::model_server::ModelServer;
use crate::model_server::gemini::says;

/// Cancels, and shows the task as it is then.
pub async fn cancel(client: &TestClient, id: &str) -> Value {
    let canceled = client.rpc("CancelTask", json!({"id": id})).await["result"].clone();
    assert_eq!(state(&canceled), "TASK_STATE_CANCELED", "{canceled:#}");
    canceled
}

/// It stays canceled, it cannot be continued, and the model, which has one more answer, is not asked for it.
pub async fn is_over(client: &TestClient, model: &ModelServer, id: &str) {
    let before = model.received().len();
    for (number, text) in ["yes", "Go on!"].iter().enumerate() {
        let refused = client.rpc("SendMessage", message_to(id, &format!("late-{number}"), text)).await;
        assert_eq!(refused["error"]["code"], -32004, "{refused:#}");
    }
    let again = client.rpc("CancelTask", json!({"id": id})).await;
    assert_eq!(again["error"]["code"], -32002, "{again:#}");
    model.plan(says("Still here."));
    let other = send(client, &format!("other-than-{id}"), "Are you there?").await;
    assert_eq!(answer_text(&other), "Still here.");
    assert_eq!(model.received().len(), before + 1, "nobody else asked the model");
    assert_eq!(state(&task(client, id).await), "TASK_STATE_CANCELED");
}
