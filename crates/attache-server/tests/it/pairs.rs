//! Two versions on two bindings are four ways to one agent: a task made on one reads the same on all.

use attache_domain::DuplicateWindow;
use attache_testkit::TestClient;
use attache_testkit::pairs::{Ask, Pair, canonical, task_of};
use serde_json::{Value, json};

use crate::world::launch;

#[tokio::test]
async fn m8_a_task_made_on_any_pair_reads_the_same_on_every_pair() {
    let server = launch().start().await;
    let client = server.client();
    for (made_on, text) in
        every_pair_and(&["echo hi", "artifacts", "ask", "reject", "fail", "auth", "status"])
    {
        let id = format!("{made_on:?}-{text}");
        let sent = made_on.result(&client, &Ask::Send(made_on.text(&id, text))).await;
        let sent = canonical::item(made_on, &sent);
        let task = sent["task"]["id"].as_str().expect("a task").to_owned();
        for read_on in Pair::ALL {
            let read = read_on.result(&client, &Ask::Get(task.clone())).await;
            assert_eq!(
                canonical::task(read_on, &read),
                sent["task"],
                "{text} on {made_on:?}, read on {read_on:?}"
            );
        }
    }
}

#[tokio::test]
async fn m8_every_kind_of_part_survives_the_way_through_every_pair() {
    let server = launch().start().await;
    let client = server.client();
    let neutral = json!([
        {"content": {"text": "echo parts ä\n\"\u{1F600}"}, "metadata": {"lang": "en"}},
        {"content": {"bytes": "AAEC/w==", "type": "application/octet-stream", "name": "a.bin"}, "metadata": null},
        {"content": {"url": "https://example.com/b.png", "type": "image/png", "name": "b.png"}, "metadata": null},
        {"content": {"data": {"n": 1, "deep": [{"x": null}], "f": 1.5}}, "metadata": {"k": [1]}},
        {"content": {"data": [1, "two", null]}, "metadata": {"flat": true}},
        {"content": {"data": "just text"}, "metadata": null},
    ]);
    for made_on in Pair::ALL {
        let mut params = made_on.text(&format!("parts-{made_on:?}"), "");
        params["message"][made_on.parts()] = parts(made_on);
        params["message"]["metadata"] = json!({"https://example.com/ext": {"snake_key": 1, "camelKey": 2}});
        params["message"]["extensions"] = json!(["https://example.com/ext"]);
        params["metadata"] = json!({"trace": "abc"});
        let sent = made_on.result(&client, &Ask::Send(params)).await;
        let sent = canonical::item(made_on, &sent)["task"].take();
        let message = &sent["history"][0];
        assert_eq!(message["parts"], neutral, "{made_on:?}");
        assert_eq!(message["metadata"]["https://example.com/ext"], json!({"snake_key": 1, "camelKey": 2}));
        assert_eq!(message["extensions"], json!(["https://example.com/ext"]));
        let task = sent["id"].as_str().expect("a task").to_owned();
        for read_on in Pair::ALL {
            let read = read_on.result(&client, &Ask::Get(task.clone())).await;
            assert_eq!(canonical::task(read_on, &read), sent, "made on {made_on:?}, read on {read_on:?}");
        }
    }
}

#[tokio::test]
async fn m8_the_same_message_is_the_same_task_whichever_pair_brings_it() {
    let server = launch().session(|session| session.duplicate_sends = DuplicateWindow::Always).start().await;
    let client = server.client();
    let mut tasks = Vec::new();
    for pair in Pair::ALL {
        let sent = pair.result(&client, &Ask::Send(pair.text("m1", "echo once"))).await;
        tasks.push(canonical::item(pair, &sent));
    }
    assert!(tasks.windows(2).all(|two| two[0] == two[1]), "{tasks:#?}");
}

#[tokio::test]
async fn a_bare_reply_is_a_message_on_every_pair() {
    let server = launch().start().await;
    let client = server.client();
    for pair in Pair::ALL {
        let sent = pair.result(&client, &Ask::Send(pair.text(&format!("{pair:?}"), "bare"))).await;
        let message = canonical::item(pair, &sent)["message"].take();
        assert_eq!(message["role"], "agent", "{pair:?}");
        assert_eq!(message["parts"][0]["content"]["text"], "Just a message.");
        assert!(message["context"].is_string());
        assert_eq!(message["task"], Value::Null, "there is no task to name");
        let mut stream = pair.stream(&client, &Ask::Stream(pair.text(&format!("s-{pair:?}"), "bare"))).await;
        let frames = stream.rest().await;
        assert_eq!(frames.len(), 1, "{pair:?}: exactly one message, then the end");
        let streamed = canonical::item(pair, frames[0].payload())["message"].take();
        assert_eq!(streamed["parts"][0]["content"]["text"], "Just a message.");
    }
}

