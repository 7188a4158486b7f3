//! Answers, calls, results, and how a turn ends.

use std::time::Duration;

use attache_domain::{Fact, ModelPart, ModelPartContent, TaskState};
use attache_model::{AnswerEvent, AnswerPiece, LanguageError, StopReason};

use crate::world::{Setup, World, calls, end, says, status_text};

#[tokio::test]
async fn an_answer_without_calls_ends_the_turn() {
    let world = World::new([says("All is well.")]).await;
    let view = world.send("How are you?").await;
    assert_eq!(view.status.state, TaskState::Completed);
    assert_eq!(view.history.last().unwrap().text(), "All is well.");
    assert_eq!(world.model.heard(), ["user: How are you?"]);
    let prompt = world.model.prompts.lock().unwrap()[0].clone();
    assert_eq!(prompt.instructions.as_deref(), Some("Be good."));
    assert_eq!(
        prompt.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(),
        ["look", "remote", "save_memory", "slow", "write"]
    );
}

#[tokio::test]
async fn what_calls_come_to_is_told_to_the_model_in_their_order() {
    let world = World::new([calls("I look. ", &["a look", "b look"]), says("Seen.")]).await;
    let view = world.send("Look!").await;
    assert_eq!(view.status.state, TaskState::Completed);
    assert_eq!(
        world.model.heard(),
        ["user: Look!", "model: I look. <look a><look b>", "results: result of a, result of b"]
    );
    assert_eq!(view.history.last().unwrap().text(), "I look. Seen.");
    assert_eq!(view.usage.input, 20);
    assert_eq!(
        world.log(&view).await,
        "task_opened turn_started text_said text_said model_answered call_proposed call_proposed call_started \
         call_started call_finished call_finished text_said model_answered text_ended turn_ended"
    );
}

#[tokio::test]
async fn the_end_of_a_turn_tells_what_the_task_has_cost() {
    let world = World::new([calls("", &["a look"]), says("Seen.")]).await;
    let view = world.send("Look!").await;
    let events = world.stores.log.read(&view.key(), attache_domain::Seq::START, 1000).await.unwrap();
    let Fact::TurnEnded { usage: Some(usage), .. } = &events.last().unwrap().fact else {
        panic!("{events:?}");
    };
    assert_eq!((**usage, usage.input), (view.usage, 20));
}

/// The log, with a bar between two appends.
async fn appends(world: &World, view: &attache_domain::TaskView) -> String {
    let log = world.log(view).await;
    let mut facts = log.split(' ');
    let counts = world.appends.lock().unwrap().clone();
    let groups = counts.iter().map(|count| facts.by_ref().take(*count).collect::<Vec<_>>().join(" "));
    groups.collect::<Vec<_>>().join(" | ")
}

/// Time stands still: nothing is written because a timer ends.
#[tokio::test(start_paused = true)]
async fn the_model_is_asked_and_a_call_runs_only_after_everything_before_is_durable() {
    let world = World::new([calls("", &["a look"]), calls("", &["b look", "c look"]), says("Seen.")]).await;
    let view = world.send("Look!").await;
    assert_eq!(
        appends(&world, &view).await,
        "task_opened | turn_started | model_answered | call_proposed call_started | call_finished | model_answered | \
         call_proposed call_proposed call_started call_started | call_finished call_finished | \
         text_said model_answered | text_ended turn_ended"
    );
    let heard = world.model.heard();
    assert_eq!(heard[2], "results: result of a", "{heard:?}");
    assert_eq!(heard.last().unwrap(), "results: result of b, result of c", "{heard:?}");
    assert_eq!((view.rounds, view.usage.input), (3, 30));
}

