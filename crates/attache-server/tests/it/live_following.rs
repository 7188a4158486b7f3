//! Clients of the live endpoint that come late, come back, or send prompts at the same time.

use attache_testkit::{SseFrame, TestClient};
use serde_json::{Value, json};

use crate::live_socket::{activity, connect, live, next, prompt, send, texts};
use crate::world::{Launch, TestServer};

/// Says so much that a second prompt comes meanwhile.
const LONG: &str =
    "rules: [{text: long, steps: [{say: [x], repeat: 40, every: 10ms}]}, {steps: [{say: short}]}]";

fn long() -> Launch {
    live().script(LONG)
}

async fn session(client: &TestClient) -> String {
    client.post("/tasks", &json!({})).await.json()["taskId"].as_str().unwrap().to_owned()
}

fn messages(task: &str) -> String {
    format!("/tasks/{task}/messages/stream")
}

fn payloads(frames: &[SseFrame]) -> Vec<Value> {
    frames.iter().map(|frame| frame.payload().clone()).collect()
}

/// One whole prompt over HTTP.
async fn ask(client: &TestClient, task: &str, text: &str) -> Vec<Value> {
    payloads(&client.post_stream(&messages(task), &prompt(text)).await.rest().await)
}

fn cursors(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["cursor"].as_str().unwrap_or_else(|| panic!("{event:#}"))).collect()
}

fn prompts(events: &[Value]) -> Vec<(&str, &str)> {
    let prompts = events.iter().filter(|event| event["kind"] == "USER_PROMPT");
    let text = |event: &Value, name: &str| event[name].as_str().map(str::to_owned);
    prompts
        .map(|event| {
            assert!(text(event, "message_id").is_some(), "{event:#}");
            (event["status"].as_str().unwrap(), event["content"]["text"].as_str().unwrap_or_default())
        })
        .collect()
}

#[tokio::test]
async fn a_prompt_while_busy_is_queued_with_a_notice_and_taken_up_afterwards() {
    let server = long().start().await;
    let client = server.client();
    let task = session(&client).await;
    let mut socket = connect(&server, &format!("/ws?taskId={task}")).await;
    let mut first = client.post_stream(&messages(&task), &prompt("long")).await;
    let mut frames = first.until(|frame| frame.payload()["kind"] == "TEXT_CONTENT").await;
    let mut second = client.post_stream(&messages(&task), &prompt("another")).await;
    frames.extend(first.rest().await);
    let (first, second) = (payloads(&frames), payloads(&second.rest().await));
    let settled = first.last().unwrap();
    assert_eq!((&settled["final"], &settled["state"]), (&json!(true), &json!("working")), "{first:#?}");
    assert_eq!(settled["message_id"], first[0]["message_id"], "its stream ends when it is settled");
    assert_eq!(prompts(&second), [("QUEUED", "another"), ("TAKEN", "")], "{second:#?}");
    assert_eq!(texts(&second), "short", "nothing of the prompt before: {second:#?}");
    assert_eq!(second.last().unwrap()["state"], "idle");
    let mut seen = activity(&mut socket).await;
    assert_eq!(&seen.last(), &first.last());
    seen.extend(activity(&mut socket).await);
    assert_eq!(prompts(&seen), [("RECEIVED", "long"), ("QUEUED", "another"), ("TAKEN", "")]);
    let queued = seen.iter().position(|event| event["status"] == "QUEUED").unwrap();
    let notice = &seen[queued + 1];
    assert_eq!((&notice["kind"], &notice["content"]["level"]), (&json!("CONSOLE_LOG"), &json!("info")));
    assert!(texts(&seen).ends_with("xshort"), "{seen:#?}");
    let both: Vec<_> = seen.iter().filter(|event| second.contains(event)).cloned().collect();
    assert_eq!(both, second, "both see the same in the same order");
    let resumed = client.with("Last-Event-ID", settled["cursor"].as_str().unwrap());
    let over = resumed.post(&messages(&task), &prompt("long")).await;
    assert_eq!(over.status, 204, "{}", over.text());
}

/// Says why it stops, and asks, while other prompts wait.
const STOPPING: &str = "
rules:
  - {text: fails, steps: [{say: Trying.}, {wait: 300ms}, {fail: It did not work.}]}
  - {text: asks, steps: [{say: Well.}, {wait: 300ms}, {ask: 'Which one?'}, {say: 'You want {{answer}}.'}]}
  - {text: next, steps: [{say: 'Next.'}]}
