//! The replay extension: cursors on everything, coming back on any pair, and a sign when something is missing.

use attache_testkit::{SseFrame, TestClient};
use serde_json::{Value, json};

use crate::world::{launch, message};
use attache_testkit::pairs::{Ask, Pair};

const URI: &str = "urn:attache:extension:replay:v1";
const CURSOR: &str = "a2a-replay-cursor";

fn replaying(client: &TestClient) -> TestClient {
    client.with("A2A-Extensions", URI)
}

/// The item inside whatever the pair wraps it in.
fn inner(pair: Pair, payload: &Value) -> &Value {
    match pair {
        Pair::Rpc03 => payload,
        _ => payload.as_object().and_then(|item| item.values().next()).expect("an item"),
    }
}

fn mark(pair: Pair, frame: &SseFrame) -> Value {
    inner(pair, frame.payload())["metadata"][URI].clone()
}

fn cursor(pair: Pair, frame: &SseFrame) -> String {
    mark(pair, frame)["cursor"].as_str().unwrap_or_else(|| panic!("no cursor in {}", frame.raw)).to_owned()
}

fn task_id(pair: Pair, frame: &SseFrame) -> String {
    inner(pair, frame.payload())["id"].as_str().expect("a task").to_owned()
}

#[tokio::test]
async fn the_card_tells_of_it() {
    let server = launch().start().await;
    let card = server.client().get("/.well-known/agent-card.json").await.json();
    let extensions = card["capabilities"]["extensions"].as_array().unwrap().clone();
    let uris: Vec<_> = extensions.iter().map(|extension| extension["uri"].as_str().unwrap()).collect();
    assert!(uris.contains(&URI), "{uris:?}");
    assert!(uris.contains(&"urn:attache:extension:idempotent-send:v1"), "{uris:?}");
}

#[tokio::test]
async fn everything_a_stream_shows_says_where_it_stands() {
    let server = launch().start().await;
    let client = replaying(&server.client());
    for pair in Pair::ALL {
        let mut stream = pair.stream(&client, &Ask::Stream(pair.text(&format!("{pair:?}"), "stream"))).await;
        let name = if pair.is_v1_0() { "a2a-extensions" } else { "x-a2a-extensions" };
        assert_eq!(stream.header(name), Some(URI), "{pair:?}");
        let frames = stream.rest().await;
        assert!(frames.len() > 5);
        for (place, frame) in frames.iter().enumerate() {
            let cursor = cursor(pair, frame);
            let (epoch, seq) = cursor.split_once('.').unwrap();
            assert_eq!(seq, (place + 1).to_string(), "{pair:?}: {}", frame.raw);
            assert!(!epoch.is_empty(), "{pair:?}: {cursor}");
            assert_eq!(frame.id_text.as_ref(), Some(&cursor), "{pair:?}: {}", frame.raw);
        }
    }
}

#[tokio::test]
async fn without_it_nothing_is_marked() {
    let server = launch().start().await;
    let frames =
        server.client().rpc_stream("SendStreamingMessage", message("m", "stream")).await.rest().await;
    assert!(frames.iter().all(|frame| !frame.raw.contains(URI)));
}

#[tokio::test]
async fn a_reader_comes_back_on_any_pair_and_misses_and_repeats_nothing() {
    let script = "rules: [{steps: [{say: [x], repeat: 60, every: 5ms}]}]";
    let server = launch().script(script).start().await;
    let client = replaying(&server.client());
    let mut stream = Pair::Rpc10.stream(&client, &Ask::Stream(Pair::Rpc10.text("m", "go"))).await;
    let first = stream.next().await.unwrap();
    let task = task_id(Pair::Rpc10, &first);
    let mut seen = vec![first.id.unwrap()];
    let mut last = cursor(Pair::Rpc10, &first);
    drop(stream);
    for pair in Pair::ALL.into_iter().cycle() {
        let mut stream = pair.stream(&client.with(CURSOR, &last), &Ask::Subscribe(task.clone())).await;
        let snapshot = stream.next().await.unwrap();
        assert_eq!(cursor(pair, &snapshot), last, "the task as of the cursor comes first");
        assert_eq!(mark(pair, &snapshot).get("gap"), None);
        let mut ended = false;
        for _ in 0..12 {
            match stream.next().await {
                Some(frame) => {
                    seen.push(frame.id.unwrap());
                    last = cursor(pair, &frame);
                }
                None => {
                    ended = true;
                    break;
                }
            }
        }
        if ended {
            break;
        }
    }
    let whole: Vec<u64> = (1..=*seen.last().unwrap()).collect();
    assert_eq!(seen, whole);
    assert!(seen.len() > 60);
}

