//! What a receiver gets.

use attache_session::PushEvents;
use attache_testkit::PushReceiver;
use attache_testkit::agent_client::{drop_in, replay};
use attache_testkit::pairs::{Ask, Pair};
use serde_json::{Value, json};

use super::{create, local, start, told};
use crate::world::{message, message_to};

#[tokio::test]
async fn p6_p11_every_status_is_told_in_the_words_of_the_version_that_asked() {
    let server = start(local).await;
    let client = server.client();
    let receiver = PushReceiver::accepting();
    for pair in Pair::ALL {
        let member = match pair {
            Pair::Rpc03 => "pushNotificationConfig",
            Pair::Rest03 => "pushNotification",
            Pair::Rpc10 | Pair::Rest10 => "taskPushNotificationConfig",
        };
        let path = format!("/{pair:?}");
        let mut params = pair.text(&format!("{pair:?}"), "stream");
        params["configuration"] = json!({ member: {"url": receiver.url(&path)}, "blocking": true });
        let sent = pair.result(&client, &Ask::Send(params)).await;
        let task = sent.get("task").unwrap_or(&sent);
        let came = receiver.until(&path, 2).await;
        let bodies: Vec<Value> = came.iter().map(|received| received.json()).collect();
        let state = |body: &Value| match pair.is_v1_0() {
            true => body["statusUpdate"]["status"]["state"].clone(),
            false => body["status"]["state"].clone(),
        };
        let (states, media_type) = match pair.is_v1_0() {
            true => (["TASK_STATE_WORKING", "TASK_STATE_COMPLETED"], "application/a2a+json"),
            false => (["working", "completed"], "application/json"),
        };
        assert_eq!(bodies.iter().map(state).collect::<Vec<_>>(), states, "{pair:?}: {bodies:#?}");
        for (received, body) in came.iter().zip(&bodies) {
            assert_eq!(received.header("content-type"), Some(media_type));
            let id = if pair.is_v1_0() { &body["statusUpdate"]["taskId"] } else { &body["id"] };
            assert_eq!(*id, task["id"], "{pair:?}");
        }
        if !pair.is_v1_0() {
            assert_eq!(
                (&bodies[0]["kind"], bodies[0].get("artifacts")),
                (&json!("task"), None),
                "as it was then"
            );
            assert_eq!(bodies[1]["artifacts"][0]["artifactId"], "answer-1");
        }
    }
}

#[tokio::test]
async fn p11_artifacts_are_told_when_the_operator_says_so_exactly_as_a_stream_shows_them() {
    let server = start(|sender, options| {
        local(sender, options);
        options.events = PushEvents::StatusesAndArtifacts;
    })
    .await;
    let client = server.client();
    let receiver = PushReceiver::accepting();
    let sent = client.rpc("SendMessage", told(message("m1", "stream"), "c", &receiver.url("/a"))).await;
    let task = sent["result"]["task"]["id"].as_str().unwrap();
    let shown: Vec<_> = replay(&client, task).await.into_iter().skip(1).collect();
    let came = receiver.until("/a", shown.len()).await;
    for (frame, received) in shown.iter().zip(&came) {
        assert_eq!(&received.json(), frame.payload());
        assert_eq!(received.header("a2a-event-seq").unwrap(), frame.id.unwrap().to_string());
    }
    assert_eq!(came.len(), shown.len());
}

#[tokio::test]
async fn a_task_that_waits_and_goes_on_is_told_throughout() {
    let server = start(local).await;
    let client = server.client();
    let receiver = PushReceiver::accepting();
    let sent = client.rpc("SendMessage", told(message("m1", "input"), "c", &receiver.url("/a"))).await;
    let task = sent["result"]["task"]["id"].as_str().unwrap();
    receiver.until("/a", 2).await;
    client.rpc("SendMessage", message_to(task, "m2", "there")).await;
    let came = receiver.until("/a", 4).await;
    let states: Vec<_> =
        came.iter().map(|received| received.json()["statusUpdate"]["status"]["state"].clone()).collect();
    assert_eq!(
        states,
        ["TASK_STATE_WORKING", "TASK_STATE_INPUT_REQUIRED", "TASK_STATE_WORKING", "TASK_STATE_COMPLETED"]
    );
}

#[tokio::test]
async fn one_task_is_told_to_receivers_of_both_versions_and_to_none_that_was_deleted() {
    let server = start(local).await;
    let client = server.client();
    let receiver = PushReceiver::accepting();
    let opened = drop_in(&client, message("m1", "ask")).await;
    let task = opened["id"].as_str().unwrap();
    create(&client, task, "new", &receiver.url("/new")).await;
    create(&client, task, "gone", &receiver.url("/gone")).await;
    let old = json!({"taskId": task, "pushNotificationConfig": {"url": receiver.url("/old")}});
    client.rpc("tasks/pushNotificationConfig/set", old).await;
    receiver.until("/gone", 1).await;
    let delete = json!({"taskId": task, "id": "gone"});
    client.rpc("DeleteTaskPushNotificationConfig", delete).await;
    let before = receiver.at("/gone").len();
    client.rpc("SendMessage", message_to(task, "m2", "Ada")).await;
    let completed = |path: &'static str| {
        let receiver = &receiver;
        async move {
            loop {
                let came = receiver.at(path);
                if came.last().is_some_and(|last| {
                    String::from_utf8_lossy(&last.body).to_lowercase().contains("completed")
                }) {
                    return;
                }
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        }
    };
    let both = async { (completed("/new").await, completed("/old").await) };
    tokio::time::timeout(attache_testkit::WAIT_TIMEOUT, both).await.expect("both are told");
    assert_eq!(receiver.at("/gone").len(), before);
}