#[tokio::test]
async fn s3_streams_of_one_task_on_four_pairs_carry_the_same_ids_and_say_the_same() {
    let server = launch().start().await;
    let client = server.client();
    let asked = Pair::Rpc10.result(&client, &Ask::Send(Pair::Rpc10.text("m1", "ask"))).await;
    let task = asked["task"]["id"].as_str().expect("a task").to_owned();
    let mut streams = Vec::new();
    for pair in Pair::ALL {
        let mut stream = pair.stream(&client, &Ask::Subscribe(task.clone())).await;
        let first = stream.next().await.expect("the task comes first");
        streams.push((pair, stream, vec![(first.id, canonical::item(pair, first.payload()))]));
    }
    Pair::Rest03.result(&client, &Ask::Send(Pair::Rest03.text_to(&task, "m2", "Ada"))).await;
    let mut seen = Vec::new();
    for (pair, mut stream, mut items) in streams {
        let frames = stream.rest().await;
        items.extend(frames.iter().map(|frame| (frame.id, canonical::item(pair, frame.payload()))));
        seen.push((pair, items));
    }
    let (_, expected) = &seen[0];
    assert_eq!(expected[0].1["task"]["status"]["state"], "input-required");
    assert_eq!(expected.last().expect("events").1["status"]["status"]["state"], "completed");
    assert!(
        expected
            .iter()
            .any(|(_, item)| item["artifact"]["artifact"]["parts"][0]["content"]["text"] == "Hello, Ada!")
    );
    for (pair, items) in &seen[1..] {
        assert_eq!(items, expected, "{pair:?}");
    }
}

#[tokio::test]
async fn s2_s5_a_stream_begins_with_the_task_and_folds_into_what_get_returns() {
    let server = launch().start().await;
    let client = server.client();
    for (pair, text) in every_pair_and(&["stream", "artifacts", "ask", "fail", "status"]) {
        let ask = Ask::Stream(pair.text(&format!("{pair:?}-{text}"), text));
        let frames = pair.stream(&client, &ask).await.rest().await;
        let items: Vec<_> = frames.iter().map(|frame| canonical::item(pair, frame.payload())).collect();
        let ids: Vec<_> = frames.iter().map(|frame| frame.id.expect("an id on every frame")).collect();
        assert!(ids.windows(2).all(|two| two[0] < two[1]), "{pair:?} {text}: {ids:?}");
        let mut folded = items[0]["task"].clone();
        assert!(folded.is_object(), "{pair:?} {text}: the task comes first");
        for item in &items[1..] {
            fold(&mut folded, item);
        }
        let task = folded["id"].as_str().expect("an id").to_owned();
        let read = canonical::task(pair, &pair.result(&client, &Ask::Get(task)).await);
        assert_eq!(folded["status"], read["status"], "{pair:?} {text}");
        assert_eq!(folded["artifacts"], read["artifacts"], "{pair:?} {text}");
        let last = items.last().expect("an end");
        assert_eq!(last["status"]["status"], read["status"], "{pair:?} {text}: the status ends the stream");
    }
}

#[tokio::test]
async fn a_task_begun_on_one_pair_is_continued_on_another() {
    let server = launch().start().await;
    let client = server.client();
    for begun_on in Pair::ALL {
        for continued_on in Pair::ALL {
            let name = format!("{begun_on:?}-{continued_on:?}");
            let task = task_of(begun_on, &client, &name, "ask").await;
            let ask = Ask::Send(continued_on.text_to(&task, &format!("{name}-2"), "Ada"));
            let done = canonical::item(continued_on, &continued_on.result(&client, &ask).await);
            assert_eq!(done["task"]["id"], task, "{name}");
            assert_eq!(done["task"]["status"]["state"], "completed", "{name}");
            assert_eq!(done["task"]["history"][3]["parts"][0]["content"]["text"], "Hello, Ada!", "{name}");
        }
    }
}

