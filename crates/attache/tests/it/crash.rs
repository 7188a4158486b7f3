//! `kill -9` under load: what clients saw is in the log, and what was running goes on where it was.
//!
//! A few kills in the ordinary run; `ATTACHE_TEST_KILLS=300` for hundreds.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use attache_testkit::{ServerLaunch, SseFrame, TestClient, WAIT_TIMEOUT};
use serde_json::json;
use tokio::task::JoinSet;

use crate::support::parts;
use crate::support::{launch, message};
use crate::watching::eventually;

/// Slow enough that a kill always falls into the middle of something.
const SCRIPT: &str = "rules:
  - text: '^work$'
    steps:
      - say: [a, b, c]
        every: 4ms
      - artifact: {id: file, text: abcdef, chunks: 3}
      - wait: 8ms
      - say: [d, e]
        every: 4ms
      - artifact: {id: other, data: {n: 1}}
      - say: f
";
const WORKERS: usize = 6;

/// Everything a client was shown of one task, by message id.
type Seen = BTreeMap<String, Vec<SseFrame>>;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_kill_9_every_event_shown_is_there_and_every_task_goes_on() {
    let kills = kills();
    // Tasks are found again by their message, also those that are over.
    let launch = launch().durable().settings("duplicate_sends = \"always\"\n").script(SCRIPT);
    let mut seen = Seen::new();
    let mut pause = Pauses(std::process::id().into());
    for round in 0..kills {
        let server = launch.start().await;
        let mut workers = JoinSet::new();
        let shown = Arc::new(AtomicUsize::new(0));
        for worker in 0..WORKERS {
            workers.spawn(work(server.client(), format!("r{round}-w{worker}"), shown.clone()));
        }
        // However slow the machine is, the kill comes when something was shown.
        eventually("the first events", || shown.load(Ordering::Relaxed) > 2 * WORKERS).await;
        tokio::time::sleep(pause.next()).await;
        server.kill().await;
        for shown in workers.join_all().await {
            seen.extend(shown);
        }
    }
    assert!(!seen.is_empty());
    compare(&launch, &seen).await;
}

fn kills() -> usize {
    #[expect(clippy::disallowed_methods, reason = "tests are told how hard to try by the environment")]
    let wanted = std::env::var("ATTACHE_TEST_KILLS");
    wanted.ok().and_then(|kills| kills.parse().ok()).unwrap_or(4)
}

/// Sends one message after the other, keeping every whole frame, until the server is gone.
async fn work(client: TestClient, name: String, shown: Arc<AtomicUsize>) -> Seen {
    let mut seen = Seen::new();
    for number in 0.. {
        let id = format!("{name}-{number}");
        let Some(mut stream) = client.try_rpc_stream("SendStreamingMessage", message(&id, "work")).await
        else {
            return seen;
        };
        let frames = seen.entry(id).or_default();
        loop {
            match stream.try_next().await {
                Ok(Some(frame)) => {
                    frames.push(frame);
                    shown.fetch_add(1, Ordering::Relaxed);
                }
                Ok(None) => break,
                Err(_) => return seen,
            }
        }
    }
    seen
}

/// Starts once more and compares each task with what was shown of it.
async fn compare(launch: &ServerLaunch, seen: &Seen) {
    let server = launch.start().await;
    let client = server.client();
    let mut compared = 0;
    for (message_id, frames) in seen {
        // The same message again: the same task, replayed from its start to its end.
        let again = client.rpc_stream("SendStreamingMessage", message(message_id, "work")).await.rest().await;
        let ids: Vec<_> = again.iter().map(|frame| frame.id.unwrap()).collect();
        assert_eq!(ids, (1..=ids.len() as u64).collect::<Vec<_>>(), "{message_id}: no hole, no repeat");
        assert_eq!(again[..frames.len()], frames[..], "{message_id}: what was shown is what is stored");
        compared += frames.len();
        let task = &again[0].payload()["task"]["id"];
        let read = client.rpc("GetTask", json!({"id": task})).await;
        let result = &read["result"];
        assert_eq!(result["status"]["state"], "TASK_STATE_COMPLETED", "{message_id}");
        let artifacts = result["artifacts"].as_array().unwrap();
        let texts: BTreeMap<_, _> =
            artifacts.iter().map(|it| (it["artifactId"].as_str().unwrap(), parts(it))).collect();
        assert_eq!(texts["answer-1"], "abcdef", "{message_id}: no step was repeated or left out");
        assert_eq!(texts["file"], "abcdef", "{message_id}");
        assert_eq!(artifacts.len(), 3, "{message_id}");
    }
    assert!(compared > seen.len(), "hardly anything was shown before the kills");
    let begun = Instant::now();
    let mut health = client.get("/health").await.json();
    while health["activeTasks"] != 0 {
        assert!(begun.elapsed() < WAIT_TIMEOUT, "something hangs: {health:#}");
        health = client.get("/health").await.json();
    }
}

/// Pauses of no regular length, the same for the same seed.
struct Pauses(u64);

impl Pauses {
    fn next(&mut self) -> Duration {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Duration::from_micros((self.0 >> 33) % 120_000)
    }
}
