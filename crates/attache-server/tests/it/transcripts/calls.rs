//! Tools: what runs unasked, what is asked about, and what the model reads of it.

use std::fs;

use attache_testkit::agent_client::{answer, check, frames, message_to};
use attache_testkit::model_requests::{last_output, outputs};
use attache_testkit::model_server::gemini::{batch, calls, says};
use attache_testkit::model_server::{ModelServer, gemini};
use attache_tool::policy::PolicyMode;
use serde_json::json;

use crate::agent_world::{launch_with, start, work};

const QUESTION: &str = "INPUT_REQUIRED I need your answer before I go on:";

#[tokio::test]
async fn a_read_is_not_asked_about() {
    let read = gemini::answer([gemini::chunk()
        .text("I look.")
        .call("read_file", json!({"file_path": "hello.txt"}))
        .finish("STOP")
        .usage(10, 1)]);
    let model = ModelServer::with_responses([read, says(" Two lines.")]);
    let (_launch, server) = start(&model).await;
    let frames = frames(&server.client(), "m1", "What is in hello.txt?").await;
    check(
        &frames,
        &[
            "task SUBMITTED",
            "WORKING",
            "answer-1 = I look.",
            "answer-1 +  Two lines.",
            "answer-1 +  (.)",
            "COMPLETED",
        ],
    );
    assert!(last_output(&model).contains("Second line."), "{}", last_output(&model));
    let usage = &frames.last().unwrap().payload()["statusUpdate"]["metadata"]["usage"];
    assert_eq!((&usage["inputTokens"], &usage["outputTokens"]), (&json!(110), &json!(11)), "of both answers");
}

#[tokio::test]
async fn an_edit_is_asked_about_and_published() {
    let edit = json!({"file_path": "hello.txt", "instruction": "greet", "old_string": "world", "new_string": "moon"});
    let model = ModelServer::with_responses([calls("replace", edit), says("Done.")]);
    let (launch, server) = start(&model).await;
    let client = server.client();
    let asked = frames(&client, "m1", "Greet the moon").await;
    check(&asked, &["task SUBMITTED", "WORKING", QUESTION]);
    let id = asked[0].payload()["task"]["id"].as_str().unwrap();
    let done = answer(&client, id, "m2", "yes").await;
    check(&done, &["task WORKING", "answer-1 = Done.", "answer-1 +  (.)", "COMPLETED"]);
    assert_eq!(fs::read_to_string(work(&launch).join("hello.txt")).unwrap(), "Hello, moon.\nSecond line.\n");
}

#[tokio::test]
async fn what_a_person_puts_in_place_of_an_edit_is_written_exactly() {
    let model = ModelServer::with_responses([
        calls("write_file", json!({"file_path": "new.txt", "content": "the model's\n"})),
        says("Done."),
    ]);
    let (launch, server) = start(&model).await;
    let client = server.client();
    let asked = frames(&client, "m1", "Write!").await;
    let id = asked[0].payload()["task"]["id"].as_str().unwrap();
    let question = asked[2].payload()["statusUpdate"]["status"]["message"]["parts"][0]["text"].clone();
    let question = question.as_str().unwrap();
    let call = question.split_once("write_file (").unwrap().1.split_once(')').unwrap().0;
    let mut params = message_to(id, "m2", "");
    let data = json!({"call": call, "choice": "proceed_once", "newContent": "mine, \u{e4}\r\nno end"});
    params["message"]["parts"] = json!([{"data": data}]);
    let done = client.rpc_stream("SendStreamingMessage", params).await.rest().await;
    check(&done, &["task WORKING", "answer-1 = Done.", "answer-1 +  (.)", "COMPLETED"]);
    assert_eq!(fs::read_to_string(work(&launch).join("new.txt")).unwrap(), "mine, \u{e4}\r\nno end");
    let knowing = client.with("A2A-Extensions", attache_wire::devtool::URI);
    let diff = knowing.rpc("GetTask", json!({"id": id})).await["result"]["artifacts"][1].to_string();
    assert!(diff.contains("+mine") && !diff.contains("the model's"), "{diff}");
}