#[tokio::test]
async fn c1_a_task_begun_on_one_pair_is_canceled_on_another() {
    let server = launch().start().await;
    let client = server.client();
    for begun_on in Pair::ALL {
        for canceled_on in Pair::ALL {
            let name = format!("{begun_on:?}-{canceled_on:?}");
            let ask = Ask::Stream(begun_on.text(&name, "slow"));
            let mut stream = begun_on.stream(&client, &ask).await;
            let first = stream.next().await.expect("the task");
            let first = canonical::item(begun_on, first.payload());
            let task = first["task"]["id"].as_str().expect("an id").to_owned();
            let canceled = canceled_on.result(&client, &Ask::Cancel(task)).await;
            assert_eq!(canceled["status"]["state"], canceled_on.canceled(), "{name}");
            let rest = stream.rest().await;
            let last = canonical::item(begun_on, rest.last().expect("an end").payload());
            assert_eq!(last["status"]["status"]["state"], "canceled", "{name}");
        }
    }
}

#[tokio::test]
async fn s8_s9_a_finished_task_refuses_subscribers_of_1_0_and_shows_itself_to_those_of_0_3() {
    let server = launch().start().await;
    let client = server.client();
    let task = task_of(Pair::Rpc10, &client, "m1", "echo done").await;
    for pair in Pair::ALL {
        if pair.is_v1_0() {
            let refusal = pair.call(&client, &Ask::Subscribe(task.clone())).await.refusal();
            assert_eq!(refusal.reason.as_deref(), Some("UNSUPPORTED_OPERATION"), "{pair:?}");
            continue;
        }
        let frames = pair.stream(&client, &Ask::Subscribe(task.clone())).await.rest().await;
        assert_eq!(frames.len(), 1, "{pair:?}");
        let shown = canonical::item(pair, frames[0].payload());
        assert_eq!(shown["task"]["status"]["state"], "completed", "{pair:?}");
    }
}

#[tokio::test]
async fn b1_b3_not_waiting_is_requested_differently_on_each_pair() {
    let server = launch().start().await;
    let client = server.client();
    let at_once = [
        (Pair::Rpc10, json!({"returnImmediately": true})),
        (Pair::Rest10, json!({"returnImmediately": true})),
        (Pair::Rpc03, json!({"blocking": false})),
        (Pair::Rest03, json!({"blocking": false})),
        // ProtoJSON cannot tell false from absent, so a configuration that does not ask to wait does not wait.
        (Pair::Rest03, json!({"historyLength": 5})),
    ];
    for (index, (pair, configuration)) in at_once.into_iter().enumerate() {
        let mut params = pair.text(&format!("now-{index}"), "slow");
        params["configuration"] = configuration;
        let sent = canonical::item(pair, &pair.result(&client, &Ask::Send(params)).await);
        let state = sent["task"]["status"]["state"].as_str().expect("a state").to_owned();
        assert!(matches!(state.as_str(), "submitted" | "working"), "{pair:?}: {state}");
    }
    let waiting = [
        (Pair::Rpc10, json!({"returnImmediately": false})),
        (Pair::Rest10, json!({})),
        (Pair::Rpc03, json!({"blocking": true})),
        (Pair::Rpc03, json!({"historyLength": 5})),
        (Pair::Rest03, json!({"blocking": true})),
        (Pair::Rest03, Value::Null),
    ];
    for (index, (pair, configuration)) in waiting.into_iter().enumerate() {
        let mut params = pair.text(&format!("wait-{index}"), "stream");
        params["configuration"] = configuration;
        let sent = canonical::item(pair, &pair.result(&client, &Ask::Send(params)).await);
        assert_eq!(sent["task"]["status"]["state"], "completed", "{pair:?}");
    }
}

#[tokio::test]
async fn history_length_trims_on_every_pair_and_zero_is_none_but_on_0_3_rest() {
    let server = launch().start().await;
    let client = server.client();
    let task = task_of(Pair::Rpc10, &client, "m1", "echo a").await;
    for pair in Pair::ALL {
        for (length, expected) in [(Some(0), 0), (Some(1), 1), (Some(2), 2), (Some(99), 2), (None, 2)] {
            let expected = if pair == Pair::Rest03 && length == Some(0) { 2 } else { expected };
            let read = get_with_history(pair, &client, &task, length).await;
            let history = read["history"].as_array().map_or(0, Vec::len);
            assert_eq!(history, expected, "{pair:?} {length:?}");
            assert!(history > 0 || read.get("history").is_none(), "left out rather than empty");
            if expected == 1 {
                assert_eq!(
                    canonical::task(pair, &read)["history"][0]["role"],
                    "agent",
                    "the most recent one"
                );
            }
        }
        let mut params = pair.text(&format!("send-{pair:?}"), "echo b");
        params["configuration"] = json!({"historyLength": 1, "blocking": true});
        let sent = canonical::item(pair, &pair.result(&client, &Ask::Send(params)).await);
        assert_eq!(sent["task"]["history"].as_array().map(Vec::len), Some(1), "{pair:?}");
    }
}

