//! Receivers that do not behave.

use std::time::Duration;

use attache_testkit::{PushReaction, PushReceiver};
use serde_json::json;

use super::{create, local, push_state, start, told};
use crate::world::message;

#[tokio::test]
async fn p8_a_notification_is_tried_again_and_the_next_waits_for_it() {
    let server = start(local).await;
    let receiver = PushReceiver::with_handler(|_, before| match before {
        0 => PushReaction::Answer(503, vec![("retry-after", "1".into())]),
        1 => PushReaction::Drop,
        _ => PushReaction::Take,
    });
    let sent =
        server.client().rpc("SendMessage", told(message("m1", "echo x"), "c", &receiver.url("/a"))).await;
    assert_eq!(sent["result"]["task"]["status"]["state"], "TASK_STATE_COMPLETED", "the task does not wait");
    let came = receiver.until("/a", 4).await;
    let ids: Vec<_> =
        came.iter().map(|received| received.header("a2a-event-id").unwrap().to_owned()).collect();
    assert_eq!(ids[0], ids[1], "a try that is made again has the same name");
    assert_eq!(ids[1], ids[2]);
    assert_ne!(ids[2], ids[3]);
}

#[tokio::test]
async fn p9_a_redirect_is_not_followed() {
    let server = start(local).await;
    let client = server.client();
    let elsewhere = PushReceiver::accepting();
    let location = elsewhere.url("/b");
    let receiver = PushReceiver::with_handler(move |_, _| {
        PushReaction::Answer(307, vec![("location", location.clone())])
    });
    let sent = client.rpc("SendMessage", told(message("m1", "echo x"), "c", &receiver.url("/a"))).await;
    let task = sent["result"]["task"]["id"].as_str().unwrap();
    receiver.until("/a", 2).await;
    let state = push_state(&client, task, "c").await;
    assert!(state["trouble"].as_str().unwrap().contains("redirects are not followed"), "{state}");
    assert_eq!(elsewhere.received().len(), 0);
}

#[tokio::test]
async fn p8_one_that_hangs_keeps_neither_others_nor_a_deletion_waiting() {
    let server = start(|sender, options| {
        local(sender, options);
        sender.timeout = Duration::from_secs(1);
    })
    .await;
    let client = server.client();
    let hanging = PushReceiver::with_handler(|_, _| PushReaction::Hang);
    let good = PushReceiver::accepting();
    let sent = client.rpc("SendMessage", told(message("m1", "input"), "bad", &hanging.url("/a"))).await;
    let task = sent["result"]["task"]["id"].as_str().unwrap();
    create(&client, task, "good", &good.url("/b")).await;
    good.until("/b", 1).await;
    hanging.until("/a", 2).await;
    let state = push_state(&client, task, "bad").await;
    assert!(state["trouble"].as_str().unwrap().contains("1 s"), "{state}");
    let deleted = client.rpc("DeleteTaskPushNotificationConfig", json!({"taskId": task, "id": "bad"})).await;
    assert_eq!(deleted["result"], json!(null));
}
