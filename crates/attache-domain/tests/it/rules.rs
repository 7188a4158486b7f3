//! What is refused, and what each intent leads to, as tables.

use std::sync::Arc;

use attache_domain::*;

use crate::log::{Log, digest, ended, message, said, texts};

#[test]
fn a_stop_ends_the_turn_it_names_and_nothing_else() {
    let mut log = Log::started();
    log.record(said("a")).unwrap();
    assert_eq!(log.push(Intent::StopTurn { turn: 2 }), Ok(0), "another turn");
    log.push(Intent::StopTurn { turn: 1 }).unwrap();
    assert_eq!(log.view.status.state, TaskState::InputRequired);
    assert_eq!(texts(&log.view), ["hello", "a"]);
    assert_eq!(log.push(Intent::StopTurn { turn: 1 }), Ok(0), "it is over");
    assert!(log.record(said("late")).is_err());
    log.say("m1").unwrap();
    assert_eq!(log.view.progress.turn.number, 2);
    log.push(Intent::Cancel).unwrap();
    assert_eq!(log.push(Intent::StopTurn { turn: 2 }), Ok(0), "the whole task ends");
}

#[test]
fn endings_are_stored_by_these_names() {
    use TaskEnding::{Completes, Reopens, Session, StaysOpen};
    let names =
        [(Completes, "completes"), (Reopens, "reopens"), (StaysOpen, "stays_open"), (Session, "session")];
    for (ending, name) in names {
        assert_eq!(serde_json::to_value(ending).unwrap(), name);
    }
}

#[test]
fn a_finished_task_refuses_everything_but_what_it_has_already_heard() {
    for outcome in [TurnOutcome::Completed, TurnOutcome::Failed, TurnOutcome::Rejected] {
        let mut log = Log::started();
        log.record(ended(outcome)).unwrap();
        assert!(matches!(log.say("m1"), Err(Fault::TaskFinished { .. })));
        assert!(matches!(log.push(Intent::Cancel), Err(Fault::TaskNotCancelable { .. })));
        assert!(log.record(said("late")).is_err());
        assert!(log.record(Fact::TaskCanceled).is_err(), "the first terminal fact wins");
        assert_eq!(log.say("m0"), Ok(0));
        assert_eq!(log.view.next(), None);
    }
}

#[test]
fn a_message_is_the_same_until_the_turn_that_took_it_has_ended() {
    let knows = |log: &Log, id: &str| {
        log.view.progress.has_received(&id.into(), &digest(id), DuplicateWindow::InFlight)
    };
    let mut log = Log::open();
    assert!(knows(&log, "m0"), "before its turn begins");
    log.record(Fact::TurnStarted { turn: 1, model: None }).unwrap();
    log.say("m1").unwrap();
    log.say("m2").unwrap();
    assert_eq!(log.say_again("m2", DuplicateWindow::InFlight), Ok(0), "it is queued already");
    for (turn, over, open) in [(2, "m0", vec!["m1", "m2"]), (3, "m1", vec!["m2"])] {
        log.record(ended(TurnOutcome::Completed)).unwrap();
        log.record(Fact::TurnStarted { turn, model: None }).unwrap();
        assert!(!knows(&log, over), "{over}");
        assert!(open.iter().all(|id| knows(&log, id)), "{open:?}");
    }
    log.record(ended(TurnOutcome::InputRequired)).unwrap();
    assert!(!knows(&log, "m2"));
    assert_eq!(log.say("m2"), Ok(0), "it came before");
    assert_eq!(log.say_again("m2", DuplicateWindow::InFlight), Ok(1), "and is said again");
    assert!(knows(&log, "m2"));
}

#[test]
fn messages_of_an_older_snapshot_are_known_and_no_longer_in_flight() {
    let mut stored = serde_json::to_value(&Log::started().view).unwrap();
    stored["progress"]["received"] = serde_json::json!([["m0", "m0"]]);
    let view: TaskView = serde_json::from_value(stored).unwrap();
    let knows = |duplicates| view.progress.has_received(&"m0".into(), &Digest("m0".into()), duplicates);
    assert!(knows(DuplicateWindow::Always) && !knows(DuplicateWindow::InFlight));
}

#[test]
fn a_waiting_task_takes_a_message_and_works_again() {
    let mut log = Log::started();
    let question = message("q", "which?");
    log.record(Fact::TurnEnded {
        outcome: TurnOutcome::InputRequired,
        message: Some(question.into()),
        usage: None,
    })
    .unwrap();
    assert_eq!(log.view.next(), None);
    log.say("m1").unwrap();
    assert_eq!(log.view.next(), Some(Step::StartTurn { turn: 2 }));
    assert!(!log.view.progress.is_settled(), "though the state is still the old one");
    log.record(Fact::TurnStarted { turn: 2, model: None }).unwrap();
    assert_eq!(log.view.status.state, TaskState::Working);
    assert_eq!(texts(&log.view), ["hello", "which?", "m1"]);
}

#[test]
fn a_prompt_during_a_turn_waits_for_its_end_and_is_answered() {
    let mut log = Log::started();
    log.record(said("one")).unwrap();
    log.say("m1").unwrap();
    assert_eq!(log.view.progress.queue.len(), 1);
    log.record(ended(TurnOutcome::Completed)).unwrap();
    assert_eq!(log.view.status.state, TaskState::Working, "the task goes on");
    assert_eq!(log.view.next(), Some(Step::StartTurn { turn: 2 }));
    assert_eq!(texts(&log.view), ["hello", "one", "m1"]);
}