/// Time passes only when a task waits for it.
#[tokio::test(start_paused = true)]
async fn an_answer_is_told_once_however_long_its_calls_take() {
    let world = World::new([calls("I look. ", &["long look"]), calls("", &["b look"]), says("Seen.")]).await;
    let view = world.send("Look!").await;
    let heard = [
        "user: Look!",
        "model: I look. <look long>",
        "results: result of long",
        "model: <look b>",
        "results: result of b",
    ];
    assert_eq!(world.model.heard(), heard);
    let appends = appends(&world, &view).await;
    let before = "turn_started | text_said text_said model_answered | call_proposed call_started";
    assert!(appends.starts_with(&format!("task_opened | {before} | call_finished | ")), "{appends}");
}

#[tokio::test]
async fn what_goes_wrong_with_a_call_is_for_the_model_to_read() {
    let asked = ["a look", "bad look", "forbidden look", "x lok", "breaks look"];
    let world = World::new([calls("", &asked), says("Oh.")]).await;
    let view = world.send("Look!").await;
    assert_eq!(view.status.state, TaskState::Completed);
    assert_eq!(
        world.model.heard()[2],
        "results: result of a, !what must be good, !not this, !there is no tool \"lok\"; did you mean look, slow?, \
         !it broke"
    );
    assert_eq!(world.tools.done(), ["look a", "look breaks"]);
}

#[tokio::test]
async fn a_second_message_goes_on_with_the_conversation() {
    let script = vec![Ok(end(
        StopReason::Length,
        vec![ModelPart { what: ModelPartContent::Text("Lo".into()), opaque: None }],
    ))];
    let world = World::new([script, says("ng.")]).await;
    let view = world.send("Talk!").await;
    assert_eq!(view.status.state, TaskState::InputRequired);
    assert!(status_text(&view).contains("output limit"), "{}", status_text(&view));
    let view = world.reply(&view.task, "continue").await.unwrap();
    assert_eq!(view.status.state, TaskState::Completed);
    assert_eq!(world.model.heard(), ["user: Talk!", "model: Lo", "user: continue"]);
}

#[tokio::test]
async fn a_turn_that_does_not_end_by_itself_is_stopped_and_can_go_on() {
    let looks = (0..5).map(|number| calls("", &[&format!("call{number} look")]));
    let world = World::new(looks.chain([says("At last.")])).await;
    let view = world.send("Loop!").await;
    assert_eq!(view.status.state, TaskState::InputRequired);
    assert!(status_text(&view).contains("5 times"), "{}", status_text(&view));
    let view = world.reply(&view.task, "continue").await.unwrap();
    assert_eq!(view.status.state, TaskState::Completed);
}

#[tokio::test]
async fn text_of_an_answer_that_begins_again_is_taken_back() {
    let mut script = vec![
        Ok(AnswerEvent::Piece(AnswerPiece::Text("Wro".into()))),
        Ok(AnswerEvent::Piece(AnswerPiece::Retrying {
            attempt: 1,
            pause: Duration::from_secs(1),
            why: "The stream was cut".into(),
        })),
    ];
    script.extend(says("Right."));
    let world = World::new([calls("First. ", &["a look"]), script]).await;
    let view = world.send("Look!").await;
    assert_eq!(view.history.last().unwrap().text(), "First. Right.");
    assert!(world.log(&view).await.contains("text_said text_replaced noticed text_said"));
}

#[tokio::test]
async fn how_a_model_fails_decides_whether_the_task_can_go_on() {
    let what = || "why".to_owned();
    for (error, state, says) in [
        (
            LanguageError::Unavailable { what: what() },
            TaskState::InputRequired,
            "cannot be reached: why. Send any",
        ),
        (
            LanguageError::QuotaExhausted { what: what(), retry_after: None },
            TaskState::InputRequired,
            "quota",
        ),
        (LanguageError::Credential { what: what() }, TaskState::Failed, "refuses the credential: why."),
        (LanguageError::Request { what: what() }, TaskState::Failed, "refuses the request"),
        (LanguageError::Unusable { what: what() }, TaskState::InputRequired, "no usable answer"),
    ] {
        let script = vec![Ok(AnswerEvent::Piece(AnswerPiece::Text("Half".into()))), Err(error)];
        let world = World::new([script]).await;
        let view = world.send("Hello").await;
        assert_eq!(view.status.state, state, "{}", status_text(&view));
        assert!(status_text(&view).contains(says), "{}", status_text(&view));
        assert_eq!(view.history.len(), 1, "nothing half-said stays");
    }
}