";

#[tokio::test]
async fn what_ends_a_prompt_is_shown_although_another_one_waits() {
    let server = live().script(STOPPING).start().await;
    let client = server.client();
    for (text, said, failed, then) in [
        ("fails", "It did not work.", json!(true), "Next."),
        ("asks", "Which one?", Value::Null, "You want next."),
    ] {
        let task = session(&client).await;
        let mut plain = client.rpc_stream("SubscribeToTask", json!({ "id": task })).await;
        let mut first = client.post_stream(&messages(&task), &prompt(text)).await;
        let mut frames = first.until(|frame| frame.payload()["kind"] == "TEXT_CONTENT").await;
        let mut second = client.post_stream(&messages(&task), &prompt("next")).await;
        frames.extend(first.rest().await);
        let first = payloads(&frames);
        let end = first.last().unwrap();
        assert_eq!((&end["content"]["text"], &end["failed"]), (&json!(said), &failed), "{first:#?}");
        assert_eq!(end["message_id"], first[0]["message_id"]);
        let second = payloads(&second.rest().await);
        assert_eq!(texts(&second), then, "{second:#?}");
        let seen = plain.until(|frame| frame.raw.contains(then)).await;
        let shows = |frame: &SseFrame| {
            let status = &frame.payload()["statusUpdate"]["status"];
            status["state"] == "TASK_STATE_WORKING" && status["message"]["parts"][0]["text"] == said
        };
        assert!(seen.iter().any(shows), "{seen:#?}");
    }
}

/// Everything that happened, over a socket and over server-sent events.
async fn whole(server: &TestServer, task: &str) -> (Vec<Value>, Vec<Value>) {
    let mut socket = connect(server, &format!("/ws?taskId={task}&after=0")).await;
    let over_socket = activity(&mut socket).await;
    let path = format!("{}?after=0", messages(task));
    let mut stream = server.client().stream("GET", &path, b"").await;
    let over_http = stream.until(|frame| frame.payload()["final"] == true).await;
    (over_socket, payloads(&over_http))
}

#[tokio::test]
async fn a_message_that_is_sent_again_with_its_id_is_taken_once() {
    let server = live().start().await;
    let client = server.client();
    let task = session(&client).await;
    let message = json!({"message": {"messageId": "m1", "content": {"text": "echo once"}}});
    let send_it = async || payloads(&client.post_stream(&messages(&task), &message).await.rest().await);
    let first = send_it().await;
    assert_eq!(prompts(&first), [("RECEIVED", "echo once")]);
    assert_eq!(send_it().await, first, "the turn is over, and is shown again");
    let another = json!({"message": {"messageId": "m1", "content": {"text": "echo another"}}});
    let other = server.client();
    let elsewhere = session(&other).await;
    let mut streams = Vec::new();
    for message in [&message, &another, &message] {
        let mut stream = other.post_stream(&messages(&elsewhere), message).await;
        streams.push(payloads(&stream.rest().await));
    }
    assert_eq!(texts(&streams[1]), "another", "another text is another message");
    assert_eq!(streams[2], streams[0], "the message counts, not its id alone");
    let mut socket = connect(&server, &format!("/ws?taskId={task}")).await;
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": message});
    send(&mut socket, &request).await;
    while next(&mut socket).await["result"]["taskId"] != *task {}
    ask(&client, &task, "echo twice").await;
    let (seen, _) = whole(&server, &task).await;
    assert_eq!(prompts(&seen), [("RECEIVED", "echo once")]);
    assert_eq!(texts(&activity(&mut socket).await), "twice", "only the other prompt has led to anything");
    // Without a task, the message finds the one that it has opened.
    let mut wide = connect(&server, "/ws").await;
    let mut opened = Vec::new();
    for _ in 0..2 {
        send(&mut wide, &request).await;
        let mut response = next(&mut wide).await;
        while response.get("result").is_none() {
            response = next(&mut wide).await;
        }
        opened.push(response["result"]["taskId"].clone());
        wide = connect(&server, "/ws").await;
    }
    assert_eq!(opened[0], opened[1]);
}

