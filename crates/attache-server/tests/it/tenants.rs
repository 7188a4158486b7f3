//! Tenants: named in the path, in the parameters or on the card, and blind to each other on every way in.

use attache_testkit::TestClient;
use serde_json::{Value, json};

use crate::world::{TestServer, launch, message, message_to};

/// Names as people write them, and as they stand in a path.
const ODD: [(&str, &str); 4] =
    [("ü b", "%C3%BC%20b"), ("50%", "50%25"), ("a:b?c#d", "a:b%3Fc%23d"), ("plain", "pl%61in")];

async fn start(tenants: &[&str]) -> (TestServer, TestClient) {
    let server = launch().tenants(tenants).start().await;
    let client = server.client().with("A2A-Version", "1.0");
    (server, client)
}

async fn listed() -> (TestServer, TestClient) {
    start(&["acme", "other"]).await
}

/// Parameters of a call for a tenant.
fn of(tenant: &str, mut params: Value) -> Value {
    params["tenant"] = tenant.into();
    params
}

async fn task_of(client: &TestClient, tenant: &str, id: &str, text: &str) -> Value {
    let mut params = of(tenant, message(id, text));
    params["configuration"] = json!({"returnImmediately": text == "slow"});
    let answer = client.rpc("SendMessage", params).await;
    assert!(answer["result"]["task"]["id"].is_string(), "{answer:#}");
    answer["result"]["task"].clone()
}

fn id_of(task: &Value) -> &str {
    task["id"].as_str().expect("an id")
}

#[tokio::test]
async fn a_task_cannot_be_reached_through_another_tenant_by_any_operation() {
    let (_server, client) = listed().await;
    let task = task_of(&client, "acme", "m1", "ask").await;
    let id = id_of(&task);
    for (method, params) in [
        ("GetTask", json!({"id": id})),
        ("CancelTask", json!({"id": id})),
        ("SubscribeToTask", json!({"id": id})),
        ("SendMessage", message_to(id, "m2", "Ada")),
        ("SendStreamingMessage", message_to(id, "m2", "Ada")),
        ("CreateTaskPushNotificationConfig", json!({"taskId": id, "id": "c", "url": "https://a.example/"})),
        ("GetTaskPushNotificationConfig", json!({"taskId": id, "id": "c"})),
        ("ListTaskPushNotificationConfigs", json!({"taskId": id})),
        ("DeleteTaskPushNotificationConfig", json!({"taskId": id, "id": "c"})),
    ] {
        for foreign in [of("other", params.clone()), params.clone()] {
            let answer = client.rpc(method, foreign).await;
            assert_eq!(answer["error"]["code"], -32001, "{method}: {answer:#}");
        }
    }
    for before in ["", "/other"] {
        for (verb, path) in [
            ("GET", format!("{before}/tasks/{id}")),
            ("POST", format!("{before}/tasks/{id}:cancel")),
            ("POST", format!("{before}/tasks/{id}:subscribe")),
            ("GET", format!("{before}/tasks/{id}:subscribe")),
            ("GET", format!("{before}/tasks/{id}/pushNotificationConfigs")),
            ("GET", format!("{before}/tasks/{id}/pushNotificationConfigs/c")),
            ("DELETE", format!("{before}/tasks/{id}/pushNotificationConfigs/c")),
        ] {
            let answer = client.call(verb, &path, b"").await;
            assert_eq!(answer.status, 404, "{verb} {path}: {}", answer.text());
        }
        let answer = client.post(&format!("{before}/message:send"), &message_to(id, "m3", "Ada")).await;
        assert_eq!(answer.status, 404, "{before}: {}", answer.text());
    }
    let own = client.get(&format!("/acme/tasks/{id}")).await;
    assert_eq!(own.json()["status"]["state"], "TASK_STATE_INPUT_REQUIRED", "nobody has touched it");
    let older = client.with("A2A-Version", "0.3");
    let answer = older.rpc("tasks/get", json!({"id": id, "tenant": "acme"})).await;
    assert_eq!(answer["error"]["code"], -32001, "0.3 knows no tenants: {answer:#}");
    let answer = older.get(&format!("/v1/tasks/{id}?tenant=acme")).await;
    assert_eq!(answer.status, 404, "{}", answer.text());
}