#[tokio::test]
async fn a_task_can_be_seen_as_it_was_at_a_cursor() {
    let server = launch().start().await;
    let client = replaying(&server.client());
    let mut stream = Pair::Rpc10.stream(&client, &Ask::Stream(Pair::Rpc10.text("m", "stream"))).await;
    let frames = stream.rest().await;
    let task = task_id(Pair::Rpc10, &frames[0]);
    let early = cursor(Pair::Rpc10, &frames[3]);
    for pair in Pair::ALL {
        let then = pair.result(&client.with(CURSOR, &early), &Ask::Get(task.clone())).await;
        assert_eq!(then["metadata"][URI]["cursor"], json!(early), "{pair:?}");
        let now = pair.result(&client, &Ask::Get(task.clone())).await;
        assert_eq!(now["metadata"][URI]["cursor"], json!(cursor(Pair::Rpc10, frames.last().unwrap())));
        assert_ne!(then["status"]["state"], now["status"]["state"], "{pair:?}");
    }
    // A send says where its answer stands, so that following it misses nothing.
    let sent = Pair::Rest10.result(&client, &Ask::Send(Pair::Rest10.text("m2", "stream"))).await;
    assert!(sent["task"]["metadata"][URI]["cursor"].is_string(), "{sent:#}");
}

#[tokio::test]
async fn a_cursor_that_leads_nowhere_is_answered_with_a_gap() {
    let server = launch().start().await;
    let client = replaying(&server.client());
    let asked = Pair::Rpc10.result(&client, &Ask::Send(Pair::Rpc10.text("open", "ask"))).await;
    let open = asked["task"]["id"].as_str().unwrap().to_owned();
    let done = Pair::Rpc10.result(&client, &Ask::Send(Pair::Rpc10.text("done", "echo x"))).await;
    let done_id = done["task"]["id"].as_str().unwrap().to_owned();
    let now = done["task"]["metadata"][URI]["cursor"].as_str().unwrap().to_owned();
    let (epoch, _) = now.split_once('.').unwrap();
    let ahead = format!("{epoch}.999");
    for pair in Pair::ALL {
        for (given, reason) in [("another-log.3", "other-epoch"), (ahead.as_str(), "ahead")] {
            for task in [&open, &done_id] {
                let client = client.with(CURSOR, given);
                let mut stream = pair.stream(&client, &Ask::Subscribe(task.clone())).await;
                let first = stream.next().await.unwrap();
                let gap = &mark(pair, &first)["gap"];
                assert_eq!(*gap, json!({"after": given, "reason": reason}), "{pair:?}");
                assert!(cursor(pair, &first).starts_with(epoch), "it goes on from a place that is one");
            }
        }
        // Who does not know the extension is refused, and so is a snapshot of what is not there.
        let plain = server.client().with(CURSOR, &ahead);
        let refused = pair.call(&plain, &Ask::Subscribe(open.clone())).await.refusal();
        assert!(refused.message.contains("999"), "{}", refused.message);
        let refused = pair.call(&client.with(CURSOR, &ahead), &Ask::Get(open.clone())).await.refusal();
        assert!(refused.message.contains("999"), "{}", refused.message);
        let refused = pair.call(&client.with(CURSOR, "rubbish"), &Ask::Get(open.clone())).await.refusal();
        assert!(refused.message.contains("rubbish"), "{}", refused.message);
    }
}