#[tokio::test]
async fn rest_reads_a_subscription_by_get_and_by_post_and_takes_any_empty_body_for_cancel() {
    let server = launch().start().await;
    let client = server.client();
    for pair in [Pair::Rest03, Pair::Rest10] {
        let base = if pair.is_v1_0() { "" } else { "/v1" };
        let client = pair.dress(&client);
        for verb in ["GET", "POST"] {
            let task = task_of(pair, &client, &format!("{pair:?}{verb}"), "ask").await;
            let mut stream = client.stream(verb, &format!("{base}/tasks/{task}:subscribe"), b"").await;
            assert_eq!(stream.status, 200, "{pair:?} {verb}");
            let first = canonical::item(pair, stream.next().await.expect("the task").payload());
            assert_eq!(first["task"]["id"], task);
        }
        for (index, body) in ["", "{}", "null", r#"{"metadata":{"why":"test"}}"#].into_iter().enumerate() {
            let task = task_of(pair, &client, &format!("{pair:?}cancel{index}"), "ask").await;
            let path = format!("{base}/tasks/{task}:cancel");
            let client = client.with("content-type", "application/json");
            let canceled = client.call("POST", &path, body.as_bytes()).await;
            assert_eq!(canceled.status, 200, "{pair:?} {body:?}: {}", canceled.text());
            assert_eq!(canceled.json()["status"]["state"], pair.canceled());
        }
    }
}

#[tokio::test]
async fn every_dialect_of_a_0_3_rest_message_is_understood() {
    let server = launch().start().await;
    let client = server.client();
    let bodies = [
        json!({"message": {"messageId": "a", "role": "ROLE_USER", "content": [{"text": "echo x"}]}}),
        json!({"request": {"messageId": "b", "role": "ROLE_USER", "content": [{"text": "echo x"}]}}),
        json!({"request": {"message_id": "c", "role": "ROLE_USER", "content": [{"text": "echo x"}]}}),
        json!({"message": {"kind": "message", "messageId": "d", "role": "user", "parts": [{"kind": "text", "text": "echo x"}]}}),
    ];
    for body in bodies {
        let answer = client.post("/v1/message:send", &body).await;
        assert_eq!(answer.status, 200, "{body}: {}", answer.text());
        let task = canonical::item(Pair::Rest03, &answer.json());
        assert_eq!(task["task"]["artifacts"][0]["parts"][0]["content"]["text"], "x", "{body}");
    }
}

#[tokio::test]
async fn a_tenant_in_the_path_is_the_tenant_in_the_parameters() {
    let server = launch().tenants(&["acme"]).start().await;
    let client = Pair::Rest10.dress(&server.client());
    let sent = client.post("/acme/message:send", &Pair::Rest10.text("m1", "echo a")).await;
    assert_eq!(sent.status, 200, "{}", sent.text());
    let task = sent.json()["task"]["id"].as_str().expect("an id").to_owned();
    let over_rpc = client.rpc("GetTask", json!({"tenant": "acme", "id": task})).await;
    assert_eq!(over_rpc["result"]["id"], task, "{over_rpc:#}");
    let over_rest = client.get(&format!("/acme/tasks/{task}")).await;
    assert_eq!(over_rest.json(), over_rpc["result"]);
    for foreign in
        [client.get(&format!("/tasks/{task}")).await, client.get(&format!("/v1/tasks/{task}")).await]
    {
        assert_ne!(foreign.status, 200, "{}", foreign.text());
    }
    let foreign = client.rpc("GetTask", json!({"id": task})).await;
    assert_eq!(foreign["error"]["code"], -32001, "{foreign:#}");
}

#[tokio::test]
async fn ids_in_paths_are_percent_decoded() {
    let server = launch().start().await;
    let client = server.client();
    let task = task_of(Pair::Rest10, &client, "m1", "ask").await;
    let escaped: String = task.bytes().map(|byte| format!("%{byte:02x}")).collect();
    for pair in [Pair::Rest03, Pair::Rest10] {
        let read = canonical::task(pair, &pair.result(&client, &Ask::Get(escaped.clone())).await);
        assert_eq!(read["id"], task, "{pair:?}");
        let odd = pair.call(&client, &Ask::Get("a%3Acancel%2Fb%20ü".replace('ü', "%C3%BC"))).await.refusal();
        assert_eq!(odd.metadata["taskId"], "a:cancel/b ü", "{pair:?}");
    }
    let canceled = Pair::Rest10.result(&client, &Ask::Cancel(escaped)).await;
    assert_eq!(canceled["id"], task);
}