#[tokio::test]
async fn a_refusal_of_the_model_fails_the_task() {
    let script = vec![Ok(end(StopReason::Refused { why: "SAFETY".into() }, Vec::new()))];
    let view = World::new([script]).await.send("Bad").await;
    assert_eq!(view.status.state, TaskState::Failed);
    assert!(status_text(&view).contains("SAFETY"));
}

#[tokio::test]
async fn sentences_begin_and_end_as_sentences_do() {
    #[track_caller]
    fn check(view: &attache_domain::TaskView, expected: &str) {
        assert_eq!(status_text(view), expected);
    }
    let refused = vec![Ok(end(StopReason::Refused { why: "I can't help.".into() }, Vec::new()))];
    let view = World::new([refused]).await.send("Bad").await;
    check(&view, "The model will not answer this: I can't help.");
    let what = "is the base URL right?".to_owned();
    let asked = vec![Err(LanguageError::Request { what })];
    let view = World::new([asked]).await.send("Hello").await;
    check(&view, "The model's provider refuses the request: is the base URL right?");
    let what = "no token".to_owned();
    let nothing = vec![Err(LanguageError::NoCredential { what })];
    let view = World::new([nothing]).await.send("Hello").await;
    check(&view, "No credential can be given to the model's provider: no token.");
    assert_eq!(view.status.message.as_ref().unwrap().metadata.as_ref().unwrap()["reason"], "credential");
}

#[tokio::test]
async fn people_are_told_of_every_delay_in_whole_sentences() {
    let switched =
        AnswerPiece::Switched { model: "other".into(), why: "there is no model one: gone.".into() };
    let pause = Duration::from_secs(1);
    let retrying = AnswerPiece::Retrying { attempt: 2, pause, why: "is it there?".into() };
    let waiting = AnswerPiece::Waiting { silent: Duration::from_secs(20), timeout: Duration::from_secs(120) };
    let mut script: Vec<_> = [switched, retrying, waiting].map(|piece| Ok(AnswerEvent::Piece(piece))).into();
    script.extend(says("Fine."));
    let world = World::new([script]).await;
    let view = world.send("Hello").await;
    let events = world.stores.log.read(&view.key(), attache_domain::Seq::START, 1000).await.unwrap();
    let notices: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.fact {
            Fact::Noticed { message } => Some(message.text()),
            _ => None,
        })
        .collect();
    assert_eq!(
        notices,
        [
            "There is no model one: gone; other answers instead.",
            "Is it there? Trying again in 1.0 s (attempt 2).",
            "The model has been silent for 20 s; I wait up to 120 s.",
        ]
    );
}

#[tokio::test]
async fn an_unattended_run_gets_no_advice() {
    let unavailable = || vec![Err(LanguageError::Unavailable { what: "why".into() })];
    let cut = || {
        vec![Ok(end(
            StopReason::Length,
            vec![ModelPart { what: ModelPartContent::Text("Lo".into()), opaque: None }],
        ))]
    };
    for (script, attended, expected) in [
        (unavailable(), true, "The model cannot be reached: why. Send any message to try again."),
        (unavailable(), false, "The model cannot be reached: why."),
        (cut(), true, "The answer was cut off at the model's output limit. Say \"continue\" to go on."),
        (cut(), false, "The answer was cut off at the model's output limit."),
    ] {
        let world = World::with(Setup { attended, ..Setup::default() }, [script]).await;
        let view = world.send("Hello").await;
        assert_eq!(status_text(&view), expected);
    }
}
