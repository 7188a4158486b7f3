//! What is tried again, when, and what it comes to.

use attache_model::{AnswerPiece, LanguageError};
use attache_testkit::model_server::anthropic::{self, message};
use attache_testkit::model_server::{PlannedResponse, ResponseEnd};
use serde_json::json;

use super::world::{PromptResult, World, answered, hello, prompt, user};

fn fine() -> PlannedResponse {
    message().text(["Fine."]).stop("end_turn")
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
        let broken = || message().text(["Part of "]).unended().hold().ending(ending);
        let world = World::new([broken(), broken(), broken(), fine()]);
        let heard = |piece: &AnswerPiece| {
            if matches!(piece, AnswerPiece::Text(text) if text == "Part of ") {
                world.server.release();
            }
        };
        check(&world.ask_and_hear(hello(), heard).await, &[1.0, 2.0, 4.0]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_not_whole_before_its_last_word() {
    let delta = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}});
    let cut = || message().text(["Part of "]).event(delta.clone()).unended();
    check(&World::new([cut(), fine()]).ask(hello()).await, &[1.0]);
    let told = World::new((0..4).map(|_| cut())).ask(hello()).await;
    assert!(matches!(told.error(), LanguageError::Unusable { .. }), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn an_error_in_the_middle_is_an_error() {
    let busy = anthropic::error_body("overloaded_error", "Overloaded");
    let answer = message().text(["Part of "]).event(busy).unended();
    let told = World::new([answer, fine()]).ask(hello()).await;
    check(&told, &[1.0]);
    assert!(format!("{told:?}").contains("Overloaded"), "{told:?}");
    let bad = message().event(anthropic::error_body("invalid_request_error", "bad")).unended();
    let told = World::new([bad, fine()]).ask(hello()).await;
    assert!(matches!(told.error(), LanguageError::Request { .. }), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn an_unhappy_provider_is_asked_again() {
    let of = |status: u16, kind: &str| anthropic::error(status, kind, "no");
    let answers = [of(529, "overloaded_error"), of(500, "api_error"), of(504, "timeout_error"), fine()];
    check(&World::new(answers).ask(hello()).await, &[5.0, 10.0, 20.0]);
    let busy = || anthropic::error(429, "rate_limit_error", "slow down");
    let told = World::new([busy().header("retry-after", "2"), fine()]).ask(hello()).await;
    check(&told, &[2.2]);
    assert!(
        matches!(&told.pieces[0], AnswerPiece::Retrying { why, attempt: 2, .. } if why.contains("slow down"))
    );
    let told = World::new([busy().header("retry-after", "4000")]).ask(hello()).await;
    assert!(matches!(told.error(), LanguageError::QuotaExhausted { .. }), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn silence_is_nudged_and_calls_that_cannot_be_read_are_asked_for_again() {
    let thoughts = message().thinking(["Hm."], "c2ln").stop("end_turn");
    let world = World::new([thoughts, fine()]);
    check(&world.ask(hello()).await, &[1.0]);
    let received = world.server.received();
    assert_eq!(received[0].json().get("system"), None);
    assert!(received[1].json()["system"][0]["text"].as_str().unwrap().contains("Answer now"));
    let empty = || message().stop("end_turn");
    let told = World::new((0..4).map(|_| empty())).ask(hello()).await;
    assert!(matches!(told.error(), LanguageError::Unusable { .. }), "{told:?}");
    let malformed = message().call("t", "a", ["{\"p\""]).stop("tool_use");
    check(&World::new([malformed, fine()]).ask(hello()).await, &[1.0]);
    // After the results of its calls a model may have nothing to add.
    let world = World::new([message().call("t", "a", []).stop("tool_use"), empty()]);
    let told = world.ask(hello()).await;
    let told = world.ask(prompt([vec![user("Hello")], answered(told.said())].concat())).await;
    assert!(told.pauses().is_empty() && told.said().is_empty(), "{told:?}");
}
