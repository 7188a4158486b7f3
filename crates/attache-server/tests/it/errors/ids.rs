//! Ids that clients make up: bounded, and without characters that change how they are shown.

use attache_testkit::TestClient;
use serde_json::{Value, json};

use super::{start, still_answers};
use attache_testkit::pairs::task_of;
use attache_testkit::pairs::{Ask, INVALID_PARAMS, INVALID_REQUEST, Pair, Refusal};

/// As long as an id may be, in bytes.
const MAX_ID_BYTES: usize = 1024;

fn bad_ids() -> Vec<(String, &'static str)> {
    let long = "x".repeat(MAX_ID_BYTES + 1);
    let wide = "é".repeat(MAX_ID_BYTES / 2 + 1);
    let mut bad = vec![(long, "1024"), (wide, "1024")];
    for control in ['\0', '\n', '\r', '\t', '\u{1b}', '\u{7f}', '\u{9b}'] {
        bad.push((format!("a{control}b"), "control"));
    }
    bad
}

#[tokio::test]
async fn ids_in_a_message_are_bounded_and_have_no_control_characters() {
    let server = start().await;
    let client = server.client();
    for pair in Pair::ALL {
        for (bad, why) in bad_ids() {
            for field in ["messageId", "taskId", "contextId", "referenceTaskIds"] {
                let mut params = pair.text("m1", "echo x");
                let value = if field == "referenceTaskIds" { json!(["fine", bad]) } else { json!(bad) };
                params["message"][field] = value;
                let refusal = INVALID_PARAMS.refuses(pair, &client, &Ask::Send(params), field).await;
                assert!(refusal.message.contains(why), "{}", refusal.message);
                assert!(refusal.message.len() < 400, "the answer is short: {}", refusal.message);
            }
        }
        // The longest that is allowed, and text of any language.
        for (number, fine) in ["x".repeat(MAX_ID_BYTES), "Ärger 你好 🦀".to_owned()].into_iter().enumerate()
        {
            let mut params = pair.text(&fine, "echo x");
            params["message"]["contextId"] = format!("{number}{pair:?}").into();
            pair.result(&client, &Ask::Send(params)).await;
        }
    }
    still_answers(&server).await;
}

#[tokio::test]
async fn ids_in_other_calls_are_too() {
    let server = start().await;
    let client = server.client();
    let task = task_of(Pair::Rpc10, &client, "m1", "ask").await;
    for (bad, _) in bad_ids() {
        for (method, params, field) in [
            ("GetTask", json!({"id": bad}), "id"),
            ("CancelTask", json!({"id": bad}), "id"),
            ("SubscribeToTask", json!({"id": bad}), "id"),
            ("ListTasks", json!({"contextId": bad}), "contextId"),
            (
                "CreateTaskPushNotificationConfig",
                json!({"taskId": bad, "url": "https://a.example"}),
                "taskId",
            ),
            (
                "CreateTaskPushNotificationConfig",
                json!({"taskId": task, "id": bad, "url": "https://a.example"}),
                "id",
            ),
            ("GetTaskPushNotificationConfig", json!({"taskId": task, "id": bad}), "id"),
            ("DeleteTaskPushNotificationConfig", json!({"taskId": task, "id": bad}), "id"),
            ("tasks/get", json!({"id": bad}), "id"),
            (
                "tasks/pushNotificationConfig/get",
                json!({"id": task, "pushNotificationConfigId": bad}),
                "pushNotificationConfigId",
            ),
        ] {
            let answer = client.rpc(method, params).await;
            assert_eq!(answer["error"]["code"], -32602, "{method}: {answer}");
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(message.contains(field), "{method}: {message}");
        }
    }
    let path = format!("/tasks/{}", "x".repeat(MAX_ID_BYTES + 1));
    INVALID_PARAMS.check(
        Pair::Rest10,
        &Refusal::read(Pair::Rest10, &client.with("A2A-Version", "1.0").get(&path).await),
    );
    let path = "/tasks/a%0Ab";
    INVALID_PARAMS.check(
        Pair::Rest10,
        &Refusal::read(Pair::Rest10, &client.with("A2A-Version", "1.0").get(path).await),
    );
    let theirs = client.post("/tasks", &json!({"contextId": "a\u{1b}b"})).await;
    assert_eq!(theirs.status, 400, "{}", theirs.text());
}

#[tokio::test]
async fn ids_in_an_answer_about_a_call_are_too() {
    let server = start().await;
    let client = server.client();
    let task = task_of(Pair::Rpc10, &client, "m1", "ask").await;
    for (bad, why) in bad_ids() {
        for answer in [
            json!({"call": bad, "choice": "proceed_once"}),
            json!({"call": "c1", "choice": bad}),
            json!({"tool_call_id": bad, "selected_option_id": "proceed_once"}),
            json!([{"callId": bad, "outcome": "proceed_once"}]),
        ] {
            let mut params = Pair::Rpc10.text_to(&task, "m2", "");
            params["message"]["parts"] = json!([{"data": answer}]);
            let refusal = INVALID_PARAMS.refuses(Pair::Rpc10, &client, &Ask::Send(params), "message").await;
            assert!(refusal.message.contains(why) && refusal.message.len() < 400, "{}", refusal.message);
        }
    }
}

#[tokio::test]
async fn the_id_of_a_request_is_bounded_too() {
    let server = start().await;
    let client = server.client().with("A2A-Version", "1.0");
    let ask = async |client: &TestClient, id: &Value| {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": "ListTasks", "params": {}});
        client.post("/", &request).await
    };
    for (bad, why) in bad_ids() {
        let answer = ask(&client, &bad.into()).await;
        let refusal = Refusal::read(Pair::Rpc10, &answer);
        INVALID_REQUEST.check(Pair::Rpc10, &refusal);
        assert!(refusal.message.starts_with("id ") && refusal.message.contains(why), "{}", refusal.message);
        assert!(answer.json()["id"].is_null(), "an id that was refused is not echoed");
    }
    let longest = Value::from("x".repeat(MAX_ID_BYTES));
    assert_eq!(ask(&client, &longest).await.json()["id"], longest);
}
