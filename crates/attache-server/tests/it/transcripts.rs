//! The coding agent over A2A, event by event: what a client with a stream sees of everything the agent does.

mod calls;
mod conversations;
mod faults;

use attache_testkit::agent_client::{check, frames, task};
use attache_testkit::model_server::gemini::says;
use attache_testkit::model_server::{ModelServer, gemini};
use serde_json::json;

use crate::agent_world::start;

#[tokio::test]
async fn text_comes_piece_by_piece_and_its_cost_at_the_end() {
    let chunk = gemini::chunk;
    let usage = json!({"promptTokenCount": 70, "cachedContentTokenCount": 20, "candidatesTokenCount": 3,
        "thoughtsTokenCount": 5});
    let model = ModelServer::with_responses([gemini::answer([
        chunk().text("All "),
        chunk().text("is "),
        chunk().text("well.").finish("STOP").full_usage(usage),
    ])]);
    let (_launch, server) = start(&model).await;
    let frames = frames(&server.client(), "m1", "How are you?").await;
    check(
        &frames,
        &[
            "task SUBMITTED",
            "WORKING",
            "answer-1 = All ",
            "answer-1 + is ",
            "answer-1 + well.",
            "answer-1 +  (.)",
            "COMPLETED",
        ],
    );
    let update = &frames.last().unwrap().payload()["statusUpdate"];
    let expected = json!({"inputTokens": 70, "cachedTokens": 20, "outputTokens": 8, "thoughtTokens": 5});
    assert_eq!(update["metadata"]["usage"], expected);
    let others = frames[..frames.len() - 1].iter();
    assert!(
        others.into_iter().all(|frame| !frame.raw.contains("inputTokens")),
        "only the final event says it"
    );
}

#[tokio::test]
async fn a_thought_is_no_part_of_the_answer() {
    let model = ModelServer::with_responses([gemini::answer([
        gemini::chunk().thought("**Musing** about greetings"),
        gemini::chunk().text("Hello.").signed("c2lnbmVk").finish("STOP").usage(7, 3),
    ])]);
    let (_launch, server) = start(&model).await;
    let frames = frames(&server.client(), "m1", "Hello?").await;
    check(&frames, &["task SUBMITTED", "WORKING", "answer-1 = Hello.", "answer-1 +  (.)", "COMPLETED"]);
    let id = frames[0].payload()["task"]["id"].as_str().unwrap();
    let stored = task(&server.client(), id).await.to_string();
    assert!(stored.contains("Hello.") && !stored.contains("Musing"), "{stored}");
}

#[tokio::test]
async fn a_file_mentioned_is_read_for_the_model_and_not_shown_as_a_call() {
    let model = ModelServer::with_responses([says("Nice.")]);
    let (_launch, server) = start(&model).await;
    let frames = frames(&server.client(), "m1", "What is @hello.txt about?").await;
    check(&frames, &["task SUBMITTED", "WORKING", "answer-1 = Nice.", "answer-1 +  (.)", "COMPLETED"]);
    let told = model.received()[0].json()["contents"].to_string();
    assert!(told.contains("What is @hello.txt about?") && told.contains("Second line."), "{told}");
}