#[tokio::test]
async fn one_context_id_in_two_tenants_is_two_conversations() {
    let (_server, client) = listed().await;
    let said = |tenant: &str, id: &str, text: &str, wait: bool| {
        let mut params = of(tenant, message(id, text));
        params["message"]["contextId"] = "shared".into();
        params["configuration"] = json!({"returnImmediately": !wait});
        params
    };
    let busy = client.rpc("SendMessage", said("acme", "m1", "slow", false)).await;
    let busy = busy["result"]["task"]["id"].as_str().expect("a task").to_owned();
    // In the same conversation this would have to wait for its turn.
    let answer = client.rpc("SendMessage", said("other", "m2", "echo hi", true)).await;
    assert_eq!(answer["result"]["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{answer:#}");
    for (tenant, expected) in [("acme", 1), ("other", 1)] {
        let page = client.rpc("ListTasks", of(tenant, json!({"contextId": "shared"}))).await;
        assert_eq!(page["result"]["totalSize"], expected, "{tenant}: {page:#}");
    }
    let page = client.rpc("ListTasks", json!({"contextId": "shared"})).await;
    assert_eq!(page["result"]["totalSize"], 0, "{page:#}");
    let mut lost = said("other", "m3", "more", true);
    lost["message"]["taskId"] = busy.as_str().into();
    let answer = client.rpc("SendMessage", lost).await;
    assert_eq!(answer["error"]["code"], -32001, "{answer:#}");
}

#[tokio::test]
async fn tenants_with_odd_names_are_the_same_in_path_and_parameters() {
    let (_server, client) = start(&[]).await;
    for (name, encoded) in ODD {
        let sent = client.post(&format!("/{encoded}/message:send"), &message("m1", "ask")).await;
        assert_eq!(sent.status, 200, "{name}: {}", sent.text());
        let task = sent.json()["task"].clone();
        let id = id_of(&task);
        let over_rpc = client.rpc("GetTask", json!({"tenant": name, "id": id})).await;
        assert_eq!(over_rpc["result"]["id"], id, "{name}: {over_rpc:#}");
        for path in [
            format!("/{encoded}/tasks/{id}"),
            format!("/{encoded}/tasks/{id}?historyLength=1"),
            format!("/{encoded}/tasks"),
            format!("/{encoded}/commands"),
        ] {
            assert_eq!(client.get(&path).await.status, 200, "{path}");
        }
        let canceled = client.call("POST", &format!("/{encoded}/tasks/{id}:cancel"), b"").await;
        assert_eq!(canceled.json()["status"]["state"], "TASK_STATE_CANCELED", "{name}");
        let mut stream =
            client.post_stream(&format!("/{encoded}/message:stream"), &message("m2", "stream")).await;
        assert_eq!(stream.status, 200, "{name}");
        assert!(stream.next().await.is_some(), "{name}");
        let page = client.rpc("ListTasks", json!({"tenant": name})).await;
        assert_eq!(page["result"]["totalSize"], 2, "{name}");
    }
    for broken in ["%", "%zz", "%ff", ""] {
        let path = format!("/{broken}/tasks");
        assert_eq!(client.get(&path).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn the_path_wins_over_the_body_and_the_query_and_either_will_do() {
    let (_server, client) = listed().await;
    let mine = |id: &str| of("other", message(id, "echo x"));
    let by_path = client.post("/acme/message:send?tenant=other", &mine("m1")).await.json();
    let by_path = id_of(&by_path["task"]).to_owned();
    let by_body = client.post("/message:send", &mine("m2")).await.json();
    let by_body = id_of(&by_body["task"]).to_owned();
    for (tenant, id) in [("acme", &by_path), ("other", &by_body)] {
        let found = client.get(&format!("/tasks/{id}?tenant={tenant}")).await;
        assert_eq!(found.status, 200, "{tenant}: {}", found.text());
        let page = client.get(&format!("/tasks?tenant={tenant}")).await.json();
        assert_eq!(page["totalSize"], 1, "{tenant}: {page:#}");
        assert_eq!(client.get(&format!("/{tenant}/tasks")).await.json(), page, "{tenant}");
    }
    let page = client.get("/tasks").await.json();
    assert_eq!(page["totalSize"], 0, "nothing is nobody's: {page:#}");
    let page = client.get("/tasks?tenant=").await.json();
    assert_eq!(page["totalSize"], 0, "an empty name is none: {page:#}");
}

#[tokio::test]
async fn unknown_tenants_are_refused_before_anything_is_looked_up() {
    let (_server, client) = listed().await;
    let task = task_of(&client, "acme", "m1", "ask").await;
    let id = id_of(&task);
    for (method, params) in [
        ("SendMessage", message("m2", "echo x")),
        ("SendStreamingMessage", message("m2", "echo x")),
        ("GetTask", json!({"id": id})),
        ("ListTasks", json!({})),
        ("CancelTask", json!({"id": id})),
        ("SubscribeToTask", json!({"id": id})),
        ("ListTaskPushNotificationConfigs", json!({"taskId": id})),
        ("commands/get", json!({})),
        ("command/execute", json!({"command_path": ["help"]})),
    ] {
        for name in ["nobody", "ACME", "acme "] {
            let answer = client.rpc(method, of(name, params.clone())).await;
            assert_eq!(answer["error"]["code"], -32602, "{method} {name:?}: {answer:#}");
            let told = answer["error"]["message"].as_str().expect("a message");
            assert!(told.contains("tenant"), "{method}: {told}");
        }
    }
    for (verb, path) in [
        ("POST", "message:send".to_owned()),
        ("GET", format!("tasks/{id}")),
        ("GET", "tasks".to_owned()),
        ("POST", format!("tasks/{id}:cancel")),
        ("POST", format!("tasks/{id}:subscribe")),
        ("GET", "commands".to_owned()),
    ] {
        let body = message("m3", "echo x").to_string();
        let body = if path.ends_with("send") { body.as_bytes() } else { b"" };
        let client = client.with("content-type", "application/json");
        let answer = client.call(verb, &format!("/nobody/{path}"), body).await;
        assert_eq!(answer.status, 404, "{verb} {path}: {}", answer.text());
        assert_eq!(answer.json()["error"]["status"], "NOT_FOUND", "{verb} {path}");
    }
    let page = client.rpc("ListTasks", json!({"tenant": "acme"})).await;
    assert_eq!(page["result"]["totalSize"], 1, "{page:#}");
}

#[tokio::test]
async fn names_of_paths_are_no_tenants_on_any_binding() {
    let (_server, client) = start(&[]).await;
    for name in [
        "v1",
        "tasks",
        "commands",
        "message:send",
        "extendedAgentCard",
        ".well-known",
        "health",
        "metrics",
        "rest",
        "listCommands",
        "lf.a2a.v1.A2AService",
        "a2a.v1.A2AService",
        "grpc.health.v1.Health",
    ] {
        let answer = client.rpc("SendMessage", of(name, message("m1", "echo x"))).await;
        assert_eq!(answer["error"]["code"], -32602, "{name}: {answer:#}");
        let answer = client.post("/message:send", &of(name, message("m1", "echo x"))).await;
        assert_eq!(answer.status, 404, "{name}: {}", answer.text());
        if name != "v1" {
            let answer = client.post(&format!("/{name}/message:send"), &message("m1", "echo x")).await;
            assert_ne!(answer.status, 200, "{name}: {}", answer.text());
        }
    }
    let long = "t".repeat(257);
    let answer = client.rpc("SendMessage", of(&long, message("m1", "echo x"))).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer:#}");
    assert!(!answer.to_string().contains(&long), "not all of it is told back");
    let page = client.rpc("ListTasks", json!({})).await;
    assert_eq!(page["result"]["totalSize"], 0, "no such call opened a task");
}

#[tokio::test]
async fn commands_and_the_routes_of_gemini_stay_with_their_tenant() {
    let (_server, client) = listed().await;
    let theirs = task_of(&client, "acme", "m1", "echo x").await;
    assert_eq!(client.get("/tasks/metadata").await.status, 204, "nobody has a task without a tenant");
    let metadata = client.get(&format!("/tasks/{}/metadata", id_of(&theirs))).await;
    assert_eq!(metadata.status, 404, "{}", metadata.text());
    let executed = client.rpc("command/execute", of("acme", json!({"command_path": ["help"]}))).await;
    assert_eq!(executed["result"]["status"], "STARTED", "{executed:#}");
    let id = executed["result"]["execution_id"].as_str().expect("an execution").to_owned();
    assert_eq!(client.get(&format!("/acme/tasks/{id}")).await.status, 200);
    for elsewhere in ["", "/other"] {
        assert_eq!(client.get(&format!("{elsewhere}/tasks/{id}")).await.status, 404, "{elsewhere}");
    }
    for path in ["/acme/listCommands", "/acme/health", "/acme/metrics", "/acme/tasks/metadata/x"] {
        assert_eq!(client.get(path).await.status, 404, "{path} is nothing of a tenant");
    }
}
