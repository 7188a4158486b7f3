//! Refusals: each has its code, status, reason and shape on every pair, names what was wrong, and costs nothing.

use attache_testkit::{Client, ServerProcess};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::pairs::driver::{Ask, Pair, REQUEST_ID, Refusal, Reply, bytes};
use crate::pairs::task_of;
use crate::support::{SCRIPT, launch};

/// One row of the tables of errors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    code: i64,
    http: u16,
    status: &'static str,
    reason: &'static str,
    name: &'static str,
    /// HTTP itself was the matter, so JSON-RPC does not answer 200 either.
    at_http_level: bool,
}

const fn row(code: i64, http: u16, status: &'static str, reason: &'static str, name: &'static str) -> Row {
    Row { code, http, status, reason, name, at_http_level: false }
}

pub(crate) const TASK_NOT_FOUND: Row = row(-32001, 404, "NOT_FOUND", "TASK_NOT_FOUND", "TaskNotFoundError");
const NOT_CANCELABLE: Row =
    row(-32002, 400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE", "TaskNotCancelableError");
const NO_PUSH: Row = row(
    -32003,
    400,
    "FAILED_PRECONDITION",
    "PUSH_NOTIFICATION_NOT_SUPPORTED",
    "PushNotificationNotSupportedError",
);
const UNSUPPORTED: Row =
    row(-32004, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION", "UnsupportedOperationError");
const CONTENT_TYPE: Row =
    row(-32005, 400, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED", "ContentTypeNotSupportedError");
pub(crate) const EXTENSION_REQUIRED: Row =
    row(-32008, 400, "FAILED_PRECONDITION", "EXTENSION_SUPPORT_REQUIRED", "ExtensionSupportRequiredError");
pub(crate) const VERSION: Row =
    row(-32009, 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED", "VersionNotSupportedError");
const PARSE: Row = row(-32700, 400, "INVALID_ARGUMENT", "INVALID_REQUEST", "JSONParseError");
const INVALID_REQUEST: Row = row(-32600, 400, "INVALID_ARGUMENT", "INVALID_REQUEST", "InvalidRequestError");
const METHOD_NOT_FOUND: Row = row(-32601, 404, "UNIMPLEMENTED", "METHOD_NOT_FOUND", "MethodNotFoundError");
const VERB: Row = row(-32601, 405, "UNIMPLEMENTED", "METHOD_NOT_FOUND", "MethodNotFoundError");
pub(crate) const INVALID_PARAMS: Row =
    row(-32602, 400, "INVALID_ARGUMENT", "INVALID_PARAMS", "InvalidParamsError");
const MEDIA_TYPE: Row = Row {
    http: 415,
    at_http_level: true,
    ..row(-32005, 415, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED", "ContentTypeNotSupportedError")
};
const TOO_LARGE: Row = Row {
    at_http_level: true,
    ..row(-32600, 413, "INVALID_ARGUMENT", "INVALID_REQUEST", "InvalidRequestError")
};

impl Row {
    #[track_caller]
    pub(crate) fn check(&self, pair: Pair, refusal: &Refusal) {
        let Self { code, http, status, reason, name, at_http_level } = *self;
        let http = if pair.is_rest() || at_http_level { http } else { 200 };
        assert_eq!(refusal.http, http, "{pair:?}: {refusal:#?}");
        assert_eq!(refusal.code, (pair != Pair::Rest10).then_some(code), "{pair:?}: {refusal:#?}");
        assert_eq!(refusal.reason.as_deref(), pair.is_v1_0().then_some(reason), "{pair:?}: {refusal:#?}");
        assert_eq!(refusal.status.as_deref(), (pair == Pair::Rest10).then_some(status), "{pair:?}");
        assert_eq!(refusal.name.as_deref(), (pair == Pair::Rest03).then_some(name), "{pair:?}");
        assert!(!refusal.message.is_empty(), "{pair:?}");
    }

    /// Checks the refusal of `ask`, the echo of its id, and that the message names `what`.
    pub(crate) async fn refuses(&self, pair: Pair, client: &Client, ask: &Ask, what: &str) -> Refusal {
        let refusal = pair.call(client, ask).await.refusal();
        self.check(pair, &refusal);
        if !pair.is_rest() {
            assert_eq!(refusal.id, REQUEST_ID, "{pair:?} {ask:?}");
        }
        assert!(refusal.message.contains(what), "{what:?} is not in {:?} ({pair:?})", refusal.message);
        refusal
    }
}

async fn start() -> ServerProcess {
    launch().forgetful().script(SCRIPT).start().await
}

async fn start_with(settings: &str) -> ServerProcess {
    launch().forgetful().script(SCRIPT).settings(settings).start().await
}

/// Nothing was lost: the server goes on answering on every pair.
async fn still_answers(server: &ServerProcess) {
    for pair in Pair::ALL {
        let task = task_of(pair, &server.client(), &format!("after-{pair:?}"), "echo still here").await;
        assert!(!task.is_empty());
    }
}

#[tokio::test]
async fn a_task_nobody_knows_is_not_found_by_any_operation() {
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
    let server = start().await;
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
    let server = start_with("[card]\nstreaming = false\n").await;
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

#[tokio::test]
async fn two_ids_that_do_not_belong_together_are_refused() {
    let server = start().await;
    let client = server.client();
    for pair in Pair::ALL {
        let task = task_of(pair, &client, &format!("{pair:?}"), "ask").await;
        let before = pair.result(&client, &Ask::Get(task.clone())).await;
        let mut params = pair.text_to(&task, "m2", "Ada");
        params["message"]["contextId"] = "another-context".into();
        for ask in [Ask::Send(params.clone()), Ask::Stream(params)] {
            let refusal = INVALID_PARAMS.refuses(pair, &client, &ask, "context").await;
            assert_eq!(refusal.fields, ["message.contextId"], "{pair:?}");
        }
        let after = pair.result(&client, &Ask::Get(task)).await;
        assert_eq!(after, before, "the message was not taken");
    }
}

/// What is done to the parameters of a send, and the member that is then wrong.
type Spoiling = (&'static str, fn(Pair, &mut Value), fn(Pair) -> String);

const SPOILINGS: &[Spoiling] = &[
    ("no message", |_, it| *it = json!({}), |_| "message".into()),
    ("a message that is null", |_, it| it["message"] = Value::Null, |_| "message".into()),
    ("a message that is text", |_, it| it["message"] = "hello".into(), |_| "message".into()),
    ("no role", |_, it| remove(it, "role"), |_| "message.role".into()),
    ("a role nobody has", |_, it| it["message"]["role"] = "ROLE_ROBOT".into(), |_| "message.role".into()),
    (
        "an unspecified role",
        |_, it| it["message"]["role"] = "ROLE_UNSPECIFIED".into(),
        |_| "message.role".into(),
    ),
    ("a role that is true", |_, it| it["message"]["role"] = true.into(), |_| "message.role".into()),
    ("no messageId", |_, it| remove(it, "messageId"), |_| "message.messageId".into()),
    ("an empty messageId", |_, it| it["message"]["messageId"] = "".into(), |_| "message.messageId".into()),
    (
        "a messageId that is a number",
        |_, it| it["message"]["messageId"] = 5.into(),
        |_| "message.messageId".into(),
    ),
    ("no parts", |pair, it| remove(it, pair.parts()), |pair| format!("message.{}", pair.parts())),
    (
        "empty parts",
        |pair, it| it["message"][pair.parts()] = json!([]),
        |pair| format!("message.{}", pair.parts()),
    ),
    (
        "parts that are no list",
        |pair, it| it["message"][pair.parts()] = json!({}),
        |pair| format!("message.{}", pair.parts()),
    ),
    (
        "a part that is text",
        |pair, it| it["message"][pair.parts()] = json!(["hello"]),
        |pair| format!("message.{}[0]", pair.parts()),
    ),
    (
        "a part of nothing",
        |pair, it| it["message"][pair.parts()] = json!([{}]),
        |pair| format!("message.{}[0]", pair.parts()),
    ),
    ("a part of an unknown kind", spoil_kind, |pair| match pair.is_v1_0() {
        true => format!("message.{}[1]", pair.parts()),
        false => format!("message.{}[1].kind", pair.parts()),
    }),
    ("a part of two kinds", spoil_with_two, |pair| format!("message.{}[0]", pair.parts())),
    (
        "a text that is a number",
        |pair, it| it["message"][pair.parts()][0]["text"] = 5.into(),
        |pair| format!("message.{}[0].text", pair.parts()),
    ),
    ("bytes that are no base64", spoil_bytes, |pair| match pair {
        Pair::Rpc03 => "message.parts[0].file.bytes".into(),
        Pair::Rest03 => "message.content[0].file.fileWithBytes".into(),
        Pair::Rpc10 | Pair::Rest10 => "message.parts[0].raw".into(),
    }),
    (
        "a contextId that is a number",
        |_, it| it["message"]["contextId"] = 5.into(),
        |_| "message.contextId".into(),
    ),
    ("a taskId that is a list", |_, it| it["message"]["taskId"] = json!([]), |_| "message.taskId".into()),
    ("metadata that is a list", |_, it| it["metadata"] = json!([1]), |_| "metadata".into()),
    ("a configuration that is text", |_, it| it["configuration"] = "fast".into(), |_| "configuration".into()),
    (
        "a negative historyLength",
        |_, it| it["configuration"] = json!({"historyLength": -1}),
        |_| "configuration.historyLength".into(),
    ),
    (
        "a historyLength that is a word",
        |_, it| it["configuration"] = json!({"historyLength": "many"}),
        |_| "configuration.historyLength".into(),
    ),
    (
        "a historyLength that is a fraction",
        |_, it| it["configuration"] = json!({"historyLength": 1.5}),
        |_| "configuration.historyLength".into(),
    ),
    (
        "a wait that is a word",
        |pair, it| it["configuration"] = json!({ waiting(pair): "yes" }),
        |pair| format!("configuration.{}", waiting(pair)),
    ),
    (
        "output modes that are text",
        |_, it| it["configuration"] = json!({"acceptedOutputModes": "text/plain"}),
        |_| "configuration.acceptedOutputModes".into(),
    ),
];

#[tokio::test]
async fn d2_d8_a_message_that_is_wrong_is_refused_with_the_name_of_what_is_wrong() {
    let server = start().await;
    let client = server.client();
    for pair in Pair::ALL {
        for (name, spoil, field) in SPOILINGS {
            let mut params = pair.text("m1", "echo x");
            spoil(pair, &mut params);
            let field = field(pair);
            for ask in [Ask::Send(params.clone()), Ask::Stream(params)] {
                let refusal = INVALID_PARAMS.refuses(pair, &client, &ask, &field).await;
                assert_eq!(refusal.fields, [field.as_str()], "{name} on {pair:?}");
            }
        }
    }
    let health = client.get("/health").await.json();
    assert_eq!(health["totalTasks"], 0, "nothing of that opened a task");
    still_answers(&server).await;
}

#[tokio::test]
async fn everything_that_is_wrong_is_named_at_once() {
    let server = start().await;
    for pair in Pair::ALL {
        let mut params = pair.text("m1", "echo x");
        remove(&mut params, "role");
        params["message"]["messageId"] = 5.into();
        params["configuration"] = json!({"historyLength": -1});
        let mut refusal = pair.call(&server.client(), &Ask::Send(params)).await.refusal();
        refusal.fields.sort_unstable();
        assert_eq!(refusal.fields, ["configuration.historyLength", "message.messageId", "message.role"]);
    }
}

#[tokio::test]
async fn a_negative_history_length_is_refused_by_get_as_well() {
    let server = start().await;
    let client = server.client();
    let task = task_of(Pair::Rpc10, &client, "m1", "echo x").await;
    for pair in Pair::ALL {
        for length in ["-1", "many", "1.5"] {
            let (verb, path, body) = pair.request(&Ask::Get(task.clone()));
            let number = length.parse::<f64>().map_or_else(
                |_| json!(length),
                |number| match number.fract() {
                    0.0 => json!(number as i64),
                    _ => json!(number),
                },
            );
            let client = pair.dress(&client).with("content-type", "application/json");
            let answer = match body {
                Some(mut body) => {
                    body["params"]["historyLength"] = number;
                    client.call(verb, &path, &bytes(&body)).await
                }
                None => client.call(verb, &format!("{path}?historyLength={length}"), b"").await,
            };
            let refusal = Reply { pair, answer }.refusal();
            INVALID_PARAMS.check(pair, &refusal);
            assert_eq!(refusal.fields, ["historyLength"], "{pair:?} {length}");
        }
    }
}

#[tokio::test]
async fn a_task_id_is_required_where_a_task_is_meant() {
    let server = start().await;
    for method in
        ["tasks/get", "tasks/cancel", "tasks/resubscribe", "GetTask", "CancelTask", "SubscribeToTask"]
    {
        let pair = if method.starts_with("tasks") { Pair::Rpc03 } else { Pair::Rpc10 };
        for params in [json!({}), json!({"": "x"}), json!({"id": ""}), json!({"id": 5}), json!({"id": null})]
        {
            let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
            let refusal = Refusal::read(pair, &server.client().post("/", &request).await);
            INVALID_PARAMS.check(pair, &refusal);
            assert_eq!(refusal.fields, ["id"], "{method} {params}");
        }
    }
}

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
        json!("ü\"\n"),
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
async fn a_method_nobody_knows_is_not_found() {
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
async fn a_path_nobody_knows_is_not_found_in_the_shape_of_its_version() {
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
        (Pair::Rest10, "POST", "/tasks", "GET"),
        (Pair::Rest10, "DELETE", "/tasks/x", "GET"),
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
    for (path, verb) in [("/", "GET"), ("/", "PUT"), ("/health", "POST"), ("/metrics", "DELETE")] {
        let answer = client.call(verb, path, b"").await;
        assert_eq!(answer.status, 405, "{verb} {path}");
        assert!(answer.header("allow").is_some(), "{verb} {path}");
    }
}

#[tokio::test]
async fn a_body_needs_a_json_content_type() {
    let server = start().await;
    for pair in Pair::ALL {
        let (verb, path, body) = pair.request(&Ask::Send(pair.text(&format!("{pair:?}"), "echo x")));
        let body = bytes(&body.expect("a body"));
        let client = server.client().with("A2A-Version", pair.version());
        for wrong in
            ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "json"]
        {
            let answer = client.with("content-type", wrong).call(verb, &path, &body).await;
            let refusal = Refusal::read(pair, &answer);
            MEDIA_TYPE.check(pair, &refusal);
            let essence = wrong.split(';').next().expect("a type");
            assert!(refusal.message.contains(essence), "{}", refusal.message);
        }
        // Browsers send a body without a type across sites without asking first.
        let refusal = Refusal::read(pair, &client.call(verb, &path, &body).await);
        MEDIA_TYPE.check(pair, &refusal);
        assert!(refusal.message.contains("no content type"), "{}", refusal.message);
        for right in ["application/json", "application/a2a+json", "Application/JSON; charset=utf-8"] {
            let answer = client.with("content-type", right).call(verb, &path, &body).await;
            assert_eq!(answer.status, 200, "{right}: {}", answer.text());
        }
    }
    let listed = server.client().rpc("ListTasks", json!({})).await;
    assert_eq!(listed["result"]["totalSize"], 4, "the wrong ones opened no task");
}

#[tokio::test]
async fn a7_a_body_over_the_limit_is_refused_and_one_at_the_limit_is_not() {
    let server = start_with("[limits]\nbody_bytes = 2048\n").await;
    for pair in Pair::ALL {
        let client =
            server.client().with("content-type", "application/json").with("A2A-Version", pair.version());
        let (verb, path, body) = sized(pair, "right", 2048);
        let answer = client.call(verb, &path, &body).await;
        assert_eq!(answer.status, 200, "{pair:?}: {}", answer.text());
        let (verb, path, body) = sized(pair, "wrong", 2049);
        let refusal = Refusal::read(pair, &client.call(verb, &path, &body).await);
        TOO_LARGE.check(pair, &refusal);
        assert!(refusal.message.contains("2048"), "{}", refusal.message);
        assert_eq!(
            refusal.metadata["limit"].as_str().map(str::to_owned),
            Some("2048".to_owned()),
            "{pair:?}"
        );
    }
}

#[tokio::test]
async fn a7_a_chunked_body_over_the_limit_is_refused_too() {
    let server = start_with("[limits]\nbody_bytes = 2048\n").await;
    for pair in Pair::ALL {
        for (size, expected) in [(2048, "HTTP/1.1 200"), (2049, "HTTP/1.1 413"), (6000, "HTTP/1.1 413")] {
            let (verb, path, body) = sized(pair, &format!("chunked-{size}"), size);
            let head = format!(
                "{verb} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\na2a-version: {}\r\n\
                 content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n",
                pair.version()
            );
            let mut request = head.into_bytes();
            for piece in body.chunks(500) {
                request.extend(format!("{:x}\r\n", piece.len()).bytes());
                request.extend(piece);
                request.extend(b"\r\n");
            }
            request.extend(b"0\r\n\r\n");
            let answer = server.client().raw(&request).await;
            assert!(answer.starts_with(expected), "{pair:?} {size}: {answer}");
        }
    }
    still_answers(&server).await;
}

#[tokio::test]
async fn a7_a_huge_body_is_refused_before_it_is_sent() {
    let server = start_with("[limits]\nbody_bytes = 2048\n").await;
    for path in ["/", "/message:send", "/v1/message:send"] {
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             content-length: 1000000000\r\nexpect: 100-continue\r\n\r\n"
        );
        let answer = server.client().raw(head.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 413"), "{path}: {answer}");
    }
    still_answers(&server).await;
}

#[tokio::test]
async fn a7_a_client_that_sends_a_huge_body_all_the_same_hears_why_it_is_refused() {
    let server = start_with("[limits]\nbody_bytes = 2048\n").await;
    for pair in Pair::ALL {
        let client =
            server.client().with("content-type", "application/json").with("A2A-Version", pair.version());
        let (verb, path, body) = sized(pair, "huge", 4 << 20);
        let refusal = Refusal::read(pair, &client.call(verb, &path, &body).await);
        TOO_LARGE.check(pair, &refusal);
    }
}

#[tokio::test]
async fn a7_a_body_may_have_twenty_mebibytes_unless_told_otherwise() {
    let server = start().await;
    for (length, expected) in [(20 << 20, b"HTTP/1.1 100"), ((20 << 20) + 1, b"HTTP/1.1 413")] {
        let head = format!(
            "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\nexpect: 100-continue\r\n\r\n"
        );
        let mut socket = TcpStream::connect(server.address()).await.expect("the server accepts");
        socket.write_all(head.as_bytes()).await.expect("a request");
        let mut first = [0; 12];
        socket.read_exact(&mut first).await.expect("an answer");
        assert_eq!(&first, expected, "{length}");
    }
}

#[tokio::test]
async fn a7_nesting_over_the_limit_is_refused_and_at_the_limit_is_not() {
    let server = start_with("[limits]\njson_depth = 20\n").await;
    for pair in Pair::ALL {
        let client =
            server.client().with("content-type", "application/json").with("A2A-Version", pair.version());
        // Parameters stand one level deeper inside a JSON-RPC envelope; then metadata and the member itself.
        let outside = if pair.is_rest() { 2 } else { 3 };
        for (depth, fits) in [(20, true), (21, false), (5000, false)] {
            let mut params = pair.text(&format!("{pair:?}-{depth}"), "echo x");
            params["metadata"] = json!({"deep": "HERE"});
            let (verb, path, body) = pair.request(&Ask::Send(params));
            let inside = depth - outside;
            let nested = format!("{}{}", "[".repeat(inside), "]".repeat(inside));
            let body = body.expect("a body").to_string().replace("\"HERE\"", &nested);
            let answer = client.call(verb, &path, body.as_bytes()).await;
            if fits {
                assert_eq!(answer.status, 200, "{pair:?}: {}", answer.text());
                assert!(answer.text().contains("COMPLETED") || answer.text().contains("completed"));
                continue;
            }
            let refusal = Refusal::read(pair, &answer);
            INVALID_REQUEST.check(pair, &refusal);
            assert!(refusal.message.contains("20 levels"), "{}", refusal.message);
        }
        let (verb, path, _) = pair.request(&Ask::Send(json!({})));
        let brackets = vec![b'['; 1 << 20];
        let refusal = Refusal::read(pair, &client.call(verb, &path, &brackets).await);
        INVALID_REQUEST.check(pair, &refusal);
    }
    still_answers(&server).await;
}

#[tokio::test]
async fn d7_members_nobody_knows_are_passed_over_and_both_spellings_are_read() {
    let server = start().await;
    let client = server.client();
    for pair in Pair::ALL {
        let mut params = pair.text(&format!("{pair:?}"), "echo x");
        params["surprise"] = json!({"a": 1});
        params["message"]["surprise"] = json!([1]);
        params["message"][pair.parts()][0]["surprise"] = json!(true);
        pair.result(&client, &Ask::Send(params)).await;
        if pair != Pair::Rpc03 {
            let mut params = pair.text("", "echo x");
            let message = params["message"].as_object_mut().expect("an object");
            message.remove("messageId");
            message.insert("message_id".into(), format!("snake-{pair:?}").into());
            message.insert("role".into(), 1.into());
            pair.result(&client, &Ask::Send(params)).await;
        }
    }
}

/// Each way to name a version, with the pair in whose shape a request is refused that cannot be read far
/// enough to tell its method.
fn unread(client: &Client) -> [(Pair, Client); 3] {
    [
        (Pair::Rpc03, client.clone()),
        (Pair::Rpc03, client.with("A2A-Version", "0.3")),
        (Pair::Rpc10, client.with("A2A-Version", "1.0")),
    ]
}

/// Verb, path and a body of exactly `size` bytes.
fn sized(pair: Pair, id: &str, size: usize) -> (&'static str, String, Vec<u8>) {
    let mut params = pair.text(&format!("{id}-{pair:?}"), "echo x");
    params["metadata"] = json!({"filler": ""});
    let (verb, path, body) = pair.request(&Ask::Send(params));
    let body = body.expect("a body").to_string();
    let filler = "x".repeat(size - body.len());
    (verb, path, body.replace("\"filler\":\"", &format!("\"filler\":\"{filler}")).into_bytes())
}

fn remove(params: &mut Value, name: &str) {
    params["message"].as_object_mut().expect("an object").remove(name);
}

fn waiting(pair: Pair) -> &'static str {
    if pair.is_v1_0() { "returnImmediately" } else { "blocking" }
}

fn spoil_kind(pair: Pair, params: &mut Value) {
    let unknown = match pair.is_v1_0() {
        true => json!({"video": "x"}),
        false => json!({"kind": "video", "video": "x"}),
    };
    params["message"][pair.parts()] = json!([pair.text_part("fine"), unknown]);
}

fn spoil_with_two(pair: Pair, params: &mut Value) {
    params["message"][pair.parts()] = match pair {
        Pair::Rpc03 => json!([{"kind": "text", "text": "x", "data": {}}]),
        Pair::Rest03 => json!([{"text": "x", "data": {"data": {}}}]),
        Pair::Rpc10 | Pair::Rest10 => json!([{"text": "x", "url": "https://example.com"}]),
    };
}

fn spoil_bytes(pair: Pair, params: &mut Value) {
    params["message"][pair.parts()] = match pair {
        Pair::Rpc03 => json!([{"kind": "file", "file": {"bytes": "no base64!"}}]),
        Pair::Rest03 => json!([{"file": {"fileWithBytes": "no base64!"}}]),
        Pair::Rpc10 | Pair::Rest10 => json!([{"raw": "no base64!"}]),
    };
}
