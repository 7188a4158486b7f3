//! Push notifications of the real binary. What the server alone decides about them is tested in `attache-server`.

mod killing;
mod settings;

use attache_testkit::{ServerLaunch, ServerProcess, TestClient};
use serde_json::{Value, json};

use crate::support::{SCRIPT, launch};

/// Receivers of tests are on this machine, which is not told of anything by itself.
pub(crate) const LOCAL: &str = "[push]\nallow_private_addresses = [\"127.0.0.0/8\"]\n";

pub(crate) fn launch_with(settings: &str) -> ServerLaunch {
    launch().script(SCRIPT).settings(settings)
}

pub(crate) async fn start(settings: &str) -> ServerProcess {
    launch_with(settings).in_memory().start().await
}

/// How a configuration fares, as the header beside it says.
pub(crate) async fn push_state(client: &TestClient, task: &str, id: &str) -> Value {
    let client = client.with("A2A-Version", "1.0");
    let answer = client.get(&format!("/tasks/{task}/pushNotificationConfigs/{id}")).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    serde_json::from_str(answer.header("attache-push-state").unwrap()).unwrap()
}

pub(crate) async fn create(client: &TestClient, task: &str, id: &str, url: &str) -> Value {
    let params = json!({"taskId": task, "id": id, "url": url});
    client.rpc("CreateTaskPushNotificationConfig", params).await
}

/// Parameters of a 1.0 send that wants to be told.
pub(crate) fn told(mut params: Value, id: &str, url: &str) -> Value {
    params["configuration"] = json!({"taskPushNotificationConfig": {"id": id, "url": url}});
    params
}
