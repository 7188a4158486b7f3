//! Refusals: each has its code, status, reason and shape on every pair, names what was wrong, and costs nothing.

mod body;
mod duplicate_keys;
mod envelope;
mod ids;
mod params;

use attache_server::Limits;
use serde_json::json;

use crate::world::{TestServer, launch};

use attache_testkit::pairs::{
    Ask, CONTENT_TYPE, NO_PUSH, NOT_CANCELABLE, Pair, TASK_NOT_FOUND, UNSUPPORTED, task_of,
};

async fn start() -> TestServer {
    launch().start().await
}

async fn start_with(change: impl FnOnce(&mut Limits) + 'static) -> TestServer {
    launch().limits(change).start().await
}

/// Nothing was lost: the server goes on answering on every pair.
async fn still_answers(server: &TestServer) {
    for pair in Pair::ALL {
        let task = task_of(pair, &server.client(), &format!("after-{pair:?}"), "echo still here").await;
        assert!(!task.is_empty());
    }
}

#[tokio::test]
async fn an_unknown_task_is_not_found_by_any_operation() {
    let server = start().await;
    let client = server.client();
    for pair in Pair::ALL {
        let unknown = || "no-such-task".to_owned();
        for ask in [
            Ask::Get(unknown()),
            Ask::Cancel(unknown()),
            Ask::Subscribe(unknown()),
            Ask::Send(pair.text_to("no-such-task", "m1", "x")),
            Ask::Stream(pair.text_to("no-such-task", "m1", "x")),
        ] {
            let refusal = TASK_NOT_FOUND.refuses(pair, &client, &ask, "no-such-task").await;
            assert_eq!(refusal.metadata["taskId"], "no-such-task", "{pair:?}");
        }
    }
    still_answers(&server).await;
}

#[tokio::test]
async fn c1_a_finished_task_cannot_be_canceled() {
    let server = start().await;
    let client = server.client();
    for pair in Pair::ALL {
        for (text, state) in [("echo x", "completed"), ("fail", "failed"), ("reject", "rejected")] {
            let task = task_of(pair, &client, &format!("{pair:?}-{text}"), text).await;
            let refusal = NOT_CANCELABLE.refuses(pair, &client, &Ask::Cancel(task.clone()), state).await;
            assert_eq!(refusal.metadata["taskId"], task);
        }
        let task = task_of(pair, &client, &format!("{pair:?}-ask"), "ask").await;
        pair.result(&client, &Ask::Cancel(task.clone())).await;
        NOT_CANCELABLE.refuses(pair, &client, &Ask::Cancel(task), "canceled").await;
    }
}

#[tokio::test]
async fn p1_push_is_refused_before_the_task_is_looked_for() {
    let server = launch().without_push().start().await;
    let client = server.client();
    let task = task_of(Pair::Rpc10, &client, "m1", "echo x").await;
    for pair in Pair::ALL {
        for task in [&task, "no-such-task"] {
            let task = || task.to_owned();
            for ask in [
                Ask::PushCreate(task()),
                Ask::PushGet(task()),
                Ask::PushList(task()),
                Ask::PushDelete(task()),
            ] {
                NO_PUSH.refuses(pair, &client, &ask, "push").await;
            }
        }
        let member = match pair {
            Pair::Rpc03 => "pushNotificationConfig",
            Pair::Rest03 => "pushNotification",
            Pair::Rpc10 | Pair::Rest10 => "taskPushNotificationConfig",
        };
        let mut params = pair.text(&format!("{pair:?}"), "echo x");
        params["configuration"] = json!({ member: {"url": "https://example.com/hook"} });
        NO_PUSH.refuses(pair, &client, &Ask::Send(params.clone()), "push").await;
        NO_PUSH.refuses(pair, &client, &Ask::Stream(params), "push").await;
    }
    let listed = client.rpc("ListTasks", json!({})).await;
    assert_eq!(listed["result"]["totalSize"], 1, "a refused message opens no task");
}

#[tokio::test]
async fn a_finished_task_takes_no_message() {
    let server = start().await;
    let client = server.client();
    let task = task_of(Pair::Rest10, &client, "m1", "echo x").await;
    for pair in Pair::ALL {
        for ask in
            [Ask::Send(pair.text_to(&task, "m2", "more")), Ask::Stream(pair.text_to(&task, "m2", "more"))]
        {
            let refusal = UNSUPPORTED.refuses(pair, &client, &ask, "completed").await;
            assert_eq!(refusal.metadata["taskId"], task, "{pair:?}");
        }
    }
}

#[tokio::test]
async fn k3_there_is_no_extended_card() {
    let server = start().await;
    for pair in Pair::ALL {
        UNSUPPORTED.refuses(pair, &server.client(), &Ask::ExtendedCard, "extended card").await;
    }
}

#[tokio::test]
async fn s1_an_agent_that_does_not_stream_says_so() {
    let server = launch().card(|card| card.capabilities.streaming = false).start().await;
    let client = server.client();
    let card = client.get("/.well-known/agent-card.json").await.json();
    assert_eq!(card["capabilities"]["streaming"], false);
    for pair in Pair::ALL {
        let task = task_of(pair, &client, &format!("{pair:?}"), "ask").await;
        UNSUPPORTED.refuses(pair, &client, &Ask::Stream(pair.text("m2", "stream")), "stream").await;
        UNSUPPORTED.refuses(pair, &client, &Ask::Subscribe(task), "stream").await;
        // Capability comes before parameters and resource.
        UNSUPPORTED.refuses(pair, &client, &Ask::Stream(json!({})), "stream").await;
        UNSUPPORTED.refuses(pair, &client, &Ask::Subscribe("no-such-task".into()), "stream").await;
    }
}

#[tokio::test]
async fn b5_b6_media_types_the_card_does_not_list_are_refused() {
    let server = start().await;
    let client = server.client();
    for pair in Pair::ALL {
        let mut params = pair.text(&format!("in-{pair:?}"), "echo x");
        params["message"][pair.parts()] = json!([match pair {
            Pair::Rpc03 =>
                json!({"kind": "file", "file": {"uri": "https://example.com/a", "mimeType": "video/mp4"}}),
            Pair::Rest03 =>
                json!({"file": {"fileWithUri": "https://example.com/a", "mimeType": "video/mp4"}}),
            Pair::Rpc10 | Pair::Rest10 => json!({"url": "https://example.com/a", "mediaType": "video/mp4"}),
        }]);
        CONTENT_TYPE.refuses(pair, &client, &Ask::Send(params.clone()), "video/mp4").await;
        CONTENT_TYPE.refuses(pair, &client, &Ask::Stream(params), "video/mp4").await;
        let mut params = pair.text(&format!("out-{pair:?}"), "echo x");
        params["configuration"] = json!({"acceptedOutputModes": ["image/png", "audio/*"], "blocking": true});
        CONTENT_TYPE.refuses(pair, &client, &Ask::Send(params.clone()), "image/png").await;
        params["configuration"]["acceptedOutputModes"] = json!(["image/png", "text/*"]);
        pair.result(&client, &Ask::Send(params)).await;
    }
}
