//! A client of a prompt's stream that was cut off: it sends the same message again.

use attache_testkit::{SseFrame, TestClient};
use serde_json::{Value, json};

use super::create;
use crate::agent_world::launch_script;
use crate::world::launch;

fn path(task: &str) -> String {
    format!("/tasks/{task}/execute")
}

async fn execute(client: &TestClient, task: &str, id: &str, message: &str) -> Vec<SseFrame> {
    let body = json!({ "message": message, "messageId": id });
    client.post_stream(&path(task), &body).await.rest().await
}

fn ids_and_data(frames: &[SseFrame]) -> Vec<(Option<String>, Value)> {
    frames.iter().map(|frame| (frame.id_text.clone(), frame.data.clone())).collect()
}

#[tokio::test]
async fn a_stream_resumes_after_every_event_of_its_prompt_also_when_others_followed() {
    let server = launch().start().await;
    let client = server.client();
    let task = create(&client, &json!({})).await;
    let mut streams = Vec::new();
    for (id, message) in [("m-1", "echo one"), ("m-2", "stream"), ("m-3", "echo three")] {
        streams.push((id, message, ids_and_data(&execute(&client, &task, id, message).await)));
    }
    for (id, message, whole) in &streams {
        assert!(whole.len() >= 3, "{whole:#?}");
        assert_eq!(whole.last().unwrap().1["state"], "completed", "{whole:#?}");
        let again = ids_and_data(&execute(&client, &task, id, message).await);
        assert_eq!(again, *whole, "without a cursor the prompt begins again");
        for (index, (cursor, _)) in whole.iter().enumerate() {
            let cursor = cursor.as_deref().unwrap();
            let resumed = client.with("Last-Event-ID", cursor);
            let rest = ids_and_data(&execute(&resumed, &task, id, message).await);
            assert_eq!(rest, whole[index + 1..], "{id} after {cursor}");
        }
    }
    let seen = client.get(&format!("/tasks/{task}")).await.json();
    assert_eq!(seen["history"].as_array().unwrap().len(), 6, "nothing was taken twice: {seen:#}");
}

#[tokio::test]
async fn a_cursor_of_an_earlier_prompt_shows_the_prompt_from_its_own_turn() {
    let server = launch().start().await;
    let client = server.client();
    let task = create(&client, &json!({})).await;
    let first = ids_and_data(&execute(&client, &task, "m-1", "echo one").await);
    let second = ids_and_data(&execute(&client, &task, "m-2", "echo two").await);
    for (cursor, _) in &first {
        let resumed = client.with("Last-Event-ID", cursor.as_deref().unwrap());
        assert_eq!(ids_and_data(&execute(&resumed, &task, "m-2", "echo two").await), second, "{cursor:?}");
    }
    let ahead = client.with("Last-Event-ID", "99999999");
    assert_eq!(ids_and_data(&execute(&ahead, &task, "m-2", "echo two").await), second, "no such event");
}

#[tokio::test]
async fn a_client_that_resumes_without_a_message_id_does_not_prompt_again() {
    let server = launch().start().await;
    let client = server.client();
    let task = create(&client, &json!({})).await;
    let prompt = async |client: &TestClient, message: &str| {
        client.post_stream(&path(&task), &json!({ "message": message })).await.rest().await
    };
    let mut streams = Vec::new();
    for message in ["echo one", "echo two", "echo one"] {
        streams.push((message, ids_and_data(&prompt(&client, message).await)));
    }
    for (message, whole) in &streams {
        for (index, (cursor, _)) in whole.iter().enumerate() {
            let resumed = client.with("Last-Event-ID", cursor.as_deref().unwrap());
            assert_eq!(ids_and_data(&prompt(&resumed, message).await), whole[index + 1..], "{cursor:?}");
        }
    }
    let last = streams[2].1.last().unwrap().0.clone().unwrap();
    // Clients that connect again by themselves stop at this status.
    let over = client.with("Last-Event-ID", &last).post(&path(&task), &json!({"message": "echo one"})).await;
    assert_eq!((over.status, over.text().as_str()), (204, ""));
    for (cursor, message) in [(last.as_str(), "echo two"), ("99999999", "echo one")] {
        let resumed = client.with("Last-Event-ID", cursor);
        let refused = resumed.post(&path(&task), &json!({ "message": message })).await;
        assert_eq!(refused.status, 400, "{}", refused.text());
        let violation = refused.json()["error"]["details"][1]["fieldViolations"][0]["field"].clone();
        assert_eq!(violation, "messageId", "{}", refused.text());
    }
    let reserved = create(&client, &json!({})).await;
    let resumed = client.with("Last-Event-ID", "2");
    let refused = resumed.post(&path(&reserved), &json!({"message": "echo one"})).await;
    assert_eq!(refused.status, 400, "{}", refused.text());
    let unknown = resumed.post(&path("none"), &json!({"message": "echo one"})).await;
    assert_eq!(unknown.status, 404, "{}", unknown.text());
    let seen = client.get(&format!("/tasks/{task}")).await.json();
    assert_eq!(seen["history"].as_array().unwrap().len(), 6, "nothing was taken twice: {seen:#}");
}

