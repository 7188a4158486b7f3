//! A read after an accepted answer never shows the answered question.

use attache_testkit::TestClient;
use attache_testkit::agent_client::{reaches, send};
use attache_testkit::model_server::ModelServer;
use attache_testkit::model_server::gemini::{calls, says};
use serde_json::json;

use super::{Speaker, Words, asked_in, state_in};
use crate::agent_world::start;
use attache_testkit::pairs::{Ask, Pair};

/// In each of two tasks: a turn does not ask its model more often than a hundred times.
const ANSWERS: usize = 50;

#[tokio::test]
async fn a_hundred_answers_are_each_seen_by_the_next_read_on_every_binding() {
    let model = ModelServer::with_handler(|received| {
        let told = received.json()["contents"].to_string();
        let number = told.matches("functionResponse").count();
        match number {
            ANSWERS => says("Done."),
            _ => calls("run_shell_command", json!({"command": format!("touch made-{number}")})),
        }
    });
    let (_launch, server) = start(&model).await;
    for (place, opened) in ["m1", "m2"].into_iter().enumerate() {
        check(&server.client(), place, opened).await;
    }
}

async fn check(client: &TestClient, place: usize, opened: &str) {
    let task = send(client, opened, "Make fifty!").await;
    let id = task["id"].as_str().unwrap();
    for number in 0..ANSWERS {
        let asked = asked_in(&reaches(client, id, "INPUT_REQUIRED").await);
        assert_eq!(asked.len(), 1, "{number}");
        let speaker = Speaker::new(Pair::ALL[number % 4], Words::ALL[place], client);
        let mut params = speaker.answering(id, &format!("answer-{number}"), &[(&asked[0], "proceed_once")]);
        params["configuration"] = match speaker.pair {
            Pair::Rpc03 | Pair::Rest03 => json!({"blocking": false}),
            Pair::Rpc10 | Pair::Rest10 => json!({"returnImmediately": true}),
        };
        let answered = speaker.pair.result(&speaker.client, &Ask::Send(params)).await;
        assert!(!asked_in(&answered).contains(&asked[0]), "{number}: {answered:#}");
        for pair in Pair::ALL {
            let seen = pair.result(client, &Ask::Get(id.to_owned())).await;
            assert!(
                !asked_in(&seen["status"]).contains(&asked[0]),
                "{number} {pair:?}: {:#}",
                seen["status"]
            );
            assert_ne!(state_in(&seen), "submitted", "{number} {pair:?}");
        }
    }
    reaches(client, id, "COMPLETED").await;
}
