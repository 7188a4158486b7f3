//! Who answers reads at once what was approved, and the task's history keeps who approved what.

use attache_testkit::agent_client::{call_in, message_to, question, send, state};
use attache_testkit::model_server::ModelServer;
use attache_testkit::model_server::gemini::says;
use serde_json::{Value, json};

use super::runs;
use crate::agent_world::start;

/// The messages of a task that tell of an approval.
fn approvals(task: &Value) -> Vec<Value> {
    let history = task["history"].as_array().unwrap();
    let told = history.iter().filter(|message| message["metadata"]["attache/approval"].is_object());
    told.cloned().collect()
}

#[tokio::test]
async fn the_answer_to_a_yes_says_what_was_approved() {
    let model = ModelServer::with_responses([runs("touch \u{200b}P"), says("Done.")]);
    let (_folder, server) = start(&model).await;
    let client = server.client().with("User-Agent", "ann");
    let task = send(&client, "m1", "Run!").await;
    let call = call_in(&question(&task));
    let id = task["id"].as_str().unwrap();
    let mut params = message_to(id, "m2", "yes");
    params["configuration"] = json!({"returnImmediately": true, "historyLength": 0});
    let answered = client.rpc("SendMessage", params).await["result"]["task"].clone();
    let told = question(&answered);
    for words in ["Approved by ", "(ann)", &call, "run_shell_command", "proceed_once", r"touch \u{200b}P"] {
        assert!(told.contains(words), "{words} in {told}");
    }
}

#[tokio::test]
async fn a_stream_that_answers_begins_with_what_was_approved_in_the_history() {
    let model = ModelServer::with_responses([runs("touch P"), says("Done.")]);
    let (_folder, server) = start(&model).await;
    let client = server.client();
    let task = send(&client, "m1", "Run!").await;
    let params = message_to(task["id"].as_str().unwrap(), "m2", "yes");
    let frames = client.rpc_stream("SendStreamingMessage", params).await.rest().await;
    // Many clients show the message of every status as words of the agent.
    let first = &frames[0].payload()["task"];
    assert_eq!(
        (state(first), &first["status"]["message"]),
        ("TASK_STATE_WORKING", &Value::Null),
        "{first:#}"
    );
    let told = first["history"].as_array().unwrap().last().unwrap()["parts"][0]["text"].as_str().unwrap();
    assert!(told.starts_with("Approved by ") && told.contains("touch P"), "{told}");
    let later = frames[1..].iter().map(|frame| frame.payload().to_string()).collect::<String>();
    assert!(!later.contains("Approved by"), "{later}");
}

#[tokio::test]
async fn an_approval_and_its_author_stand_in_the_history_of_both_versions() {
    let model = ModelServer::with_responses([runs("touch P"), runs("touch Q"), says("Done.")]);
    let (launch, mut server) = start(&model).await;
    let ann = server.client().with("User-Agent", "ann");
    let bob = server.client().with("User-Agent", "bob");
    let task = send(&ann, "m1", "Run!").await;
    let id = task["id"].as_str().unwrap().to_owned();
    let first = call_in(&question(&task));
    let next = bob.rpc("SendMessage", message_to(&id, "m2", &format!("{first}: yes"))).await;
    let second = call_in(&question(&next["result"]["task"]));
    ann.rpc("SendMessage", message_to(&id, "m3", &format!("{second}: no"))).await;
    for restarted in [false, true] {
        if restarted {
            server.kill().await;
            server = launch.start().await;
        }
        let client = server.client();
        for method in ["GetTask", "tasks/get"] {
            let task = client.rpc(method, json!({"id": id})).await["result"].clone();
            let told = approvals(&task);
            assert_eq!(told.len(), 2, "{task:#}");
            for (message, expected) in
                told.iter().zip([(&first, "proceed_once", "bob", "m2"), (&second, "cancel", "ann", "m3")])
            {
                let approval = &message["metadata"]["attache/approval"];
                let (call, choice, client, said) = expected;
                assert_eq!(
                    (&approval["call"], &approval["choice"]),
                    (&json!(call), &json!(choice)),
                    "{message:#}"
                );
                assert_eq!(
                    (&approval["tool"], &approval["message"]),
                    (&json!("run_shell_command"), &json!(said))
                );
                assert!(approval["by"].as_str().unwrap().contains(client), "{message:#}");
                assert!(approval["at"].as_str().unwrap().ends_with('Z'), "{message:#}");
            }
            // A question stands right before its answer.
            let history = task["history"].as_array().unwrap();
            let place = history.iter().position(|message| *message == told[0]).unwrap();
            assert!(history[place - 1].to_string().contains("I need your answer"), "{history:#?}");
        }
        assert_eq!(
            state(&client.rpc("GetTask", json!({"id": id})).await["result"]),
            "TASK_STATE_INPUT_REQUIRED"
        );
    }
    let told = model.received().last().unwrap().json().to_string();
    assert!(!told.contains("Approved by"), "approvals are for people, not for the model: {told}");
}
