//! A call that was approved, and running when the server was killed: an answer to the first question never runs it again.

use std::fs;

use attache_testkit::WAIT_TIMEOUT;
use attache_testkit::model_server::ModelServer;
use attache_testkit::model_server::gemini::{calls, says};
use attache_testkit::waiting::eventually;
use serde_json::{Value, json};

use super::{Speaker, Words, asked_in, is_final, state_in, task_in};
use crate::agent_world::{AgentLaunch, AgentServer, launch_with, work};
use attache_testkit::pairs::{Ask, Pair};

struct Lost {
    launch: AgentLaunch,
    server: AgentServer,
    task: String,
    /// The ids of both questions.
    first: String,
    second: String,
}

impl Lost {
    /// Asked in these words, approved by one person, begun, killed, started anew.
    async fn of(model: &ModelServer, pair: Pair, words: Words) -> Self {
        let launch = launch_with(model);
        let server = launch.start().await;
        let ann = Speaker::new(pair, words, &server.client().with("User-Agent", "ann"));
        let asked = ann.stream(ann.opening(&launch, "m1", "Run!")).await;
        let (task, first) = (task_in(&asked[0]), asked_in(&asked.iter().cloned().collect()).remove(0));
        let approved = ann.answering(&task, "m2", &[(&first, "proceed_once")]);
        let stream = ann.pair.stream(&ann.client, &Ask::Stream(approved)).await;
        eventually("the command", || runs(&launch) == 1).await;
        server.kill().await;
        drop(stream);
        let server = launch.start().await;
        let lost = Self { launch, server, task, first, second: String::new() };
        let second = asked_in(&lost.asks().await);
        assert_eq!(second.len(), 1);
        Self { second: second[0].clone(), ..lost }
    }

    /// The task once it asks.
    async fn asks(&self) -> Value {
        let client = self.server.client();
        let mut ticks = tokio::time::interval(std::time::Duration::from_millis(5));
        let begun = std::time::Instant::now();
        loop {
            let task = Pair::Rpc10.result(&client, &Ask::Get(self.task.clone())).await;
            if state_in(&task) == "input-required" {
                return task;
            }
            assert!(begun.elapsed() < WAIT_TIMEOUT, "it does not ask: {task:#}");
            ticks.tick().await;
        }
    }

    fn by(&self, name: &str, pair: Pair, words: Words) -> Speaker {
        Speaker::new(pair, words, &self.server.client().with("User-Agent", name))
    }

    fn go(&self) {
        fs::write(work(&self.launch).join("go"), "").unwrap();
    }
}

fn runs(launch: &AgentLaunch) -> usize {
    fs::read_to_string(work(launch).join("runs")).unwrap_or_default().lines().count()
}

fn model() -> ModelServer {
    let wait = "for i in $(seq 1000); do [ -e go ] && break; sleep 0.02; done";
    let command = json!({"command": format!("echo ran >> runs; {wait}")});
    ModelServer::with_responses([calls("run_shell_command", command), says("I see.")])
}

#[tokio::test]
async fn a_late_answer_to_the_first_question_is_refused_in_every_dialect_and_runs_nothing() {
    let model = model();
    let lost = Lost::of(&model, Pair::Rpc10, Words::Plain).await;
    assert_ne!(lost.first, lost.second, "a question of its own");
    let mut number = 0;
    for speaker in Speaker::all(&lost.server.client().with("User-Agent", "bob")) {
        for choice in ["proceed_once", "proceed_always", "run_again", "yes"] {
            number += 1;
            let late = speaker.answering(&lost.task, &format!("late-{number}"), &[(&lost.first, choice)]);
            let told = speaker.refusal(late).await;
            assert!(told.contains("was answered already") && told.contains("ann"), "{told}");
        }
        for (words, part) in [("yes", "run_again, skip, cancel"), ("always", "run_again, skip, cancel")] {
            number += 1;
            let bare = speaker.pair.text_to(&lost.task, &format!("late-{number}"), words);
            let told = speaker.refusal(bare).await;
            assert!(told.contains(part), "{words}: {told}");
        }
        number += 1;
        let named =
            speaker.pair.text_to(&lost.task, &format!("late-{number}"), &format!("{}: yes", lost.first));
        let told = speaker.refusal(named).await;
        assert!(told.contains("was answered already"), "{told}");
    }
    let task = lost.asks().await;
    assert_eq!(asked_in(&task), [lost.second.as_str()], "it still asks: {task:#}");
    let bob = lost.by("bob", Pair::Rest10, Words::Plain);
    let done = bob.stream(bob.answering(&lost.task, "m3", &[(&lost.second, "skip")])).await;
    assert_eq!(state_in(done.last().unwrap()), "completed", "{done:#?}");
    lost.go();
    assert_eq!(runs(&lost.launch), 1);
}

#[tokio::test]
async fn it_runs_again_when_the_answer_names_the_question_about_that() {
    for (pair, words) in
        [(Pair::Rpc03, Words::Rfc), (Pair::Rest10, Words::Plain), (Pair::Rpc10, Words::Gemini)]
    {
        let model = model();
        let lost = Lost::of(&model, pair, words).await;
        lost.go();
        let bob = lost.by("bob", pair, words);
        let done = bob.stream(bob.answering(&lost.task, "m3", &[(&lost.second, "run_again")])).await;
        assert!(done.iter().any(|item| item.to_string().contains("I see.")), "{words:?}: {done:#?}");
        assert_eq!(runs(&lost.launch), 2, "{words:?}");
        let task = Pair::Rpc10.result(&lost.server.client(), &Ask::Get(lost.task.clone())).await;
        assert!(task["history"].to_string().contains("run_again"), "{task:#}");
    }
}

#[tokio::test]
async fn a_client_of_geminis_server_may_say_so_with_the_outcomes_it_knows() {
    let model = model();
    let lost = Lost::of(&model, Pair::Rpc03, Words::Gemini).await;
    let bob = lost.by("bob", Pair::Rpc03, Words::Gemini);
    for (number, outcome) in ["proceed_once", "proceed_always"].into_iter().enumerate() {
        let late = bob.answering(&lost.task, &format!("late-{number}"), &[(&lost.first, outcome)]);
        let told = bob.refusal(late).await;
        assert!(told.contains("was answered already"), "{told}");
    }
    assert_eq!(runs(&lost.launch), 1);
    lost.go();
    let done = bob.stream(bob.answering(&lost.task, "m3", &[(&lost.second, "proceed_once")])).await;
    assert!(done.iter().any(|item| item.to_string().contains("I see.")), "{done:#?}");
    assert!(is_final(done.last().unwrap()));
    assert_eq!(runs(&lost.launch), 2);
}