fn every_pair_and<'a>(texts: &'a [&'a str]) -> impl Iterator<Item = (Pair, &'a str)> {
    Pair::ALL.into_iter().flat_map(|pair| texts.iter().map(move |text| (pair, *text)))
}

async fn get_with_history(pair: Pair, client: &TestClient, task: &str, length: Option<u32>) -> Value {
    let (verb, mut path, body) = pair.request(&Ask::Get(task.to_owned()));
    let client = pair.dress(client).with("content-type", "application/json");
    let answer = match (body, length) {
        (Some(mut body), length) => {
            if let Some(length) = length {
                body["params"]["historyLength"] = length.into();
            }
            client.call(verb, &path, &attache_testkit::pairs::bytes(&body)).await
        }
        (None, Some(length)) => {
            path.push_str(&format!("?historyLength={length}"));
            client.call(verb, &path, b"").await
        }
        (None, None) => client.call(verb, &path, b"").await,
    };
    attache_testkit::pairs::Reply { pair, answer }.result()
}

/// The parts of the neutral list in the test above, as `pair` spells them.
fn parts(pair: Pair) -> Value {
    let text = "echo parts ä\n\"\u{1F600}";
    let wrapped = json!({"flat": true, "data_part_compat": true});
    let flag = json!({"data_part_compat": true});
    match pair {
        Pair::Rpc10 | Pair::Rest10 => json!([
            {"text": text, "metadata": {"lang": "en"}},
            {"raw": "AAEC_w", "mediaType": "application/octet-stream", "filename": "a.bin"},
            {"url": "https://example.com/b.png", "mediaType": "image/png", "filename": "b.png"},
            {"data": {"n": 1, "deep": [{"x": null}], "f": 1.5}, "metadata": {"k": [1]}},
            {"data": [1, "two", null], "metadata": {"flat": true}},
            {"data": "just text"},
        ]),
        Pair::Rpc03 => json!([
            {"kind": "text", "text": text, "metadata": {"lang": "en"}},
            {"kind": "file", "file": {"bytes": "AAEC/w==", "mimeType": "application/octet-stream", "name": "a.bin"}},
            {"kind": "file", "file": {"uri": "https://example.com/b.png", "mimeType": "image/png", "name": "b.png"}},
            {"kind": "data", "data": {"n": 1, "deep": [{"x": null}], "f": 1.5}, "metadata": {"k": [1]}},
            {"kind": "data", "data": {"value": [1, "two", null]}, "metadata": wrapped},
            {"kind": "data", "data": {"value": "just text"}, "metadata": flag},
        ]),
        Pair::Rest03 => json!([
            {"text": text, "metadata": {"lang": "en"}},
            {"file": {"fileWithBytes": "AAEC/w==", "mimeType": "application/octet-stream", "name": "a.bin"}},
            {"file": {"file_with_uri": "https://example.com/b.png", "mime_type": "image/png", "name": "b.png"}},
            {"data": {"data": {"n": 1, "deep": [{"x": null}], "f": 1.5}}, "metadata": {"k": [1]}},
            {"data": {"data": {"value": [1, "two", null]}}, "metadata": wrapped},
            {"data": {"data": {"value": "just text"}}, "metadata": flag},
        ]),
    }
}

/// Applies one neutral item of a stream to a neutral task, as a client would.
fn fold(task: &mut Value, item: &Value) {
    if item["status"].is_object() {
        task["status"] = item["status"]["status"].clone();
        return;
    }
    let (artifact, append) = (&item["artifact"]["artifact"], item["artifact"]["append"] == true);
    if task["artifacts"].is_null() {
        task["artifacts"] = json!([]);
    }
    let artifacts = task["artifacts"].as_array_mut().expect("a list");
    match artifacts.iter_mut().find(|known| known["id"] == artifact["id"]) {
        Some(known) if append => {
            let more = artifact["parts"].as_array().expect("parts").clone();
            append_parts(known["parts"].as_array_mut().expect("parts"), more);
        }
        Some(known) => *known = artifact.clone(),
        None => artifacts.push(artifact.clone()),
    }
}

/// Adds parts as tasks show them: a text after a text, both without metadata, is one part with it.
fn append_parts(parts: &mut Vec<Value>, more: Vec<Value>) {
    let is_plain = |part: &Value| part["content"]["text"].is_string() && part["metadata"].is_null();
    for part in more {
        match parts.last_mut() {
            Some(last) if is_plain(last) && is_plain(&part) => {
                let texts = [&*last, &part].map(|part| part["content"]["text"].as_str().unwrap_or_default());
                last["content"]["text"] = json!(texts.concat());
            }
            _ => parts.push(part),
        }
    }
}