#[tokio::test]
async fn a_command_is_shown_then_run_and_the_model_reads_what_it_wrote() {
    let command = json!({"command": "for i in 1 2 3; do echo line $i; done; exit 3"});
    let model = ModelServer::with_responses([calls("run_shell_command", command), says("It ended with 3.")]);
    let (_launch, server) = start(&model).await;
    let client = server.client();
    let asked = frames(&client, "m1", "Run!").await;
    check(&asked, &["task SUBMITTED", "WORKING", QUESTION]);
    assert!(asked[2].raw.contains("echo line $i"), "{}", asked[2].raw);
    let id = asked[0].payload()["task"]["id"].as_str().unwrap();
    let done = answer(&client, id, "m2", "yes").await;
    check(&done, &["task WORKING", "answer-1 = It ended with 3.", "answer-1 +  (.)", "COMPLETED"]);
    let output = last_output(&model);
    assert!(output.contains("line 1\nline 2\nline 3") && output.contains('3'), "{output}");
}

#[tokio::test]
async fn a_refusal_ends_the_turn_and_says_why_it_rests() {
    let model = ModelServer::with_responses([
        calls("run_shell_command", json!({"command": "touch made"})),
        says("As you like."),
    ]);
    let (launch, server) = start(&model).await;
    let client = server.client();
    let asked = frames(&client, "m1", "Run!").await;
    let id = asked[0].payload()["task"]["id"].as_str().unwrap();
    let refused = answer(&client, id, "m2", "no").await;
    check(
        &refused,
        &["task WORKING", "INPUT_REQUIRED [declined] I did not do that. What shall I do instead?"],
    );
    let done = answer(&client, id, "m3", "Nothing.").await;
    check(&done, &["task WORKING", "WORKING", "answer-2 = As you like.", "answer-2 +  (.)", "COMPLETED"]);
    assert!(!work(&launch).join("made").exists());
}

#[tokio::test]
async fn a_call_that_a_rule_forbids_is_an_error_for_the_model_without_a_question() {
    let model = ModelServer::with_responses([
        calls("write_file", json!({"file_path": "new.txt", "content": "x"})),
        says("I only plan."),
    ]);
    let launch = launch_with(&model).mode(PolicyMode::Plan);
    let server = launch.start().await;
    let frames = frames(&server.client(), "m1", "Write!").await;
    check(&frames, &["task SUBMITTED", "WORKING", "answer-1 = I only plan.", "answer-1 +  (.)", "COMPLETED"]);
    assert!(!work(&launch).join("new.txt").exists());
    assert!(last_output(&model).to_lowercase().contains("plan"), "{}", last_output(&model));
}

#[tokio::test]
async fn a_batch_runs_in_order_with_one_question() {
    let read = |path: &str| ("read_file", json!({"file_path": path}));
    let write = ("write_file", json!({"file_path": "new.txt", "content": "fresh\n"}));
    let model = ModelServer::with_responses([
        batch([read("hello.txt"), write, read("hello.txt"), read("missing.txt")]),
        says("All four."),
    ]);
    let (launch, server) = start(&model).await;
    let client = server.client();
    let asked = frames(&client, "m1", "Go!").await;
    check(&asked, &["task SUBMITTED", "WORKING", QUESTION]);
    assert_eq!(asked[2].raw.matches("proceed_once, ").count(), 1, "{}", asked[2].raw);
    assert!(!work(&launch).join("new.txt").exists());
    let id = asked[0].payload()["task"]["id"].as_str().unwrap();
    let done = answer(&client, id, "m2", "yes").await;
    check(&done, &["task WORKING", "answer-1 = All four.", "answer-1 +  (.)", "COMPLETED"]);
    assert_eq!(model.received().len(), 2, "what came of all four is told in one go");
    let outputs = outputs(&model);
    let names: Vec<_> = outputs.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["read_file", "write_file", "read_file", "read_file"]);
    for (place, expected) in [(0, "Second line."), (1, "new.txt"), (2, "Second line."), (3, "missing.txt")] {
        assert!(outputs[place].1.contains(expected), "{place}: {outputs:#?}");
    }
}

