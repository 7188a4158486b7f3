//! Answers that come after another one has counted: they are refused with its author, and never become prompts.

use attache_testkit::TestClient;
use attache_testkit::agent_client::{drop_in, message_in, message_to, reaches, send, state};
use attache_testkit::model_server::ModelServer;
use attache_testkit::model_server::gemini::{calls, says};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::agent_world::{launch_with, start, work};

const PEOPLE: usize = 10;

fn slow() -> Value {
    json!({"command": "echo ran >> runs; while [ ! -e go ]; do sleep 0.01; done"})
}

/// All of them say `yes` at once, in the same words and with the same client. Returns what each got.
async fn all_say_yes(client: &TestClient, params: impl Fn(&str) -> Value) -> Vec<Value> {
    let mut racing = JoinSet::new();
    for number in 0..PEOPLE {
        let (client, params) = (client.clone(), params(&format!("yes-{number}")));
        racing.spawn(async move { drop_in(&client, params).await });
    }
    racing.join_all().await
}

#[track_caller]
fn check_one_counted(told: &[Value]) {
    let (taken, refused): (Vec<_>, Vec<_>) = told.iter().partition(|told| told.get("error").is_none());
    assert_eq!(taken.len(), 1, "{told:#?}");
    for refused in refused {
        let error = &refused["error"];
        assert_eq!(error["code"], -32602, "{refused:#}");
        let message = error["message"].as_str().unwrap();
        let words = ["was answered already", "proceed_once", "by ", "in the message yes-", "at 2"];
        assert!(words.iter().all(|words| message.contains(words)), "{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_ten_people_who_say_yes_one_counts_and_nine_are_told_who_it_was() {
    let model = ModelServer::with_responses([calls("run_shell_command", slow()), says("Done.")]);
    let (launch, server) = start(&model).await;
    let client = server.client();
    let task = send(&client, "m1", "Run!").await;
    let id = task["id"].as_str().unwrap();
    check_one_counted(&all_say_yes(&client, |message| message_to(id, message, "yes")).await);
    std::fs::write(work(&launch).join("go"), "").unwrap();
    let done = reaches(&client, id, "COMPLETED").await;
    let history = done["history"].as_array().unwrap();
    let people = history.iter().filter(|message| message["role"] == "ROLE_USER").count();
    assert_eq!(people, 1, "none of them became a message: {history:#?}");
    assert_eq!(model.received().len(), 2);
    // Once it is over, a late answer is still refused with the author of the first.
    let late = drop_in(&client, message_to(id, "late", "yes")).await;
    assert!(late["error"].to_string().contains("was answered already"), "{late:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_holds_for_those_who_name_only_the_context() {
    let model = ModelServer::with_responses([calls("run_shell_command", slow()), says("Done.")]);
    let (launch, server) = start(&model).await;
    let client = server.client();
    let task = send(&client, "m1", "Run!").await;
    let context = &task["contextId"];
    check_one_counted(&all_say_yes(&client, |message| message_in(context, message, "yes")).await);
    std::fs::write(work(&launch).join("go"), "").unwrap();
    reaches(&client, task["id"].as_str().unwrap(), "COMPLETED").await;
    let listed = client.rpc("ListTasks", json!({"contextId": context})).await["result"].clone();
    assert_eq!(listed["totalSize"], 1, "no second task: {listed:#}");
    assert_eq!(model.received().len(), 2);
}

#[tokio::test]
async fn other_words_are_still_heard_when_the_turn_is_over() {
    let model =
        ModelServer::with_responses([calls("run_shell_command", slow()), says("Done."), says("And that.")]);
    let launch = launch_with(&model);
    let server = launch.start().await;
    let client = server.client();
    let task = send(&client, "m1", "Run!").await;
    let id = task["id"].as_str().unwrap();
    drop_in(&client, message_to(id, "m2", "yes")).await;
    for word in ["no", "always", "Cancel.", "proceed_once", "skip", "all: yes"] {
        let late = drop_in(&client, message_to(id, &format!("late-{word}"), word)).await;
        assert!(late["error"].to_string().contains("was answered already"), "{word}: {late:#}");
    }
    let queued = drop_in(&client, message_to(id, "m3", "yes, and also tidy up")).await;
    assert_eq!(state(&queued), "TASK_STATE_WORKING", "{queued:#}");
    std::fs::write(work(&launch).join("go"), "").unwrap();
    let done = reaches(&client, id, "COMPLETED").await;
    assert!(done["history"].to_string().contains("And that."), "{done:#}");
}
