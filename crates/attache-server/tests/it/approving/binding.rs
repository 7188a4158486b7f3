//! An answer counts for the question that its sender has read, and for no other.

use attache_testkit::agent_client::{call_in, question, reply, send, state};
use attache_testkit::model_server::ModelServer;
use attache_testkit::model_server::gemini::{calls, says};
use serde_json::{Value, json};

use super::runs;
use crate::agent_world::{start, work};

fn edit() -> Value {
    json!({"file_path": "hello.txt", "instruction": "greet", "old_string": "world", "new_string": "moon"})
}

#[tokio::test]
async fn a_yes_of_another_client_does_not_hit_the_question_that_has_just_come() {
    let model = ModelServer::with_responses([calls("replace", edit()), runs("touch P"), says("Done.")]);
    let (folder, server) = start(&model).await;
    let ann = server.client().with("User-Agent", "ann");
    let bob = server.client().with("User-Agent", "bob");
    let task = send(&ann, "m1", "Greet the moon").await;
    let seen = bob.rpc("GetTask", json!({"id": task["id"]})).await["result"].clone();
    assert!(question(&seen).contains("+Hello, moon."), "both look at the edit");
    let next = reply(&ann, "m2", &task, "yes").await;
    assert!(question(&next).contains("touch P"), "{next:#}");
    let refused = reply(&bob, "m3", &task, "yes").await;
    let told = refused["error"].to_string();
    let call = call_in(&question(&next));
    for words in ["another question", "run_shell_command", &call, "touch P", "Nothing was approved", "ann"] {
        assert!(told.contains(words), "{words} in {refused:#}");
    }
    assert!(!work(&folder).join("P").exists());
    // Named, it counts; and so do the words of the client that was shown the new question.
    let done = reply(&bob, "m4", &task, &format!("{call}: yes")).await;
    assert_eq!(state(&done), "TASK_STATE_COMPLETED", "{done:#}");
    assert!(work(&folder).join("P").exists());
}

#[tokio::test]
async fn the_client_that_answered_may_go_on_in_bare_words() {
    let model = ModelServer::with_responses([calls("replace", edit()), runs("touch P"), says("Done.")]);
    let (folder, server) = start(&model).await;
    let client = server.client().with("User-Agent", "ann");
    let task = send(&client, "m1", "Greet the moon").await;
    reply(&client, "m2", &task, "yes").await;
    let done = reply(&client, "m3", &task, "yes").await;
    assert_eq!(state(&done), "TASK_STATE_COMPLETED", "{done:#}");
    assert!(work(&folder).join("P").exists());
}