const TWO: &str = "
rules:
  - text: '^first'
    steps: [{say: [a], repeat: 40, every: 10ms}]
  - text: '^second'
    steps: [{say: b}]
  - text: '^fails'
    steps: [{say: Trying.}, {wait: 300ms}, {fail: It did not work.}]
";

#[tokio::test]
async fn a_queued_prompt_is_announced_and_shows_only_its_own_turn() {
    let server = launch().script(TWO).start().await;
    let client = server.client();
    let task = create(&client, &json!({})).await;
    let mut first = client.post_stream(&path(&task), &json!({"message": "first"})).await;
    first.next().await.unwrap();
    let second = execute(&client, &task, "m-2", "second").await;
    let kinds: Vec<_> = second.iter().map(|frame| (&frame.data["type"], &frame.data["state"])).collect();
    let (state, text) = (json!("state_change"), json!("text_content"));
    let (running, completed) = (json!("running"), json!("completed"));
    let expected = [(&state, &running), (&state, &running), (&text, &Value::Null), (&state, &completed)];
    assert_eq!(kinds, expected, "{second:#?}");
    assert_eq!(second[0].data["queued"], true, "{}", second[0].data);
    assert!(second[1].data.get("queued").is_none(), "{}", second[1].data);
    assert_eq!(second[2].data["text"], "b");
    let first = first.rest().await;
    assert_eq!(first.last().unwrap().data["state"], "completed", "it is settled as the second begins");
    assert!(first.iter().all(|frame| frame.data["text"] != "b"), "{first:#?}");
    let resumed = client.with("Last-Event-ID", second[0].id_text.as_deref().unwrap());
    let rest = execute(&resumed, &task, "m-2", "second").await;
    assert_eq!(ids_and_data(&rest), ids_and_data(&second)[1..], "after the announcement");
}

#[tokio::test]
async fn a_prompt_that_fails_says_so_although_another_one_waits() {
    let server = launch().script(TWO).start().await;
    let client = server.client();
    let task = create(&client, &json!({})).await;
    let mut first = client.post_stream(&path(&task), &json!({"message": "fails"})).await;
    first.until(|frame| frame.data["type"] == "text_content").await;
    let mut second = client.post_stream(&path(&task), &json!({"message": "second"})).await;
    let first = first.rest().await;
    let end = &first.last().unwrap().data;
    assert_eq!((&end["state"], &end["error"]), (&json!("error"), &json!("It did not work.")), "{first:#?}");
    assert_eq!(second.rest().await.last().unwrap().data["state"], "completed");
}

const QUESTION: &str = "
rules:
  - text: '^name'
    steps: [{say: Well.}, {ask: 'What is your name?'}, {say: 'Hello, {{answer}}!'}]
  - text: '^status'
    steps: [{say: Working.}, {status: All done.}]
  - text: '^ping'
    steps: [{answer: pong}]
";

