//! Models that fail: what passes is waited out in the open, and what does not ends as what it is.

use attache_testkit::SseFrame;
use attache_testkit::agent_client::{answer, check, frames, message_in};
use attache_testkit::model_server::gemini::{calls, says};
use attache_testkit::model_server::{ModelServer, PlannedResponse, ResponseEnd, gemini};
use serde_json::json;

use crate::agent_world::{launch_with, start};

#[tokio::test]
async fn a_busy_model_is_waited_for_in_the_open() {
    let busy = gemini::error_with_delay(429, "RESOURCE_EXHAUSTED", "slow down", "0.05s");
    let model = ModelServer::with_responses([busy, says("Here I am.")]);
    let (_launch, server) = start(&model).await;
    let frames = frames(&server.client(), "m1", "Hello?").await;
    check(
        &frames,
        &["task SUBMITTED", "WORKING", "WORKING …", "answer-1 = Here I am.", "answer-1 +  (.)", "COMPLETED"],
    );
    assert!(
        frames[2].raw.contains("Slow down") && frames[2].raw.contains("trying again in"),
        "{}",
        frames[2].raw
    );
}

#[tokio::test]
async fn what_was_said_before_a_cut_is_taken_back() {
    let read = gemini::answer([gemini::chunk()
        .text("First. ")
        .call("read_file", json!({"file_path": "hello.txt"}))
        .finish("STOP")
        .usage(1, 1)]);
    let cut = gemini::answer([gemini::chunk().text("Half a")]).ending(ResponseEnd::Cut);
    let model = ModelServer::with_responses([read, cut, says("Whole.")]);
    let (_launch, server) = start(&model).await;
    let frames = frames(&server.client(), "m1", "Hello?").await;
    check(
        &frames,
        &[
            "task SUBMITTED",
            "WORKING",
            "answer-1 = First. ",
            "answer-1 + Half a",
            "answer-1 = First. ",
            "WORKING …",
            "answer-1 + Whole.",
            "answer-1 +  (.)",
            "COMPLETED",
        ],
    );
    let told = model.received()[2].json()["contents"].to_string();
    assert!(!told.contains("Half a"), "{told}");
}

#[tokio::test]
async fn a_first_answer_that_is_cut_leaves_nothing() {
    let cut = gemini::answer([gemini::chunk().text("Half a")]).ending(ResponseEnd::Reset);
    let model = ModelServer::with_responses([cut, says("Whole.")]);
    let (_launch, server) = start(&model).await;
    let frames = frames(&server.client(), "m1", "Hello?").await;
    check(
        &frames,
        &[
            "task SUBMITTED",
            "WORKING",
            "answer-1 = Half a",
            "answer-1 = ",
            "WORKING …",
            "answer-1 = Whole.",
            "answer-1 +  (.)",
            "COMPLETED",
        ],
    );
}

/// Plays `planned`, and shows all of the task's stream.
async fn ending(planned: Vec<PlannedResponse>) -> Vec<SseFrame> {
    let model = ModelServer::with_responses(planned);
    let (_launch, server) = start(&model).await;
    let frames = frames(&server.client(), "m1", "Hello?").await;
    assert_eq!(model.unused_responses(), 0, "all of it was asked for");
    frames
}

#[tokio::test]
async fn an_answer_cut_off_at_the_output_limit_stays_open() {
    let long = gemini::answer([gemini::chunk().text("Once upon").finish("MAX_TOKENS").usage(5, 9)]);
    let model = ModelServer::with_responses([long, says(" a time.")]);
    let (_launch, server) = start(&model).await;
    let client = server.client();
    let stopped = frames(&client, "m1", "A story!").await;
    check(
        &stopped,
        &[
            "task SUBMITTED",
            "WORKING",
            "answer-1 = Once upon",
            "answer-1 +  (.)",
            "INPUT_REQUIRED [max_tokens] The answer was cut off at the model's output limit. …",
        ],
    );
    let usage = &stopped.last().unwrap().payload()["statusUpdate"]["metadata"]["usage"];
    assert_eq!(usage["outputTokens"], 9);
    let id = stopped[0].payload()["task"]["id"].as_str().unwrap();
    let done = answer(&client, id, "m2", "continue").await;
    check(&done, &["task WORKING", "WORKING", "answer-2 =  a time.", "answer-2 +  (.)", "COMPLETED"]);
    let told = model.received()[1].json()["contents"].to_string();
    assert!(told.contains("Once upon"), "{told}");
}

