//! What is tried again, when, and what it comes to.

use attache_model::{AnswerPiece, LanguageError};
use attache_testkit::model_server::openai::{self, chunk};
use attache_testkit::model_server::{PlannedResponse, ResponseEnd};
use serde_json::json;

use super::world::{PromptResult, World, answered, hello, prompt, user};

fn fine() -> PlannedResponse {
    openai::answer([chunk().text("Fine."), chunk().finish("stop"), openai::usage(1, 1)])
}

fn of(status: u16) -> PlannedResponse {
    openai::error(status, "server_error", "", "no")
}

#[track_caller]
fn check(told: &PromptResult, pauses: &[f64]) {
    assert_eq!(told.text(), "Fine.", "{told:?}");
    assert_eq!(told.pauses(), pauses, "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_breaks_off_begins_again_and_the_part_does_not_count() {
    for ending in [ResponseEnd::Whole, ResponseEnd::Cut, ResponseEnd::Reset] {
        // Held until it was heard: a reset takes what is on its way with it.
        let broken = || openai::unended([chunk().text("Part of ")]).hold().ending(ending);
        let world = World::new([broken(), broken(), broken(), fine()]);
        let heard = |piece: &AnswerPiece| {
            if matches!(piece, AnswerPiece::Text(text) if text == "Part of ") {
                world.server.release();
            }
        };
        let told = world.ask_and_hear(hello(), heard).await;
        check(&told, &[1.0, 2.0, 4.0]);
        assert_eq!(told.pieces.iter().filter(|piece| matches!(piece, AnswerPiece::Text(_))).count(), 4);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_breaks_off_begins_again() {
    let cut = openai::unended([chunk().call(0, "c", "a", "{\"p\": ")]);
    check(&World::new([cut, fine()]).ask(hello()).await, &[1.0]);
    let malformed = || openai::answer([chunk().call(0, "c", "a", "{\"p\": ").finish("tool_calls")]);
    check(&World::new([malformed(), fine()]).ask(hello()).await, &[1.0]);
    let told = World::new((0..4).map(|_| malformed())).ask(hello()).await;
    assert!(matches!(told.error(), LanguageError::Unusable { what } if what.contains("cannot be read")));
}

#[tokio::test(start_paused = true)]
async fn a_break_after_the_end_does_no_harm() {
    let answer = openai::unended([chunk().text("Fine."), chunk().finish("stop")]).ending(ResponseEnd::Cut);
    check(&World::new([answer]).ask(hello()).await, &[]);
}

#[tokio::test(start_paused = true)]
async fn an_unhappy_provider_is_asked_again_after_growing_pauses() {
    check(&World::new([of(503), of(500), of(529), fine()]).ask(hello()).await, &[5.0, 10.0, 20.0]);
    let world = World::new((0..12).map(|_| of(503)));
    let told = world.ask(hello()).await;
    assert!(matches!(told.error(), LanguageError::Unavailable { .. }), "{told:?}");
    assert_eq!(world.server.received().len(), 10);
}

#[tokio::test(start_paused = true)]
async fn a_requested_pause_is_obeyed_and_told_before_it() {
    let busy = || openai::error(429, "requests", "rate_limit_exceeded", "slow down");
    let told = World::new([busy().header("retry-after-ms", "2000"), fine()]).ask(hello()).await;
    check(&told, &[2.2]);
    assert!(
        matches!(&told.pieces[0], AnswerPiece::Retrying { why, attempt: 2, .. } if why.contains("slow down"))
    );
    check(&World::new([busy().header("retry-after", "10"), fine()]).ask(hello()).await, &[11.0]);
    let said = openai::error(429, "tokens", "rate_limit_exceeded", "Please try again in 20s.");
    check(&World::new([said, fine()]).ask(hello()).await, &[22.0]);
    let hours = World::new([busy().header("retry-after", "4000"), fine()]).ask(hello()).await;
    assert!(matches!(hours.error(), LanguageError::QuotaExhausted { retry_after: Some(_), .. }), "{hours:?}");
}

#[tokio::test(start_paused = true)]
async fn silence_is_nudged_and_then_given_up() {
    let thoughts = || openai::answer([chunk().reasoning("Hm."), chunk().finish("stop")]);
    let empty = || openai::answer([chunk().finish("stop")]);
    let world = World::new([thoughts(), fine()]);
    check(&world.ask(hello()).await, &[1.0]);
    let received = world.server.received();
    assert_eq!(received[0].json()["messages"][0]["role"], "user");
    let nudge = received[1].json()["messages"][0].clone();
    assert_eq!(nudge["role"], "system");
    assert!(nudge["content"].as_str().unwrap().contains("Answer now"), "{nudge}");
    for silent in [thoughts, empty] {
        let told = World::new((0..4).map(|_| silent())).ask(hello()).await;
        assert!(matches!(told.error(), LanguageError::Unusable { .. }), "{told:?}");
        assert_eq!(told.pauses(), [1.0, 2.0, 4.0]);
    }
    // After the results of its calls a model may have nothing to add.
    let call = openai::answer([chunk().call(0, "c", "a", "{}").finish("tool_calls")]);
    let world = World::new([call, empty()]);
    let told = world.ask(hello()).await;
    let told = world.ask(prompt([vec![user("Hello")], answered(told.said())].concat())).await;
    assert!(told.pauses().is_empty() && told.said().is_empty(), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn an_error_in_place_of_an_answer_is_an_error() {
    let busy = openai::error_body("server_error", "", "busy");
    let bodies = [
        openai::event(&busy),
        format!("event: error\n{}", openai::event(&json!({"message": "busy"}))),
        busy.to_string(),
        format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"x\"}}}}]}}\n\n{}", openai::event(&busy)),
    ];
    for body in bodies {
        let told = World::new([PlannedResponse::stream().bytes(body.clone()), fine()]).ask(hello()).await;
        check(&told, &[1.0]);
        let told = format!("{told:?}");
        assert!(told.contains("busy"), "{body}: {told}");
    }
    let bad = openai::event(&openai::error_body("invalid_request_error", "", "bad"));
    let told = World::new([PlannedResponse::stream().bytes(bad), fine()]).ask(hello()).await;
    assert!(matches!(told.error(), LanguageError::Request { .. }), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_not_there_is_tried_a_few_times_only() {
    let mut world = World::new([]);
    world.server = attache_testkit::model_server::ModelServer::with_responses([fine()]);
    let told = world.ask(hello()).await;
    assert_eq!(told.pauses(), [5.0, 10.0]);
    assert!(matches!(told.error(), LanguageError::Unreachable { .. }), "{told:?}");
}
