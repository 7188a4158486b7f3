//! Malformed requests: bad JSON, a broken envelope, an unknown method or path.

use attache_testkit::TestClient;
use serde_json::{Value, json};

use super::{start, still_answers};
use attache_testkit::pairs::{
    Ask, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE, Pair, Refusal, VERB,
};

#[tokio::test]
async fn bad_json_is_told_apart_from_a_bad_request_on_every_pair() {
    let server = start().await;
    let bad: [&[u8]; 6] = [b"{", b"{\"message\":", b"nonsense", b"{}{}", b"{\"a\":\"\xff\"}", b"[1,]"];
    for pair in Pair::ALL {
        let client = pair.dress(&server.client()).with("content-type", "application/json");
        // The endpoint of both versions cannot know which one is meant by what it cannot read.
        let client = if pair == Pair::Rpc03 { client.with("A2A-Version", "0.3") } else { client };
        let (verb, path, _) = pair.request(&Ask::Send(json!({})));
        for body in bad {
            let refusal = Refusal::read(pair, &client.call(verb, &path, body).await);
            PARSE.check(pair, &refusal);
            assert_eq!(refusal.id, Value::Null);
            assert!(refusal.message.contains("JSON"), "{}", refusal.message);
        }
    }
    still_answers(&server).await;
}

#[tokio::test]
async fn an_empty_body_is_no_json_for_rpc_and_lacks_a_message_for_rest() {
    let server = start().await;
    let client = server.client().with("content-type", "application/json");
    for (pair, client) in unread(&client) {
        let refusal = Refusal::read(pair, &client.call("POST", "/", b"").await);
        PARSE.check(pair, &refusal);
    }
    for (pair, path) in [(Pair::Rest03, "/v1/message:send"), (Pair::Rest10, "/message:send")] {
        let refusal = Refusal::read(pair, &client.call("POST", path, b"").await);
        INVALID_PARAMS.check(pair, &refusal);
        assert_eq!(refusal.fields, ["message"], "{pair:?}");
        let refusal = Refusal::read(pair, &client.call("POST", path, b"[1]").await);
        INVALID_PARAMS.check(pair, &refusal);
        assert!(refusal.message.contains("must be an object, not an array"), "{}", refusal.message);
    }
}

#[tokio::test]
async fn what_is_no_json_rpc_request_is_refused_as_such() {
    let server = start().await;
    let call = json!({"jsonrpc": "2.0", "id": "x", "method": "ListTasks"});
    let with = |name: &str, value: Value| {
        let mut call = call.clone();
        call[name] = value;
        call
    };
    let without = |name: &str| {
        let mut call = call.clone();
        call.as_object_mut().expect("an object").remove(name);
        call
    };
    for (request, id, what) in [
        (json!([call]), Value::Null, "batch"),
        (json!([]), Value::Null, "batch"),
        (json!(5), Value::Null, "object"),
        (json!("ListTasks"), Value::Null, "object"),
        (json!(null), Value::Null, "object"),
        (json!({}), Value::Null, "jsonrpc"),
        (with("id", json!(true)), Value::Null, "id"),
        (with("id", json!(1.5)), Value::Null, "id"),
        (with("id", json!({})), Value::Null, "id"),
        (with("id", json!([1])), Value::Null, "id"),
        (without("jsonrpc"), json!("x"), "jsonrpc"),
        (with("jsonrpc", json!("1.0")), json!("x"), "jsonrpc"),
        (with("jsonrpc", json!(2.0)), json!("x"), "jsonrpc"),
        (without("method"), json!("x"), "method"),
        (with("method", json!(5)), json!("x"), "method"),
        (with("method", json!(null)), json!("x"), "method"),
    ] {
        for (pair, client) in unread(&server.client()) {
            let refusal = Refusal::read(pair, &client.post("/", &request).await);
            INVALID_REQUEST.check(pair, &refusal);
            assert_eq!(refusal.id, id, "{request}");
            assert!(refusal.message.contains(what), "{request}: {}", refusal.message);
        }
    }
    still_answers(&server).await;
}

#[tokio::test]
async fn params_that_are_no_object_are_invalid_params() {
    let server = start().await;
    for (pair, method) in
        [(Pair::Rpc10, "ListTasks"), (Pair::Rpc03, "message/send"), (Pair::Rpc10, "GetTask")]
    {
        for params in [json!([]), json!([{"id": "x"}]), json!("x"), json!(5), json!(true)] {
            let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
            let refusal = Refusal::read(pair, &server.client().post("/", &request).await);
            INVALID_PARAMS.check(pair, &refusal);
            assert_eq!(refusal.id, 1);
            assert!(refusal.message.contains("params"), "{}", refusal.message);
        }
    }
}

#[tokio::test]
async fn an_id_comes_back_with_its_type() {
    let server = start().await;
    let client = server.client();
    for id in [
        json!("x"),
        json!(""),
        json!("ü\"\\"),
        json!(0),
        json!(-7),
        json!(i64::MAX),
        json!(u64::MAX),
        json!(null),
    ] {
        for (method, params) in
            [("ListTasks", json!({})), ("GetTask", json!({"id": "no"})), ("nothing", json!({}))]
        {
            let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            let response = client.post("/", &request).await.json();
            assert_eq!(response.get("id"), Some(&id), "{method}");
        }
        let request = json!({"jsonrpc": "2.0", "id": id, "method": "SendStreamingMessage", "params": Pair::Rpc10.text(&id.to_string(), "echo x")});
        for frame in client.post_stream("/", &request).await.rest().await {
            assert_eq!(frame.data.get("id"), Some(&id), "on every frame");
        }
    }
    let request = json!({"jsonrpc": "2.0", "method": "ListTasks"});
    let response = client.post("/", &request).await.json();
    assert_eq!(response["id"], Value::Null);
    assert_eq!(response["result"]["tasks"].as_array().map(Vec::len), Some(8), "processed all the same");
}