/// Libraries for event streams repeat their request with the last id that they have seen.
#[tokio::test]
async fn a_client_that_connects_again_without_a_message_id_does_not_prompt_again() {
    let server = live().start().await;
    let client = server.client();
    let task = session(&client).await;
    let one = ask(&client, &task, "echo one").await;
    let two = ask(&client, &task, "echo two").await;
    for (text, whole) in [("echo one", &one), ("echo two", &two)] {
        for (index, cursor) in cursors(whole).into_iter().enumerate() {
            let resumed = client.with("Last-Event-ID", cursor);
            if index + 1 < whole.len() {
                assert_eq!(ask(&resumed, &task, text).await, whole[index + 1..], "{text} after {cursor}");
            } else {
                let over = resumed.post(&messages(&task), &prompt(text)).await;
                assert_eq!((over.status, over.text().as_str()), (204, ""), "{text}");
            }
        }
    }
    let resumed = client.with("Last-Event-ID", cursors(&two).last().unwrap());
    let refused = resumed.post(&messages(&task), &prompt("echo three")).await;
    assert_eq!(refused.status, 400, "{}", refused.text());
    assert!(refused.text().contains("message.messageId"), "{}", refused.text());
    ask(&client, &task, "echo four").await;
    let mut socket = connect(&server, &format!("/ws?taskId={task}&after=0")).await;
    let mut seen = Vec::new();
    for _ in ["one", "two", "four"] {
        seen.extend(activity(&mut socket).await);
    }
    assert_eq!(prompts(&seen), ["echo one", "echo two", "echo four"].map(|text| ("RECEIVED", text)));
}

#[tokio::test]
async fn a_late_client_reads_the_whole_session() {
    let server = live().start().await;
    let client = server.client();
    let task = session(&client).await;
    let asked = ask(&client, &task, "stream").await;
    let (over_socket, over_http) = whole(&server, &task).await;
    assert_eq!(over_socket, asked);
    assert_eq!(over_http, asked);
}

#[tokio::test]
async fn every_event_has_a_cursor_from_which_a_client_reads_on() {
    let server = live().start().await;
    let client = server.client();
    let task = session(&client).await;
    let events = ask(&client, &task, "stream").await;
    for (place, cursor) in cursors(&events).into_iter().enumerate().take(events.len() - 1) {
        let mut socket = connect(&server, &format!("/ws?taskId={task}&after={cursor}")).await;
        assert_eq!(activity(&mut socket).await, events[place + 1..], "after {cursor}");
        let resumed = client.with("last-event-id", cursor);
        let mut stream = resumed.stream("GET", &messages(&task), b"").await;
        let frames = stream.until(|frame| frame.payload()["final"] == true).await;
        assert_eq!(payloads(&frames), events[place + 1..], "after {cursor}");
        assert_eq!(frames[0].id_text.as_deref(), events[place + 1]["cursor"].as_str());
    }
}

#[tokio::test]
async fn a_socket_of_many_tasks_reads_on_with_a_cursor_for_each() {
    let server = live().start().await;
    let client = server.client();
    let tasks = [session(&client).await, session(&client).await];
    let mut events = Vec::new();
    for task in &tasks {
        events.push(ask(&client, task, "stream").await);
    }
    let mut socket = connect(&server, "/ws").await;
    for (task, events) in tasks.iter().zip(&events) {
        let params = json!({"taskId": task, "after": events[2]["cursor"]});
        send(&mut socket, &json!({"jsonrpc": "2.0", "id": 1, "method": "subscribe", "params": params})).await;
        let answer = next(&mut socket).await;
        assert_eq!(answer["result"]["taskId"], *task, "{answer:#}");
        assert_eq!(answer["result"]["cursor"], events.last().unwrap()["cursor"]);
        assert_eq!(answer["result"]["state"], "idle", "as the events say");
        assert_eq!(activity(&mut socket).await, events[3..]);
    }
    // Without a task, the one that this socket named last is meant.
    let again = json!({"jsonrpc": "2.0", "id": 1, "method": "subscribe"});
    send(&mut socket, &again).await;
    assert_eq!(next(&mut socket).await["result"]["taskId"], *tasks[1]);
    assert_eq!(next(&mut socket).await["state"], "idle");
    let mut other = connect(&server, "/ws").await;
    send(&mut other, &again).await;
    let refused = next(&mut other).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("taskId is required"), "{refused:#}");
    let wrong = json!({"jsonrpc": "2.0", "id": 2, "method": "subscribe", "params": {"taskId": "nonesuch"}});
    send(&mut socket, &wrong).await;
    assert_eq!(next(&mut socket).await["error"]["code"], -32001);
    let refused = client.get("/ws?after=1").await;
    assert_eq!(refused.status, 400, "{}", refused.text());
}