#[tokio::test]
async fn the_agents_question_is_text_before_the_prompt_is_settled() {
    let server = launch().script(QUESTION).start().await;
    let client = server.client();
    let task = create(&client, &json!({})).await;
    for (message, expected) in
        [("name", "Well.What is your name?"), ("Ada", "Hello, Ada!"), ("status", "Working.All done.")]
    {
        let frames = execute(&client, &task, message, message).await;
        let text: String = frames.iter().filter_map(|frame| frame.data["text"].as_str()).collect();
        assert_eq!(text, expected, "{frames:#?}");
        assert_eq!(frames.last().unwrap().data["state"], "completed");
    }
}

#[tokio::test]
async fn a_reply_without_a_task_ends_the_stream_and_the_task_stays() {
    let server = launch().script(QUESTION).start().await;
    let client = server.client();
    let task = create(&client, &json!({})).await;
    for message in ["ping", "status"] {
        let frames = execute(&client, &task, message, message).await;
        assert_eq!(frames.last().unwrap().data["state"], "completed", "{frames:#?}");
    }
    let seen = client.get(&format!("/tasks/{task}")).await.json();
    assert_eq!((&seen["state"], &seen["id"]), (&json!("completed"), &json!(task)), "{seen:#}");
    let frames = execute(&client, &task, "ping", "ping").await;
    let texts: Vec<_> = frames.iter().filter_map(|frame| frame.data["text"].as_str()).collect();
    assert_eq!(texts, ["pong"], "{frames:#?}");
}

#[tokio::test]
async fn errors_about_ids_name_the_members_of_this_api() {
    let server = launch().start().await;
    let client = server.client();
    let task = create(&client, &json!({})).await;
    execute(&client, &task, "m-1", "echo one").await;
    let field = |refused: &Value| refused["error"]["details"][1]["fieldViolations"][0]["field"].clone();
    let refused = client.post(&path(&task), &json!({"message": "another", "messageId": "m-1"})).await;
    assert_eq!((refused.status, field(&refused.json())), (400, json!("messageId")), "{}", refused.text());
    for (method, path) in [("GET", "/tasks/%01"), ("POST", "/tasks/%01/cancel")] {
        let refused = client.call(method, path, b"").await;
        assert_eq!((refused.status, field(&refused.json())), (400, json!("taskId")), "{}", refused.text());
        assert_eq!(refused.header("content-type"), Some("application/json"));
    }
    let refused = client.post("/tasks/%01/execute", &json!({"message": "x"})).await;
    assert_eq!((refused.status, field(&refused.json())), (400, json!("taskId")), "{}", refused.text());
}

const LONG: &str = "rules: [{steps: [{say: [x], repeat: 60, every: 20ms}]}]";

#[tokio::test]
async fn a_stream_that_a_crash_cut_off_is_read_on_without_a_gap_or_a_repeat() {
    let launch = launch_script(LONG);
    let server = launch.start().await;
    let client = server.client();
    let task = create(&client, &json!({})).await;
    let path = format!("/tasks/{task}/execute");
    let body = json!({"message": "Go", "messageId": "m-1"});
    let mut stream = client.post_stream(&path, &body).await;
    let mut seen = Vec::new();
    while seen.len() < 12 {
        seen.push(stream.next().await.unwrap());
    }
    server.kill().await;
    let server = launch.start().await;
    let client = server.client();
    let cursor = seen.last().unwrap().id_text.clone().unwrap();
    let resumed = client.with("Last-Event-ID", &cursor);
    seen.extend(resumed.post_stream(&path, &body).await.rest().await);
    let text: String = seen.iter().filter_map(|frame| frame.data["text"].as_str()).collect();
    assert_eq!(text, "x".repeat(60));
    let ended = seen.iter().filter(|frame| frame.data["state"] == "completed").count();
    assert_eq!(ended, 1, "{seen:#?}");
    let settled = resumed.post_stream(&path, &body).await.rest().await;
    let ids = |frames: &[SseFrame]| frames.iter().map(|frame| frame.id_text.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&settled), ids(&seen[12..]), "also when it is settled");
    let whole = client.post_stream(&path, &body).await.rest().await;
    assert_eq!(ids(&whole), ids(&seen), "without a cursor from the beginning");
}
