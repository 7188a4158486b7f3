//! Configurations over each version on each JSON binding.

use attache_testkit::TestClient;
use attache_testkit::agent_client::drop_in;
use serde_json::{Value, json};

use super::{create, local, start};
use crate::world::message;
use attache_testkit::pairs::{INVALID_PARAMS, TASK_NOT_FOUND};
use attache_testkit::pairs::{Pair, Refusal, Reply};

const HOOK: &str = "https://example.com/hook";

/// Calls by hand, because here it matters what is in them.
async fn call(pair: Pair, client: &TestClient, verb: &str, task: &str, id: &str, config: Value) -> Reply {
    let client = pair.dress(client).with("content-type", "application/json");
    let base = format!("{}/tasks/{task}/pushNotificationConfigs", if pair.is_v1_0() { "" } else { "/v1" });
    let rpc = |method: &str, params: Value| {
        let body = json!({"jsonrpc": "2.0", "id": attache_testkit::pairs::REQUEST_ID, "method": method, "params": params});
        ("POST", "/".to_owned(), body)
    };
    let (method, path, body) = match (pair, verb) {
        (Pair::Rest03 | Pair::Rest10, "create") => {
            let body = match pair {
                Pair::Rest10 => config,
                _ => json!({"configId": id, "config": {"pushNotificationConfig": config}}),
            };
            ("POST", base, body)
        }
        (Pair::Rest03 | Pair::Rest10, "list") => ("GET", base, Value::Null),
        (Pair::Rest03 | Pair::Rest10, "get") => ("GET", format!("{base}/{id}"), Value::Null),
        (Pair::Rest03 | Pair::Rest10, _) => ("DELETE", format!("{base}/{id}"), Value::Null),
        (Pair::Rpc10, verb) => {
            let method = match verb {
                "create" => "CreateTaskPushNotificationConfig",
                "get" => "GetTaskPushNotificationConfig",
                "list" => "ListTaskPushNotificationConfigs",
                _ => "DeleteTaskPushNotificationConfig",
            };
            let mut params = if verb == "create" { config } else { json!({}) };
            params["taskId"] = task.into();
            params["id"] = id.into();
            rpc(method, params)
        }
        (Pair::Rpc03, verb) => {
            let method = if verb == "create" { "set" } else { verb };
            let params = json!({"id": task, "taskId": task, "pushNotificationConfigId": id, "pushNotificationConfig": config});
            rpc(&format!("tasks/pushNotificationConfig/{method}"), params)
        }
    };
    let body = if body.is_null() { String::new() } else { body.to_string() };
    Reply { pair, answer: client.call(method, &path, body.as_bytes()).await }
}

fn config(pair: Pair, id: &str) -> Value {
    let authentication = match pair.is_v1_0() {
        true => json!({"scheme": "Bearer", "credentials": "c"}),
        false => json!({"schemes": ["Bearer"], "credentials": "c"}),
    };
    json!({"id": id, "url": HOOK, "token": "t", "authentication": authentication})
}

/// The configuration inside an answer, and the id it goes by.
fn inside(pair: Pair, task: &str, mut result: Value) -> Value {
    match pair {
        Pair::Rpc10 | Pair::Rest10 => {
            assert_eq!(result["taskId"], task);
            result.as_object_mut().unwrap().remove("taskId");
            result
        }
        Pair::Rpc03 => {
            assert_eq!(result["taskId"], task);
            result["pushNotificationConfig"].take()
        }
        Pair::Rest03 => {
            let name = format!(
                "tasks/{task}/pushNotificationConfigs/{}",
                result["pushNotificationConfig"]["id"].as_str().unwrap()
            );
            assert_eq!(result["name"], name);
            result["pushNotificationConfig"].take()
        }
    }
}

#[tokio::test]
async fn p2_to_p5_a_configuration_is_created_found_listed_and_deleted_on_every_pair() {
    let server = start(|_, _| {}).await;
    let client = server.client();
    for pair in Pair::ALL {
        let opened = drop_in(&client, message(&format!("{pair:?}"), "ask")).await;
        let task = opened["id"].as_str().unwrap();
        let created = call(pair, &client, "create", task, "c1", config(pair, "c1")).await;
        assert_eq!(inside(pair, task, created.result()), config(pair, "c1"), "{pair:?}");
        let state: Value =
            serde_json::from_str(created.answer.header("attache-push-state").unwrap()).unwrap();
        assert_eq!(state["state"], "delivering", "{pair:?}");
        let found = call(pair, &client, "get", task, "c1", Value::Null).await.result();
        assert_eq!(inside(pair, task, found), config(pair, "c1"), "{pair:?}");
        // The same name again takes its place.
        let mut other = config(pair, "c1");
        other["url"] = "https://example.com/other".into();
        call(pair, &client, "create", task, "c1", other.clone()).await.result();
        call(pair, &client, "create", task, "c2", config(pair, "c2")).await.result();
        let listed = call(pair, &client, "list", task, "", Value::Null).await;
        let mut result = listed.result();
        let configs = if pair == Pair::Rpc03 { result } else { result["configs"].take() };
        let configs: Vec<_> =
            configs.as_array().unwrap().iter().map(|config| inside(pair, task, config.clone())).collect();
        assert_eq!(configs, [other, config(pair, "c2")], "{pair:?}");
        let states: Value =
            serde_json::from_str(listed.answer.header("attache-push-state").unwrap()).unwrap();
        assert_eq!((&states[0]["id"], &states[1]["id"]), (&json!("c1"), &json!("c2")));
        for _ in 0..2 {
            let deleted = call(pair, &client, "delete", task, "c1", Value::Null).await.result();
            let expected = if pair.is_rest() { json!({}) } else { Value::Null };
            assert_eq!(deleted, expected, "{pair:?}");
        }
        let gone = call(pair, &client, "get", task, "c1", Value::Null).await.refusal();
        TASK_NOT_FOUND.check(pair, &gone);
        for verb in ["create", "get", "list", "delete"] {
            let refused = call(pair, &client, verb, "no-such-task", "c1", config(pair, "c1")).await.refusal();
            TASK_NOT_FOUND.check(pair, &refused);
        }
    }
}

