//! Parameters that are wrong: each is refused with the name of what is wrong, and nothing happens.

use serde_json::{Value, json};

use super::{start, still_answers};
use attache_testkit::pairs::task_of;
use attache_testkit::pairs::{Ask, INVALID_PARAMS, Pair, Refusal, Reply, bytes};

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
    (
        "a role that does not exist",
        |_, it| it["message"]["role"] = "ROLE_ROBOT".into(),
        |_| "message.role".into(),
    ),
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
        |pair| match pair {
            Pair::Rpc03 => "message.parts[0].kind".to_owned(),
            _ => format!("message.{}[0]", pair.parts()),
        },
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
async fn d7_unknown_members_are_ignored_and_both_forms_of_names_are_read() {
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
