//! What is tried again, when, and what it comes to.

use attache_model::{AnswerEvent, AnswerPiece, LanguageError, LanguageModel, StopReason};
use attache_testkit::model_server::gemini::{self, chunk};
use attache_testkit::model_server::{PlannedResponse, ResponseEnd};
use futures_util::{FutureExt, StreamExt};
use serde_json::{Value, json};

use super::world::{World, answered, hello, prompt, seconds, user};

fn fine() -> PlannedResponse {
    gemini::answer([chunk().text("Fine.").finish("STOP").usage(1, 1)])
}

fn cut() -> PlannedResponse {
    gemini::answer([chunk().text("Part of ")]).ending(ResponseEnd::Cut)
}

fn of(status: u16) -> PlannedResponse {
    gemini::error(status, "", "no", json!([]))
}

#[track_caller]
fn check(told: &super::world::PromptResult, pauses: &[f64]) {
    assert_eq!(told.text(), "Fine.", "{told:?}");
    assert_eq!(told.pauses(), pauses, "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_breaks_off_begins_again_and_the_part_does_not_count() {
    for ending in [ResponseEnd::Whole, ResponseEnd::Cut, ResponseEnd::Reset] {
        // Held until it was heard: a reset takes what is on its way with it.
        let broken = || gemini::answer([chunk().text("Part of ")]).hold().ending(ending);
        let world = World::new([broken(), broken(), broken(), fine()]);
        let heard = |piece: &AnswerPiece| {
            if matches!(piece, AnswerPiece::Text(_)) {
                world.server.release();
            }
        };
        let told = world.ask_and_hear(hello(), heard).await;
        check(&told, &[1.0, 2.0, 4.0]);
        assert_eq!(told.said().len(), 1, "{ending:?}");
        let attempts = told.pieces.iter().filter_map(|piece| match piece {
            AnswerPiece::Retrying { attempt, .. } => Some(*attempt),
            _ => None,
        });
        assert_eq!(attempts.collect::<Vec<_>>(), [2, 3, 4]);
    }
}

#[tokio::test(start_paused = true)]
async fn four_broken_answers_are_the_end() {
    let world = World::new([cut(), cut(), cut(), cut(), fine()]);
    let told = world.ask(hello()).await;
    assert!(matches!(told.error(), LanguageError::Unusable { .. }), "{told:?}");
    assert_eq!((told.pauses().len(), world.server.unused_responses()), (3, 1));
}

#[tokio::test(start_paused = true)]
async fn a_break_after_the_end_does_no_harm() {
    let answer = fine().ending(ResponseEnd::Cut);
    check(&World::new([answer]).ask(hello()).await, &[]);
}

#[tokio::test(start_paused = true)]
async fn an_unhappy_provider_is_asked_again_after_growing_pauses() {
    check(&World::new([of(503), of(500), of(408), fine()]).ask(hello()).await, &[5.0, 10.0, 20.0]);
    let gone = || PlannedResponse::stream().ending(ResponseEnd::Reset);
    let told = World::new([of(499), of(529), gone(), fine()]).ask(hello()).await;
    assert_eq!((told.text().as_str(), told.pauses().len()), ("Fine.", 3));
}

#[tokio::test(start_paused = true)]
async fn ten_refusals_are_the_end() {
    let world = World::new((0..12).map(|_| of(503)));
    let told = world.ask(hello()).await;
    assert!(matches!(told.error(), LanguageError::Unavailable { .. }), "{told:?}");
    assert_eq!((told.pauses().len(), world.server.received().len()), (9, 10));
}

#[tokio::test(start_paused = true)]
async fn a_requested_pause_is_obeyed_and_told_once() {
    let busy = gemini::error_with_delay(429, "RESOURCE_EXHAUSTED", "slow down", "2s");
    let told = World::new([busy, fine()]).ask(hello()).await;
    check(&told, &[2.2]);
    assert!(
        matches!(&told.pieces[0], AnswerPiece::Retrying { why, attempt: 2, .. } if why.contains("slow down"))
    );
    let busy = gemini::error(429, "", "Please retry in 20s.", json!([]));
    check(&World::new([busy, fine()]).ask(hello()).await, &[22.0]);
    let busy = of(503).header("retry-after", "10");
    check(&World::new([busy, fine()]).ask(hello()).await, &[11.0]);
}

#[tokio::test(start_paused = true)]
async fn no_capacity_is_tried_twice_more() {
    let full = || gemini::error(429, "", "full", json!([{"reason": "MODEL_CAPACITY_EXHAUSTED"}]));
    check(&World::new([full(), full(), fine()]).ask(hello()).await, &[1.0, 3.0]);
    let told = World::new([full(), full(), full(), fine()]).ask(hello()).await;
    assert!(matches!(told.error(), LanguageError::Unavailable { .. }), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn silence_is_nudged_and_then_given_up() {
    let thoughts = || gemini::answer([chunk().thought("Hm."), chunk().finish("STOP")]);
    let empty = || gemini::answer([chunk().finish("STOP")]);
    let world = World::new([thoughts(), fine()]);
    check(&world.ask(hello()).await, &[1.0]);
    let received = world.server.received();
    assert_eq!(received[0].json().get("systemInstruction"), None);
    let nudge = received[1].json()["systemInstruction"]["parts"][0]["text"].to_string();
    assert!(nudge.contains("Answer now"), "{nudge}");
    for silent in [thoughts, empty] {
        let told = World::new((0..4).map(|_| silent())).ask(hello()).await;
        assert!(matches!(told.error(), LanguageError::Unusable { .. }), "{told:?}");
        assert_eq!(told.pauses(), [1.0, 2.0, 4.0]);
    }
}

#[tokio::test(start_paused = true)]
async fn after_the_results_of_its_calls_a_model_may_be_silent() {
    let call = gemini::answer([chunk().call("a", json!({})).finish("STOP")]);
    let world = World::new([call, gemini::answer([chunk().finish("STOP")])]);
    let told = world.ask(hello()).await;
    let told = world.ask(prompt([vec![user("Hello")], answered(told.said())].concat())).await;
    assert_eq!((told.stop(), told.pauses().len()), (&StopReason::Done, 0));
}

#[tokio::test(start_paused = true)]
async fn a_malformed_call_is_tried_again_and_named_at_the_end() {
    let malformed = || gemini::answer([chunk().finish("MALFORMED_FUNCTION_CALL").finish_message("print(x)")]);
    check(&World::new([malformed(), fine()]).ask(hello()).await, &[1.0]);
    let told = World::new((0..4).map(|_| malformed())).ask(hello()).await;
    let error = told.error().to_string();
    assert!(error.contains("MALFORMED_FUNCTION_CALL") && error.contains("print(x)"), "{error}");
    let strange = gemini::answer([chunk().call("a", json!("no object")).finish("STOP")]);
    check(&World::new([strange, fine()]).ask(hello()).await, &[1.0]);
}

#[tokio::test(start_paused = true)]
async fn an_error_in_place_of_an_answer_is_an_error() {
    let busy: Value = gemini::error_body(503, "UNAVAILABLE", "busy", json!([]));
    let bodies = [
        gemini::event(&busy),
        gemini::event(&json!([busy])),
        busy.to_string(),
        json!([busy]).to_string(),
        format!(
            "{}{}",
            gemini::event(&json!({"candidates": [{"content": {"parts": [{"text": "x"}]}}]})),
            gemini::event(&busy)
        ),
    ];
    for body in bodies {
        let told = World::new([PlannedResponse::stream().bytes(body.clone()), fine()]).ask(hello()).await;
        check(&told, &[1.0]);
        assert!(
            told.pieces
                .iter()
                .any(|piece| matches!(piece, AnswerPiece::Retrying { why, .. } if why.contains("busy")))
        );
    }
    let bad = gemini::error_body(400, "INVALID_ARGUMENT", "bad", json!([]));
    let told = World::new([PlannedResponse::stream().bytes(gemini::event(&bad)), fine()]).ask(hello()).await;
    assert!(matches!(told.error(), LanguageError::Request { .. }), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_slow_answer_is_waited_for_as_long_as_something_comes() {
    let say = |text: &str| gemini::answer([chunk().text(text)]);
    let world = World::new([say("Slowly ").hold().then(say("but ")).hold().then(fine())]);
    let mut stream = world.model.stream(hello());
    let mut heard = String::new();
    for _ in 0..3 {
        match stream.next().await {
            Some(Ok(AnswerEvent::Piece(AnswerPiece::Text(text)))) => heard.push_str(&text),
            other => panic!("{other:?}"),
        }
        // All of it takes longer than the limit for silence, but it is never silent for so long.
        let mut waiting = stream.next();
        if heard.ends_with("Fine.") {
            break;
        }
        assert!((&mut waiting).now_or_never().is_none());
        tokio::time::advance(seconds(200)).await;
        // Every long silence is reported.
        let piece = waiting.await;
        assert!(matches!(piece, Some(Ok(AnswerEvent::Piece(AnswerPiece::Waiting { .. })))), "{piece:?}");
        world.server.release();
    }
    assert_eq!(heard, "Slowly but Fine.");
}

/// A server that takes the request and says nothing, also where it has sent the head of its answer.
#[tokio::test(start_paused = true)]
async fn a_silent_model_is_told_of_and_left_after_three_tries() {
    let world = World::new((0..4).map(|_| PlannedResponse::stream().hold()));
    let mut stream = world.model.stream(hello());
    for attempt in 1..=3 {
        let mut waiting = stream.next();
        while world.server.received().len() < attempt {
            assert!((&mut waiting).now_or_never().is_none());
            tokio::task::yield_now().await;
        }
        tokio::time::advance(seconds(20)).await;
        let piece = waiting.await;
        let Some(Ok(AnswerEvent::Piece(AnswerPiece::Waiting { silent, timeout }))) = piece else {
            panic!("{piece:?}")
        };
        assert_eq!((silent.as_secs(), timeout), (20, seconds(120)));
        let mut waiting = stream.next();
        assert!((&mut waiting).now_or_never().is_none(), "told once");
        tokio::time::advance(seconds(100)).await;
        match waiting.await {
            Some(Ok(AnswerEvent::Piece(AnswerPiece::Retrying { pause, why, .. }))) if attempt < 3 => {
                assert!(why.contains("120"), "{why}");
                tokio::time::advance(pause).await;
            }
            Some(Err(LanguageError::Unavailable { .. })) if attempt == 3 => {}
            other => panic!("after {attempt} tries: {other:?}"),
        }
    }
    assert_eq!(world.server.received().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn silence_in_the_middle_of_an_answer_is_told_of_and_ends_it() {
    let world = World::new([gemini::answer([chunk().text("Slowly ")]).hold(), fine()]);
    let mut stream = world.model.stream(hello());
    assert!(matches!(stream.next().await, Some(Ok(AnswerEvent::Piece(AnswerPiece::Text(_))))));
    let mut waiting = stream.next();
    assert!((&mut waiting).now_or_never().is_none());
    tokio::time::advance(seconds(20)).await;
    let piece = waiting.await;
    let Some(Ok(AnswerEvent::Piece(AnswerPiece::Waiting { silent, timeout }))) = piece else {
        panic!("{piece:?}")
    };
    assert_eq!((silent.as_secs(), timeout), (20, seconds(300)));
    let mut waiting = stream.next();
    assert!((&mut waiting).now_or_never().is_none(), "told once");
    tokio::time::advance(seconds(280)).await;
    let piece = waiting.await;
    assert!(matches!(piece, Some(Ok(AnswerEvent::Piece(AnswerPiece::Retrying { .. })))), "{piece:?}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_hang_up_after_the_end_is_left() {
    let world = World::new([fine().hold()]);
    let mut stream = world.model.stream(hello());
    assert!(matches!(stream.next().await, Some(Ok(AnswerEvent::Piece(AnswerPiece::Text(_))))));
    let mut waiting = stream.next();
    assert!((&mut waiting).now_or_never().is_none());
    tokio::time::advance(seconds(6)).await;
    assert!(matches!(waiting.await, Some(Ok(AnswerEvent::End { stop: StopReason::Done, .. }))));
}

#[tokio::test(start_paused = true)]
async fn the_connection_of_a_dropped_answer_is_closed() {
    let world = World::new([gemini::answer([chunk().text("Slowly ")]).hold()]);
    let mut stream = world.model.stream(hello());
    assert!(matches!(stream.next().await, Some(Ok(AnswerEvent::Piece(AnswerPiece::Text(_))))));
    drop(stream);
    world.server.until_abandoned().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_not_there_is_tried_a_few_times_and_then_named() {
    let mut world = World::new([]);
    let place = world.server.url();
    // The port of a server that is gone; the model still knows it.
    world.server = attache_testkit::model_server::ModelServer::with_responses([fine()]);
    let told = world.ask(hello()).await;
    assert_eq!(told.pauses(), [5.0, 10.0]);
    assert!(matches!(told.error(), LanguageError::Unreachable { what } if what.contains(&place)), "{told:?}");
    assert!(told.error().to_string().contains("is the address right?"), "{told:?}");
}
