//! `kill -9` at any moment with notifications under way, again and again.
//!
//! `ATTACHE_TEST_SEED=7` plays one course again; `ATTACHE_PUSH_KILLS=1000` tries harder.

use std::collections::BTreeMap;
use std::time::Duration;

use attache_testkit::{PushReceiver, TestClient, WAIT_TIMEOUT};
use serde_json::{Value, json};

use super::LOCAL;
use crate::support::{launch, message};
use crate::watching::replay;

const SCRIPT: &str = "
rules:
  - name: pieces
    steps:
      - say: [a, b, c, d, e, f, g, h, i, j]
        every: 3ms
";

#[tokio::test]
async fn every_event_is_told_at_least_once_in_order_and_none_is_invented() {
    let seed = wanted("ATTACHE_TEST_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    let kills = wanted("ATTACHE_PUSH_KILLS").unwrap_or(6);
    eprintln!("ATTACHE_TEST_SEED={seed}");
    let mut chance = Chance(seed);
    let receiver = PushReceiver::accepting();
    let launch = launch()
        .script(SCRIPT)
        .settings(&format!("duplicate_sends = \"always\"\n{LOCAL}artifacts = true\n"))
        .durable();
    let mut server = launch.start().await;
    for number in 0..kills {
        let pause = Duration::from_micros(chance.below(90_000));
        // Whether the message arrives is for the dice; it is sent again at the end.
        let _ = tokio::time::timeout(pause, begin(&server.client(), &receiver, number)).await;
        if chance.below(3) > 0 {
            tokio::time::sleep(Duration::from_micros(chance.below(60_000))).await;
        }
        server.kill().await;
        server = launch.start().await;
    }
    let client = server.client();
    let (mut told, mut repeated) = (0, 0);
    for number in 0..kills {
        let task = begin(&client, &receiver, number).await.expect("the server is there");
        for config in ["one", "two"] {
            let seqs = check(&client, &receiver, &task, number, config).await;
            told += seqs.0;
            repeated += seqs.1;
        }
    }
    eprintln!("{kills} kills, {told} events told, {repeated} repetitions");
}

/// Begins a task that is told to two receivers; the same task however often it is begun.
async fn begin(client: &TestClient, receiver: &PushReceiver, number: u64) -> Option<String> {
    let mut params = message(&format!("m{number}"), "go");
    let url = |config: &str| receiver.url(&format!("/{number}/{config}"));
    params["configuration"] = json!({
        "returnImmediately": true,
        "taskPushNotificationConfig": {"id": "one", "url": url("one")},
    });
    let mut stream = client.try_rpc_stream("SendStreamingMessage", params).await?;
    let first = stream.next().await?;
    let task = first.payload()["task"]["id"].as_str()?.to_owned();
    let create = json!({"taskId": task, "id": "two", "url": url("two")});
    let created = client.try_rpc_stream("CreateTaskPushNotificationConfig", create).await?;
    (created.status == 200).then_some(task)
}

/// Holds what came against what happened; how many events were told, and how many repetitions there were.
async fn check(
    client: &TestClient,
    receiver: &PushReceiver,
    task: &str,
    number: u64,
    config: &str,
) -> (usize, usize) {
    let events: BTreeMap<u64, Value> = replay(client, task)
        .await
        .iter()
        .skip(1)
        .map(|frame| (frame.id.unwrap(), frame.payload().clone()))
        .collect();
    let last = *events.keys().next_back().unwrap();
    let path = format!("/{number}/{config}");
    let seq = |received: &attache_testkit::model_server::ReceivedRequest| -> u64 {
        received.header("a2a-event-seq").unwrap().parse().unwrap()
    };
    let waiting = async {
        while receiver.at(&path).last().map(seq) != Some(last) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let came = || receiver.at(&path).iter().map(seq).collect::<Vec<_>>();
    assert!(
        tokio::time::timeout(WAIT_TIMEOUT, waiting).await.is_ok(),
        "{path}: {last} never came, only {:?}",
        came()
    );
    let received = receiver.at(&path);
    for received in &received {
        assert_eq!(events.get(&seq(received)), Some(&received.json()), "{path}: it is what happened");
        assert_eq!(received.header("a2a-event-id").unwrap(), format!("{task}/{config}/{}", seq(received)));
    }
    let seqs = came();
    // The one that came with the message is told everything; the other from when it was registered.
    let first = if config == "one" { *events.keys().next().unwrap() } else { seqs[0] };
    assert_eq!(seqs[0], first, "{path}: {seqs:?}");
    for pair in seqs.windows(2) {
        let next = events.range(pair[0] + 1..).next().map(|(seq, _)| *seq);
        assert!(pair[1] <= pair[0] || Some(pair[1]) == next, "{path} skips after {}: {seqs:?}", pair[0]);
    }
    let mut told = seqs.clone();
    told.sort_unstable();
    told.dedup();
    let expected: Vec<u64> = events.range(first..).map(|(seq, _)| *seq).collect();
    assert_eq!(told, expected, "{path}: {seqs:?}");
    (told.len(), seqs.len() - told.len())
}

fn wanted(name: &str) -> Option<u64> {
    #[expect(clippy::disallowed_methods, reason = "tests are told how hard to try by the environment")]
    let wanted = std::env::var(name);
    wanted.ok()?.parse().ok()
}

/// Numbers without a pattern, the same for the same seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}
