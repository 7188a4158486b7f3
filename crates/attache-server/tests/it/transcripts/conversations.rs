//! Conversations: long ones, several tasks of one, and what is said while the agent is at work.

use attache_testkit::agent_client::{
    answer, answer_text, check, drop_in, frames, message_in, message_to, open, reaches, send, state, task,
};
use attache_testkit::model_requests::asked;
use attache_testkit::model_server::gemini::{calls, says, stuck};
use attache_testkit::model_server::{ModelServer, gemini};
use serde_json::json;

use crate::agent_world::start;

#[tokio::test]
async fn a_conversation_near_the_end_of_the_window_is_shortened_and_goes_on() {
    let read = gemini::answer([gemini::chunk()
        .call("read_file", json!({"file_path": "hello.txt"}))
        .finish("STOP")
        .usage(1_000_000, 10)]);
    let model = ModelServer::with_responses([
        read,
        says("<state_snapshot>They want to know about hello.txt.</state_snapshot>"),
        says("It greets."),
        says("Still here."),
    ]);
    let (_launch, server) = start(&model).await;
    let client = server.client();
    let frames = frames(&client, "m1", "What does hello.txt say?").await;
    check(
        &frames,
        &[
            "task SUBMITTED",
            "WORKING",
            "WORKING I shortened our conversation from about …",
            "answer-1 = It greets.",
            "answer-1 +  (.)",
            "COMPLETED",
        ],
    );
    let requests = model.received();
    let asked_for_summary = requests[1].json();
    assert!(asked_for_summary.get("tools").is_none(), "{asked_for_summary:#}");
    assert!(asked_for_summary["contents"].to_string().contains("What does hello.txt say?"));
    let after = requests[2].json()["contents"].to_string();
    assert!(after.contains("They want to know about hello.txt."), "{after}");
    let usage = &frames.last().unwrap().payload()["statusUpdate"]["metadata"]["usage"];
    assert_eq!(usage["inputTokens"], 1_000_200, "the summary has its price, too");
    let context = &frames[0].payload()["task"]["contextId"];
    let next =
        client.rpc("SendMessage", message_in(context, "m2", "And now?")).await["result"]["task"].clone();
    assert_eq!(answer_text(&next), "Still here.");
    let told = model.received()[3].json()["contents"].to_string();
    assert!(told.contains("They want to know about hello.txt.") && told.contains("It greets."), "{told}");
    assert_eq!(told.matches("And now?").count(), 1);
}

#[tokio::test]
async fn what_is_said_while_the_agent_works_is_queued_noticed_and_answered() {
    let first = stuck("One").then(says("."));
    let model = ModelServer::with_responses([first, says("Two.")]);
    let (_launch, server) = start(&model).await;
    let client = server.client();
    let (id, mut stream) = open(&client, "m1", "First").await;
    let mut seen = stream.until(|frame| frame.raw.contains("One")).await;
    let taken = drop_in(&client, message_to(&id, "m2", "Second")).await;
    assert_eq!(state(&taken), "TASK_STATE_WORKING");
    seen.extend(stream.until(|frame| frame.raw.contains("queued")).await);
    assert_eq!(model.received().len(), 1, "not before the work under way is done");
    model.release();
    seen.extend(stream.rest().await);
    check(
        &seen,
        &[
            "WORKING",
            "answer-1 = One",
            "WORKING Your message is queued: it is taken up when the work under way is done.",
            "answer-1 + .",
            "answer-1 +  (.)",
            "WORKING",
            "answer-2 = Two.",
            "answer-2 +  (.)",
            "COMPLETED",
        ],
    );
    let told = model.received()[1].json()["contents"].clone();
    let said: Vec<_> = told.as_array().unwrap().iter().map(|it| it["parts"].to_string()).collect();
    assert!(said[0].contains("First") && said[1].contains("One.") && said[2].contains("Second"), "{said:#?}");
}

