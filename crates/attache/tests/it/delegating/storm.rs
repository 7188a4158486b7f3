//! `kill -9` again and again while several tasks delegate. Every message reaches the agent once.
//!
//! `ATTACHE_TEST_SEED=7` plays one course again; `ATTACHE_TEST_KILLS=200` tries harder.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use attache_testkit::model_server::{ModelServer, PlannedResponse, ReceivedRequest, gemini};
use attache_testkit::{TestClient, WAIT_TIMEOUT};
use futures_util::future::join_all;
use serde_json::json;
use tokio::time::{interval, timeout};

use super::world::{peer_tasks, yolo_launch};
use crate::agent_world::{answer_text, state};
use crate::crashing::randomly::{Chance, announced_seed, parts, wanted};
use crate::support::{launch, message};
use crate::watching::{drop_in, task};

const TASKS: usize = 4;
const CALLS: usize = 6;

/// The agent's answers take a while, so that kills fall into them.
const SCRIPT: &str = "rules:
  - text: '^do (.+)$'
    steps:
      - say: ['did ', '{{1}}']
        every: 5ms
";

#[tokio::test]
async fn no_message_is_sent_twice_and_none_is_lost() {
    let mut chance = Chance(announced_seed());
    let kills = wanted("ATTACHE_TEST_KILLS").unwrap_or(10);
    let peer = launch().in_memory().script(SCRIPT).start().await;
    let model = ModelServer::with_handler(next_answer);
    let launch = yolo_launch(&model, &[("helper", peer.url())]);
    let mut server = launch.start().await;
    let (mut begun, mut ids, mut killed) = (0, Vec::new(), 0);
    while killed < kills {
        // A storm outlives its tasks: there are always some at work.
        if ids.is_empty() {
            for _ in 0..TASKS {
                let text = format!("Name: {begun};");
                let opened = drop_in(&server.client(), message(&format!("open-{begun}"), &text)).await;
                ids.push((begun, opened["id"].as_str().unwrap().to_owned()));
                begun += 1;
            }
        }
        let pause = Duration::from_micros(chance.below(250_000));
        if timeout(pause, all_done(&server.client(), &ids)).await.is_ok() {
            ids.clear();
            continue;
        }
        server.kill().await;
        killed += 1;
        server = launch.start().await;
    }
    all_done(&server.client(), &ids).await;
    let mut received = BTreeMap::<String, usize>::new();
    for task in peer_tasks(&peer).await {
        assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED", "{task:#}");
        let text = task["artifacts"][0]["parts"][0]["text"].as_str().unwrap().to_owned();
        *received.entry(text).or_default() += 1;
    }
    let expected: BTreeMap<String, usize> = (0..begun)
        .flat_map(|name| (0..CALLS).map(move |number| (format!("did {name}:{number}"), 1)))
        .collect();
    assert_eq!(received, expected, "every message once");
}

/// Which answer comes next can be told from how many results the model has seen, so a new start changes nothing.
fn next_answer(received: &ReceivedRequest) -> PlannedResponse {
    let request = received.json();
    let told = request["contents"].to_string();
    let name = told.split_once("Name: ").unwrap().1.split_once(';').unwrap().0.to_owned();
    let number = parts(&request, "functionResponse");
    if number == CALLS {
        let all = (0..CALLS).all(|number| told.contains(&format!("did {name}:{number}")));
        let text = format!("{name} is {}.", if all { "done" } else { "not done" });
        return gemini::answer([gemini::chunk().text(&text).finish("STOP").usage(9, 1)]);
    }
    // Two calls run at the same time.
    let calls = [number, number + 1].iter().fold(gemini::chunk(), |chunk, number| {
        let input = json!({"agent_name": "helper", "prompt": format!("do {name}:{number}")});
        chunk.call("invoke_agent", input)
    });
    gemini::answer([calls.finish("STOP").usage(9, 1)]).pause(Duration::from_millis(2))
}

async fn all_done(client: &TestClient, ids: &[(usize, String)]) {
    join_all(ids.iter().map(|(name, id)| done(client, *name, id))).await;
}

async fn done(client: &TestClient, name: usize, id: &str) {
    let mut ticks = interval(Duration::from_millis(10));
    let begun = Instant::now();
    loop {
        let task = task(client, id).await;
        assert!(begun.elapsed() < WAIT_TIMEOUT * 2, "it does not end: {task:#}");
        match state(&task).trim_start_matches("TASK_STATE_") {
            "COMPLETED" => return assert_eq!(answer_text(&task), format!("{name} is done.")),
            "WORKING" | "SUBMITTED" => {}
            other => panic!("{other}: {task:#}"),
        }
        ticks.tick().await;
    }
}