#[test]
fn cancel_stops_a_waiting_task_at_once_and_asks_a_working_one() {
    let mut log = Log::started();
    log.record(ended(TurnOutcome::InputRequired)).unwrap();
    log.push(Intent::Cancel).unwrap();
    assert_eq!(log.view.status.state, TaskState::Canceled);

    let mut log = Log::started();
    log.push(Intent::Cancel).unwrap();
    assert_eq!(log.view.status.state, TaskState::Working);
    assert_eq!(log.view.next(), Some(Step::Cancel));
    assert!(log.record(said("more")).is_err(), "nothing but the end is taken any more");
    assert_eq!(log.push(Intent::Cancel), Ok(0), "asking twice is asking once");
    log.record(Fact::TaskCanceled).unwrap();
    assert_eq!(log.view.status.state, TaskState::Canceled);
}

#[test]
fn a_turn_that_ends_while_speaking_closes_its_answer_first() {
    let mut log = Log::started();
    log.record(said("a")).unwrap();
    assert_eq!(log.record(ended(TurnOutcome::Completed)), Ok(2));
    assert_eq!(log.events[3].fact, Fact::TextEnded);

    let mut log = Log::started();
    log.record(Fact::TextSaid { text: "a".into(), last: true }).unwrap();
    assert_eq!(log.record(ended(TurnOutcome::Completed)), Ok(1));
    assert_eq!(log.view.artifacts[0].parts.len(), 1);
}

#[test]
fn pieces_of_an_answer_are_one_part_of_the_task() {
    let mut log = Log::started();
    for piece in ["a", "b", "c"] {
        log.record(said(piece)).unwrap();
    }
    log.record(ended(TurnOutcome::Completed)).unwrap();
    assert_eq!(log.view.artifacts[0].parts, [Part::text("abc")]);
}

#[test]
fn withdrawn_text_is_replaced_and_does_not_reach_the_history() {
    let mut log = Log::started();
    log.record(said("wro")).unwrap();
    log.record(Fact::TextWithdrawn).unwrap();
    assert_eq!(log.view.progress.turn.emitted, 0);
    log.record(Fact::TextSaid { text: "right".into(), last: true }).unwrap();
    log.record(ended(TurnOutcome::Completed)).unwrap();
    assert_eq!(texts(&log.view), ["hello", "right"]);
    assert_eq!(log.view.artifacts[0].parts, [Part::text("right")]);
}

#[test]
fn how_a_turn_ends_is_recorded_before_the_prompt_that_waits_is_taken() {
    let mut log = Log::started();
    log.record(said("Well.")).unwrap();
    log.say("m1").unwrap();
    let message = Some(Arc::new(message("why", "No.")));
    let end = Fact::TurnEnded { outcome: TurnOutcome::Failed, message: message.clone(), usage: None };
    log.record(end).unwrap();
    let facts: Vec<_> = log.events.iter().rev().take(2).map(|event| &event.fact).collect();
    let settled = Fact::PromptSettled { prompt: Some("m0".into()), outcome: TurnOutcome::Failed, message };
    assert_eq!(facts, [&Fact::PromptTaken { said: None, message: Some("m1".into()) }, &settled]);
    assert_eq!(texts(&log.view), ["hello", "Well.", "No.", "m1"]);
    assert_eq!(log.view.next(), Some(Step::StartTurn { turn: 2 }));
}

#[test]
fn facts_that_do_not_fit_are_refused() {
    let mut log = Log::open();
    assert!(log.record(said("before the turn")).is_err());
    assert!(log.record(Fact::TurnStarted { turn: 2, model: None }).is_err(), "not that turn");
    log.record(Fact::TurnStarted { turn: 1, model: None }).unwrap();
    assert!(log.record(Fact::TurnStarted { turn: 1, model: None }).is_err(), "not twice");
    assert!(log.record(Fact::TextEnded).is_err(), "nothing was said");
    assert!(log.record(Fact::Replied { message: message("r", "r").into() }).is_err(), "a task was promised");
    assert!(log.record(Fact::CancelRequested).is_err(), "agents do not ask, they report");
    assert!(log.record(Fact::PromptTaken { said: None, message: None }).is_err(), "there is none");
}

#[test]
fn a_message_from_another_context_is_refused_by_name() {
    let mut log = Log::started();
    let mut stray = message("m1", "x");
    stray.context = Some("elsewhere".into());
    let (digest, duplicates) = (digest("x"), DuplicateWindow::InFlight);
    let fault = log.push(Intent::Receive { message: stray, digest, reopens: false, duplicates }).unwrap_err();
    assert_eq!(fault, Fault::ContextMismatch { task: "t".into(), context: "c".into() });
}

#[test]
fn a_hidden_task_shows_its_reply_and_nothing_else() {
    let mut log = Log::open_for(ReplyShape::Message);
    log.record(Fact::TurnStarted { turn: 1, model: None }).unwrap();
    log.record(Fact::Replied { message: message("r", "r").into() }).unwrap();
    let mut before = Progress::open(&log.events[0]).unwrap();
    let mut shown = Vec::new();
    for event in &log.events[1..] {
        shown.extend(update_of(&before.update_context(), event));
        before.apply(event);
    }
    assert!(matches!(&shown[..], [Update::Replied(reply)] if reply.text() == "r"), "{shown:?}");
}
