//! Settings of pushes count, what is given up is logged, and secrets are not.

use std::time::Duration;

use attache_testkit::{PushReaction, PushReceiver, WAIT_TIMEOUT};
use serde_json::json;

use super::{LOCAL, create, push_state, start, told};
use crate::operations::until_logged;
use crate::support::message;

#[tokio::test]
async fn p7_token_credentials_place_and_signature_are_in_headers() {
    let settings = format!("{LOCAL}signing_key_file = \"key\"\n");
    let launch = super::launch_with(&settings).in_memory();
    launch.write("key", "sixteen-characters\n");
    let server = launch.start().await;
    let receiver = PushReceiver::accepting();
    let mut send = message("m1", "echo x");
    send["configuration"] = json!({"taskPushNotificationConfig": {
        "id": "my hook", "url": receiver.url("/a"), "token": "s3cret-token",
        "authentication": {"scheme": "Bearer", "credentials": "s3cret-credentials"},
    }});
    let task =
        server.client().rpc("SendMessage", send).await["result"]["task"]["id"].as_str().unwrap().to_owned();
    let came = receiver.until("/a", 2).await;
    for received in &came {
        assert_eq!(
            (received.method.as_str(), received.header("x-a2a-notification-token")),
            ("POST", Some("s3cret-token"))
        );
        assert_eq!(received.header("authorization"), Some("Bearer s3cret-credentials"));
        let seq = received.header("a2a-event-seq").unwrap();
        assert_eq!(received.header("a2a-event-id").unwrap(), format!("{task}/my%20hook/{seq}"));
        let signature = received.header("a2a-notification-signature").unwrap();
        let (time, mac) = signature.strip_prefix("t=").unwrap().split_once(",v1=").unwrap();
        assert!(time.parse::<i64>().unwrap() > 1_700_000_000 && mac.len() == 64, "{signature}");
    }
    // The receiver knows of a delivery before the server has written it down.
    let last: u64 = came[1].header("a2a-event-seq").unwrap().parse().unwrap();
    let client = server.client();
    let written = async { while push_state(&client, &task, "my%20hook").await["delivered"] != last {} };
    tokio::time::timeout(WAIT_TIMEOUT, written).await.expect("the delivery is written down");
    let bad = json!({"taskId": task, "url": receiver.url("/a"), "token": "s3cret\r\nx: y"});
    let refused = client.rpc("CreateTaskPushNotificationConfig", bad).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused:#}");
    assert!(!server.log().contains("s3cret"));
}

#[tokio::test]
async fn p8_too_many_failures_are_given_up_for_everybody_to_see_and_can_be_resumed() {
    let server = start(&format!("{LOCAL}attempts = 2\n")).await;
    let client = server.client();
    let receiver = PushReceiver::with_handler(|_, before| match before {
        0 | 1 => PushReaction::Answer(500, vec![]),
        _ => PushReaction::Take,
    });
    let sent = client.rpc("SendMessage", told(message("m1", "echo x"), "c", &receiver.url("/a"))).await;
    let task = sent["result"]["task"]["id"].as_str().unwrap();
    let state = loop {
        let state = push_state(&client, task, "c").await;
        if state["state"] == "gave_up" {
            break state;
        }
        assert!(["delivering", "waiting"].contains(&state["state"].as_str().unwrap()), "{state}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(
        state,
        json!({"state": "gave_up", "delivered": 0, "failures": 2, "trouble": "it answers with 500"})
    );
    assert!(client.get("/metrics").await.text().contains("attache_push_gave_up_total 1\n"));
    until_logged(&server, |log| log.contains("given up")).await;
    create(&client, task, "c", &receiver.url("/a")).await;
    let came = receiver.until("/a", 4).await;
    assert_eq!(
        came[2].header("a2a-event-seq"),
        came[0].header("a2a-event-seq"),
        "it goes on where it stopped"
    );
}