#[tokio::test]
async fn a_gap_is_announced_with_the_state_of_the_task() {
    let server = live().start().await;
    let client = server.client();
    let task = session(&client).await;
    let events = ask(&client, &task, "echo a").await;
    let last = events.last().unwrap();
    let (epoch, _) = last["cursor"].as_str().unwrap().split_once('.').unwrap();
    for (after, reason) in [("another.3".to_owned(), "other-epoch"), (format!("{epoch}.999"), "ahead")] {
        let mut socket = connect(&server, &format!("/ws?taskId={task}&after={after}")).await;
        let first = next(&mut socket).await;
        assert_eq!(first["gap"], json!({"after": after, "reason": reason}), "{first:#}");
        assert_eq!(first["state"], "idle");
        assert!(first["cursor"].as_str().unwrap().starts_with(epoch), "{first:#}");
        send(&mut socket, &prompt("echo b")).await;
        assert_eq!(texts(&activity(&mut socket).await), "b", "it goes on");
        // So it is for a task that has not begun.
        let reserved = session(&client).await;
        let mut socket = connect(&server, &format!("/ws?taskId={reserved}&after={after}")).await;
        let first = next(&mut socket).await;
        assert_eq!(first["gap"], json!({"after": after, "reason": reason}), "{first:#}");
        assert_eq!(first["state"], "submitted");
        send(&mut socket, &prompt("echo c")).await;
        let events = activity(&mut socket).await;
        assert_eq!((prompts(&events), texts(&events).as_str()), (vec![("RECEIVED", "echo c")], "c"));
    }
    assert_eq!(client.get(&format!("{}?after=x", messages(&task))).await.status, 400);
}

#[tokio::test]
async fn a_narrow_socket_shows_one_prompt_after_another() {
    let server = live().start().await;
    let task = session(&server.client()).await;
    let mut socket = connect(&server, &format!("/ws?taskId={task}")).await;
    let first = next(&mut socket).await;
    assert_eq!(first["state"], "submitted");
    assert!(first["cursor"].as_str().unwrap().ends_with(".0"), "nothing has happened: {first:#}");
    for text in ["echo a", "echo b", "echo c"] {
        send(&mut socket, &prompt(text)).await;
        let events = activity(&mut socket).await;
        assert_eq!(prompts(&events), [("RECEIVED", text)]);
    }
}

#[tokio::test]
async fn clients_of_a2a_are_named_to_the_others() {
    let server = live().start().await;
    let mut socket = connect(&server, "/ws").await;
    let message = json!({"message": {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "echo a"}]}});
    server.client().with("user-agent", "sdk/1").rpc("SendMessage", message).await;
    let events = activity(&mut socket).await;
    let first = &events[0];
    assert_eq!((&first["kind"], &first["message_id"]), (&json!("USER_PROMPT"), &json!("m1")));
    assert_eq!((&first["client"], &first["interface"]), (&json!("sdk/1"), &json!("json-rpc")));
}

#[tokio::test]
async fn a_client_that_comes_back_for_nothing_more_is_told_to_stay_away() {
    let server = live().start().await;
    let client = server.client();
    let created = client.post("/tasks", &json!({})).await.json();
    let task = created["taskId"].as_str().unwrap();
    let path = format!("/tasks/{task}/messages/stream");
    client.post_stream(&path, &prompt("echo a")).await.rest().await;
    let mut stream = client.stream("GET", &format!("{path}?after=0"), b"").await;
    let before = stream.until(|frame| frame.payload()["final"] == true).await.pop().unwrap();
    client.rpc("tasks/cancel", json!({"id": task})).await;
    let last = stream.rest().await.pop().unwrap();
    assert_eq!(last.payload()["state"], "canceled");
    // What an `EventSource` does: it comes back with the last id until the status is 204.
    let back = |frame: &SseFrame| client.with("last-event-id", frame.id_text.as_deref().unwrap());
    let missed = back(&before).stream("GET", &path, b"").await.rest().await;
    assert_eq!(missed.last().unwrap().payload()["state"], "canceled");
    assert_eq!(back(&last).get(&path).await.status, 204);
    // A client that names its cursor itself is shown the end.
    let after = last.id_text.as_deref().unwrap();
    let shown = client.stream("GET", &format!("{path}?after={after}"), b"").await.rest().await;
    assert_eq!(shown.last().unwrap().payload()["state"], "canceled");
}