#[tokio::test]
async fn a_file_that_is_handed_over_is_an_artifact_of_its_own() {
    let model = ModelServer::with_responses([
        calls("share_file", json!({"file_path": "hello.txt"})),
        says("Here it is."),
    ]);
    let (_launch, server) = start(&model).await;
    let frames = frames(&server.client(), "m1", "Give me hello.txt").await;
    check(
        &frames,
        &["task SUBMITTED", "WORKING", "file-…", "answer-1 = Here it is.", "answer-1 +  (.)", "COMPLETED"],
    );
    let part = &frames[2].payload()["artifactUpdate"]["artifact"]["parts"][0];
    assert_eq!(
        (&part["filename"], &part["mediaType"]),
        (&json!("hello.txt"), &json!("text/plain")),
        "{part:#}"
    );
    assert_eq!(part["raw"], "SGVsbG8sIHdvcmxkLgpTZWNvbmQgbGluZS4K", "{part:#}");
}

#[tokio::test]
async fn edits_of_one_file_in_one_answer_build_on_each_other() {
    let edit = |old: &str, new: &str| {
        let input =
            json!({"file_path": "hello.txt", "instruction": "i", "old_string": old, "new_string": new});
        ("replace", input)
    };
    let made = ("write_file", json!({"file_path": "new.txt", "content": "Fresh.\n"}));
    let read = ("read_file", json!({"file_path": "new.txt"}));
    let model = ModelServer::with_responses([
        batch([edit("world", "moon"), edit("Second", "Last"), made, read]),
        says("Done."),
    ]);
    let launch = launch_with(&model).mode(PolicyMode::Yolo);
    let server = launch.start().await;
    frames(&server.client(), "m1", "Edit!").await;
    assert_eq!(fs::read_to_string(work(&launch).join("hello.txt")).unwrap(), "Hello, moon.\nLast line.\n");
    let outputs = outputs(&model);
    assert!(outputs[3].1.contains("Fresh."), "what is written is there to be read: {outputs:#?}");
}

#[tokio::test]
async fn an_edit_that_is_modified_is_asked_about_again() {
    let edit = json!({"file_path": "hello.txt", "content": "Mine.\n"});
    let model = ModelServer::with_responses([calls("write_file", edit), says("Done.")]);
    let (launch, server) = start(&model).await;
    let client = server.client();
    let asked = frames(&client, "m1", "Write!").await;
    let id = asked[0].payload()["task"]["id"].as_str().unwrap();
    assert!(asked.last().unwrap().raw.contains("modify_with_editor"), "it is offered");
    let mut params = message_to(id, "m2", "");
    params["message"]["parts"] =
        json!([{"data": {"choice": "modify_with_editor", "newContent": "Theirs.\n"}}]);
    let again = client.rpc("SendMessage", params).await["result"]["task"].clone();
    assert_eq!(again["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
    let question = again["status"]["message"]["parts"][0]["text"].as_str().unwrap();
    assert!(question.contains("+Theirs.") && !question.contains("+Mine."), "{question}");
    assert!(fs::read_to_string(work(&launch).join("hello.txt")).unwrap().contains("world"), "nothing yet");
    answer(&client, id, "m3", "yes").await;
    assert_eq!(fs::read_to_string(work(&launch).join("hello.txt")).unwrap(), "Theirs.\n");
    let mut params = message_to(id, "m4", "");
    params["message"]["parts"] = json!([{"data": {"call": "x", "choice": "modify_with_editor"}}]);
    assert!(client.rpc("SendMessage", params).await["error"].is_object());
}