#[tokio::test]
async fn a_model_that_will_not_answer_fails_the_task() {
    let refused = gemini::answer([gemini::chunk().finish("SAFETY").usage(1, 0)]);
    let frames = ending(vec![refused]).await;
    check(&frames, &["task SUBMITTED", "WORKING", "FAILED [refused] The model will not answer this: …"]);
}

#[tokio::test]
async fn answers_without_words_are_no_success() {
    let empty = || gemini::answer([gemini::chunk().finish("STOP").usage(1, 0)]);
    let frames = ending(vec![empty(), empty(), empty(), empty()]).await;
    let again = "WORKING …";
    check(&frames, &["task SUBMITTED", "WORKING", again, again, again, "INPUT_REQUIRED [unusable] …"]);
}

#[tokio::test]
async fn exhausted_quota_is_not_tried_again_and_leaves_the_task_open() {
    let details = json!([{"@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}]);
    let none_left = gemini::error(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", details);
    let model = ModelServer::with_responses([none_left, says("Again.")]);
    let (_launch, server) = start(&model).await;
    let client = server.client();
    let stopped = frames(&client, "m1", "Hello?").await;
    check(&stopped, &["task SUBMITTED", "WORKING", "INPUT_REQUIRED [quota] …"]);
    let id = stopped[0].payload()["task"]["id"].as_str().unwrap();
    let done = answer(&client, id, "m2", "And now?").await;
    check(&done, &["task WORKING", "WORKING", "answer-2 = Again.", "answer-2 +  (.)", "COMPLETED"]);
}

#[tokio::test]
async fn a_model_that_does_not_exist_and_a_bad_request_fail_the_task() {
    let missing = gemini::error(404, "NOT_FOUND", "models/gemini-2.5-pro is not found", json!([]));
    let frames = ending(vec![missing]).await;
    check(&frames, &["task SUBMITTED", "WORKING", "FAILED [no_such_model] …"]);
    let bad = gemini::error(400, "INVALID_ARGUMENT", "Please use a valid role.", json!([]));
    let frames = ending(vec![bad]).await;
    check(&frames, &["task SUBMITTED", "WORKING", "FAILED [request] …"]);
}

#[tokio::test]
async fn a_model_that_goes_in_circles_is_told_once_and_then_stopped() {
    let model = ModelServer::with_handler(|_| calls("read_file", json!({"file_path": "hello.txt"})));
    let (_launch, server) = start(&model).await;
    let frames = frames(&server.client(), "m1", "Read!").await;
    check(
        &frames,
        &["task SUBMITTED", "WORKING", "INPUT_REQUIRED [loop] I keep repeating myself and stop here. …"],
    );
    let requests = model.received();
    assert_eq!(requests.len(), 10, "five times until it is told, five times after");
    let told = |place: usize| requests[place].json()["contents"].to_string().contains("repeating yourself");
    assert!(!told(4) && told(5), "it is told after the fifth time");
}

#[tokio::test]
async fn a_conversation_has_a_limited_number_of_answers() {
    let model = ModelServer::with_responses([says("One."), says("Two.")]);
    let launch = launch_with(&model).limits(|limits| limits.conversation_requests = Some(1));
    let server = launch.start().await;
    let client = server.client();
    let first = frames(&client, "m1", "First").await;
    let context = &first[0].payload()["task"]["contextId"];
    let params = message_in(context, "m2", "Second");
    let second = client.rpc_stream("SendStreamingMessage", params).await.rest().await;
    check(&second, &["task SUBMITTED", "WORKING", "INPUT_REQUIRED [session_limit] …"]);
    assert_eq!(model.received().len(), 1);
}

#[tokio::test]
async fn a_turn_that_never_ends_stops_at_a_limit_and_can_be_told_to_go_on() {
    let model = ModelServer::with_handler(|received| {
        let told = received.json()["contents"].to_string();
        let line = told.matches("\"functionResponse\"").count() + 1;
        if told.contains("continue") {
            return says("Done.");
        }
        calls("read_file", json!({"file_path": "hello.txt", "start_line": line, "end_line": line}))
    });
    let (_launch, server) = start(&model).await;
    let client = server.client();
    let stopped = frames(&client, "m1", "Read!").await;
    check(
        &stopped,
        &["task SUBMITTED", "WORKING", "INPUT_REQUIRED [turn_limit] I have asked the model 100 times …"],
    );
    assert_eq!(model.received().len(), 100);
    let id = stopped[0].payload()["task"]["id"].as_str().unwrap();
    let done = answer(&client, id, "m2", "continue").await;
    check(&done, &["task WORKING", "WORKING", "answer-2 = Done.", "answer-2 +  (.)", "COMPLETED"]);
}