#[tokio::test]
async fn p2_p3_a_nameless_configuration_of_0_3_goes_by_the_name_of_its_task() {
    let server = start(|_, _| {}).await;
    let client = server.client();
    let opened = drop_in(&client, message("m1", "ask")).await;
    let task = opened["id"].as_str().unwrap();
    let set = json!({"taskId": task, "pushNotificationConfig": {"url": HOOK}});
    let created = client.rpc("tasks/pushNotificationConfig/set", set).await;
    assert_eq!(created["result"]["pushNotificationConfig"]["id"], task, "{created:#}");
    let found = client.rpc("tasks/pushNotificationConfig/get", json!({"id": task})).await;
    assert_eq!(found["result"], created["result"]);
    let named = create(&client, task, "", HOOK).await;
    assert_eq!(named["result"]["id"].as_str().unwrap().len(), 36, "{named:#}");
}

#[tokio::test]
async fn p4_a_list_comes_in_pages_if_asked_to() {
    let server = start(|_, _| {}).await;
    let client = server.client();
    let opened = drop_in(&client, message("m1", "ask")).await;
    let task = opened["id"].as_str().unwrap();
    for id in ["a", "b", "c"] {
        create(&client, task, id, HOOK).await;
    }
    let page = |token: &str| json!({"taskId": task, "pageSize": 2, "pageToken": token});
    let first = client.rpc("ListTaskPushNotificationConfigs", page("")).await["result"].clone();
    assert_eq!(first["configs"].as_array().unwrap().len(), 2);
    let token = first["nextPageToken"].as_str().unwrap();
    let last = client.rpc("ListTaskPushNotificationConfigs", page(token)).await["result"].clone();
    assert_eq!(last["configs"][0]["id"], "c");
    assert_eq!(last.get("nextPageToken"), None);
    let wrong = client.rpc("ListTaskPushNotificationConfigs", page("wrong")).await;
    assert_eq!(wrong["error"]["code"], -32602);
}

#[tokio::test]
async fn p9_places_that_are_not_public_are_refused_with_the_setting_that_could_allow_them() {
    let server = start(|_, _| {}).await;
    let client = server.client();
    let opened = drop_in(&client, message("m1", "ask")).await;
    let task = opened["id"].as_str().unwrap();
    for (url, why) in [
        ("http://127.0.0.1:9/", "push.allow_private_addresses"),
        ("https://localhost/", "push.allow_private_addresses"),
        ("https://[::1]/", "not public"),
        ("https://10.0.0.1/", "not public"),
        ("https://169.254.169.254/latest/meta-data/", "not public"),
        ("https://2130706433/", "not public"),
        ("https://[::ffff:127.0.0.1]/", "not public"),
        ("http://93.184.216.34/", "https://"),
        ("file:///etc/passwd", "https://"),
        ("https://a:b@example.com/", "user name or password"),
        ("nonsense", "not a URL"),
    ] {
        for pair in Pair::ALL {
            let refused = call(pair, &client, "create", task, "c1", json!({"url": url})).await.refusal();
            INVALID_PARAMS.check(pair, &refused);
            assert!(refused.message.contains(why), "{pair:?} {url}: {}", refused.message);
        }
        let mut send = message("m2", "echo x");
        send["configuration"] = json!({"taskPushNotificationConfig": {"url": url}});
        let refused = client.rpc("SendMessage", send).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused:#}");
    }
    let configs = client.rpc("ListTaskPushNotificationConfigs", json!({"taskId": task})).await;
    assert_eq!(configs["result"]["configs"], json!([]));
    assert_eq!(
        client.rpc("ListTasks", json!({})).await["result"]["totalSize"],
        1,
        "a refused message opens no task"
    );
}

#[tokio::test]
async fn what_fits_no_header_is_refused_and_not_repeated() {
    let server = start(local).await;
    let client = server.client();
    let opened = drop_in(&client, message("m1", "ask")).await;
    let task = opened["id"].as_str().unwrap();
    let bad = json!({"url": HOOK, "token": "s3cret\r\nx: y", "authentication": {"scheme": "a b", "credentials": "s3cret\n"}});
    let refused = call(Pair::Rest10, &client, "create", task, "c1", bad).await;
    let Refusal { message, .. } = refused.refusal();
    assert!(
        message.contains("token") && message.contains("credentials") && !message.contains("s3cret"),
        "{message}"
    );
}