#[tokio::test]
async fn an_unknown_method_is_not_found() {
    let server = start().await;
    for method in
        ["tasks/list", "message/Send", "sendMessage", "SendMessage ", "", "tasks/get/", "rpc.discover"]
    {
        let request = json!({"jsonrpc": "2.0", "id": 4, "method": method, "params": {}});
        // Without a header the style of the name tells which version its caller speaks.
        let silent = if method.contains('/') { Pair::Rpc03 } else { Pair::Rpc10 };
        for (pair, version) in [(silent, ""), (Pair::Rpc03, "0.3"), (Pair::Rpc10, "1.0")] {
            let client = server.client().with("A2A-Version", version);
            let refusal = Refusal::read(pair, &client.post("/", &request).await);
            METHOD_NOT_FOUND.check(pair, &refusal);
            assert_eq!(refusal.id, 4);
            assert!(refusal.message.contains(method));
        }
    }
}

#[tokio::test]
async fn an_unknown_path_is_not_found_in_the_shape_of_its_version() {
    let server = start().await;
    for (pair, verb, path) in [
        (Pair::Rest10, "GET", "/nothing"),
        (Pair::Rest10, "POST", "/message:sent"),
        (Pair::Rest10, "GET", "/tasks/"),
        (Pair::Rest10, "GET", "/tasks//pushNotificationConfigs"),
        (Pair::Rest10, "POST", "/tasks/x:explode"),
        (Pair::Rest10, "GET", "/tasks/%zz"),
        (Pair::Rest10, "GET", "/acme/nothing"),
        (Pair::Rest10, "GET", "/acme/v1/card"),
        (Pair::Rest10, "GET", "/health/tasks"),
        (Pair::Rest03, "GET", "/v1"),
        (Pair::Rest03, "GET", "/v1/tasks"),
        (Pair::Rest03, "GET", "/v1/nothing"),
        (Pair::Rest03, "GET", "/v1/extendedAgentCard"),
        (Pair::Rest03, "POST", "/v1/tasks/x:explode"),
    ] {
        let client = server.client().with("content-type", "application/json");
        let refusal = Refusal::read(pair, &client.call(verb, path, b"").await);
        METHOD_NOT_FOUND.check(pair, &refusal);
        assert!(refusal.message.contains(path), "{}", refusal.message);
    }
}

#[tokio::test]
async fn a_wrong_verb_is_told_which_ones_are_right() {
    let server = start().await;
    let client = server.client();
    for (pair, verb, path, allowed) in [
        (Pair::Rest10, "GET", "/message:send", "POST"),
        (Pair::Rest10, "PUT", "/message:stream", "POST"),
        (Pair::Rest10, "GET", "/tasks/x:cancel", "POST"),
        (Pair::Rest10, "DELETE", "/tasks/x:subscribe", "GET, POST"),
        (Pair::Rest10, "PATCH", "/tasks/x/pushNotificationConfigs", "GET, POST"),
        (Pair::Rest10, "POST", "/tasks/x/pushNotificationConfigs/c", "GET, DELETE"),
        (Pair::Rest10, "POST", "/extendedAgentCard", "GET"),
        (Pair::Rest10, "GET", "/acme/message:send", "POST"),
        (Pair::Rest03, "GET", "/v1/message:send", "POST"),
        (Pair::Rest03, "DELETE", "/v1/tasks/x", "GET"),
        (Pair::Rest03, "POST", "/v1/card", "GET"),
    ] {
        let answer = client.call(verb, path, b"").await;
        let refusal = Refusal::read(pair, &answer);
        VERB.check(pair, &refusal);
        assert_eq!(answer.header("allow"), Some(allowed), "{verb} {path}");
        assert!(refusal.message.contains(verb) && refusal.message.contains(path), "{}", refusal.message);
    }
    // Without a version it is a route of Gemini CLI's server.
    let answer = client.with("A2A-Version", "1.0").call("POST", "/tasks", b"").await;
    assert_eq!((answer.status, answer.header("allow")), (405, Some("GET")));
    for (path, allowed) in [("/tasks", "GET, POST"), ("/tasks/x", "GET")] {
        let answer = client.call("PUT", path, b"").await;
        let media_type = Some("application/json");
        assert_eq!((answer.status, answer.header("allow")), (405, Some(allowed)), "{path}");
        assert_eq!(answer.header("content-type"), media_type, "of the REST API: {path}");
        let answer = client.with("A2A-Version", "1.0").call("PUT", path, b"").await;
        assert_eq!((answer.status, answer.header("allow")), (405, Some("GET")), "{path}");
        assert_eq!(answer.header("content-type"), Some("application/a2a+json"), "{path}");
    }
    for (path, verb) in [("/", "GET"), ("/", "PUT"), ("/health", "POST"), ("/metrics", "DELETE")] {
        let answer = client.call(verb, path, b"").await;
        assert_eq!(answer.status, 405, "{verb} {path}");
        assert!(answer.header("allow").is_some(), "{verb} {path}");
    }
}

/// Each way to name a version, with the pair in whose shape a request is refused that cannot be read far
/// enough to tell its method.
fn unread(client: &TestClient) -> [(Pair, TestClient); 3] {
    [
        (Pair::Rpc03, client.clone()),
        (Pair::Rpc03, client.with("A2A-Version", "0.3")),
        (Pair::Rpc10, client.with("A2A-Version", "1.0")),
    ]
}
