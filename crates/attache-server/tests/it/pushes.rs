//! Push notifications: configurations on every binding, and a receiver that takes them or does not.

mod configurations;
mod failing;
mod notifications;

use attache_server::PushSenderOptions;
use attache_session::PushOptions;
use attache_testkit::TestClient;
use serde_json::{Value, json};

use crate::world::{TestServer, launch, push_with};

async fn start(change: impl FnOnce(&mut PushSenderOptions, &mut PushOptions) + 'static) -> TestServer {
    launch().session(|options| options.push = Some(push_with(change))).start().await
}

/// Receivers of tests are on this machine, which gets no notifications unless the operator allows it.
fn local(sender: &mut PushSenderOptions, _: &mut PushOptions) {
    sender.allow = vec!["127.0.0.0/8".into()];
}

/// How a configuration fares, as the header beside it says.
async fn push_state(client: &TestClient, task: &str, id: &str) -> Value {
    let client = client.with("A2A-Version", "1.0");
    let answer = client.get(&format!("/tasks/{task}/pushNotificationConfigs/{id}")).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    serde_json::from_str(answer.header("attache-push-state").unwrap()).unwrap()
}

async fn create(client: &TestClient, task: &str, id: &str, url: &str) -> Value {
    let params = json!({"taskId": task, "id": id, "url": url});
    client.rpc("CreateTaskPushNotificationConfig", params).await
}

/// Parameters of a 1.0 send whose events are pushed.
fn told(mut params: Value, id: &str, url: &str) -> Value {
    params["configuration"] = json!({"taskPushNotificationConfig": {"id": id, "url": url}});
    params
}