#[tokio::test]
async fn a_conversation_goes_on_in_a_second_task() {
    let read = calls("read_file", json!({"file_path": "hello.txt"}));
    let model = ModelServer::with_responses([read, says("It greets the world."), says("The world.")]);
    let (_launch, server) = start(&model).await;
    let client = server.client();
    let first = send(&client, "m1", "Read hello.txt").await;
    let params = message_in(&first["contextId"], "m2", "Whom does it greet?");
    let second = client.rpc_stream("SendStreamingMessage", params).await.rest().await;
    check(&second, &["task SUBMITTED", "WORKING", "answer-1 = The world.", "answer-1 +  (.)", "COMPLETED"]);
    let opened = &second[0].payload()["task"];
    assert!(opened["id"] != first["id"] && opened["contextId"] == first["contextId"]);
    let contents = model.received()[2].json()["contents"].clone();
    let roles: Vec<_> = contents.as_array().unwrap().iter().map(|it| it["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "model", "user", "model", "user"]);
    let told = contents.to_string();
    for known in ["Read hello.txt", "Second line.", "It greets the world.", "Whom does it greet?"] {
        assert!(told.contains(known), "{known} in {told}");
    }
}

#[tokio::test]
async fn tasks_of_one_conversation_run_one_after_the_other() {
    let model = ModelServer::with_responses([stuck("One").then(says(".")), says("Other."), says("Two.")]);
    let (_launch, server) = start(&model).await;
    let client = server.client();
    let (first, mut stream) = open(&client, "m1", "First").await;
    stream.until(|frame| frame.raw.contains("One")).await;
    let context = task(&client, &first).await["contextId"].clone();
    let second = drop_in(&client, message_in(&context, "m2", "Second")).await;
    // Another conversation is not held up, so by then the second task has had its chance.
    assert_eq!(answer_text(&send(&client, "m3", "Elsewhere").await), "Other.");
    let second_id = second["id"].as_str().unwrap();
    assert_eq!(state(&task(&client, second_id).await), "TASK_STATE_SUBMITTED");
    assert_eq!(model.received().len(), 2);
    model.release();
    asked(&model, 3).await;
    assert_eq!(state(&task(&client, &first).await), "TASK_STATE_COMPLETED", "the first is done by then");
    let done = reaches(&client, second_id, "COMPLETED").await;
    assert_eq!(answer_text(&done), "Two.");
    let told = model.received()[2].json()["contents"].to_string();
    assert!(told.contains("One.") && told.contains("Second"), "{told}");
}

#[tokio::test]
async fn what_was_queued_before_a_question_is_taken_up_after_its_answer() {
    let run = calls("run_shell_command", json!({"command": "touch made"}));
    let model = ModelServer::with_responses([stuck("I run. ").then(run), says("Ran."), says("Two.")]);
    let (_launch, server) = start(&model).await;
    let client = server.client();
    let (id, mut stream) = open(&client, "m1", "First").await;
    stream.until(|frame| frame.raw.contains("I run.")).await;
    drop_in(&client, message_to(&id, "m2", "Second")).await;
    model.release();
    check(
        &stream.rest().await,
        &["WORKING Your message is queued: …", "INPUT_REQUIRED I need your answer before I go on:"],
    );
    let done = answer(&client, &id, "m3", "yes").await;
    check(
        &done,
        &[
            "task WORKING",
            "answer-1 + Ran.",
            "answer-1 +  (.)",
            "WORKING",
            "answer-2 = Two.",
            "answer-2 +  (.)",
            "COMPLETED",
        ],
    );
}

#[tokio::test]
async fn what_was_queued_behind_work_that_fails_is_answered_all_the_same() {
    let refused = gemini::answer([gemini::chunk().finish("SAFETY")]);
    let model = ModelServer::with_responses([stuck("Well").then(refused), says("Two.")]);
    let (_launch, server) = start(&model).await;
    let client = server.client();
    let (id, mut stream) = open(&client, "m1", "First").await;
    stream.until(|frame| frame.raw.contains("Well")).await;
    drop_in(&client, message_to(&id, "m2", "Second")).await;
    model.release();
    let seen = stream.rest().await;
    let told =
        seen.iter().filter(|frame| frame.payload()["statusUpdate"].to_string().contains("will not answer"));
    assert_eq!(told.count(), 1, "{seen:#?}");
    let task = reaches(&client, &id, "COMPLETED").await;
    assert_eq!(answer_text(&task), "Two.");
    assert!(task["history"].to_string().contains("will not answer"), "what went wrong is told: {task:#}");
}
