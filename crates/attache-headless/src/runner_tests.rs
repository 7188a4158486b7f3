use attache_domain::{CallId, FinishedCall, OpenTask, Presentation, ReplyShape, Seq, TaskId, Timestamp};
use serde_json::{Map, Value};

use super::*;
use crate::output::RunSummary;

/// Keeps what it is shown.
#[derive(Default)]
struct Shown(Vec<String>);

impl RunOutput for Shown {
    fn begin(&mut self, _model: &str, _prompt: &str) -> io::Result<()> {
        Ok(())
    }

    fn show(&mut self, event: &OutputEvent<'_>) -> io::Result<()> {
        self.0.push(format!("{event:?}"));
        Ok(())
    }

    fn end(&mut self, _ending: &RunSummary<'_>) -> io::Result<()> {
        Ok(())
    }
}

fn event(seq: u64, fact: Fact) -> Event {
    Event { seq: Seq(seq), at: Timestamp::UNIX_EPOCH, fact }
}

fn message(text: &str, reason: Option<&str>) -> Option<Arc<Message>> {
    let mut message = send("c", text).message;
    message.metadata = reason.map(|reason| Map::from_iter([("reason".to_owned(), Value::from(reason))]));
    Some(Arc::new(message))
}

/// The exit code, what was shown, and how often the model was asked in vain.
fn ending(fact: Fact) -> (u8, Vec<String>, u64) {
    let (mut runner, mut shown) =
        (HeadlessRunner { model: "m".into(), ..HeadlessRunner::default() }, Shown::default());
    let opening = OpenTask {
        task: TaskId::from("t"),
        scope: Scope::new("", ""),
        context: ContextId::from("c"),
        message: send("c", "hi").message,
        digest: attache_domain::Digest("d".into()),
        reply: ReplyShape::Task,
        metadata: None,
        ending: attache_domain::TaskEnding::Completes,
        presentation: Presentation::default(),
    };
    runner.view = TaskView::open(&event(1, opening.decide()));
    let event = event(2, fact);
    runner.take(&event, &mut shown).unwrap();
    let code = match runner.stop_at(&event, &mut shown) {
        None => panic!("it goes on after {event:?}"),
        Some(ExitReason::Settled(Ok(()))) => 0,
        Some(ExitReason::Settled(Err(failure)) | ExitReason::Fatal(failure)) => failure.kind.code(),
        Some(ExitReason::Interrupted | ExitReason::Unread(_)) => panic!("nobody stopped it"),
    };
    let errors = runner.stats.stats.models.get("m").map_or(0, |model| model.api.total_errors);
    (code, shown.0, errors)
}

#[track_caller]
fn check(outcome: TurnOutcome, reason: Option<&str>, expected: u8) {
    let (code, shown, errors) =
        ending(Fact::TurnEnded { outcome, message: message("so", reason), usage: None });
    assert_eq!(code, expected, "{outcome:?} {reason:?}");
    assert_eq!(shown.is_empty(), expected != 0, "a failure is told at the end: {shown:?}");
    assert_eq!(errors, u64::from(reason.is_some_and(|reason| ASKED_IN_VAIN.contains(&reason))));
}

#[test]
fn every_end_of_a_turn_has_its_exit_code() {
    check(TurnOutcome::Completed, None, 0);
    check(TurnOutcome::InputRequired, None, 0);
    check(TurnOutcome::InputRequired, Some("unavailable"), 1);
    check(TurnOutcome::InputRequired, Some("max_tokens"), 1);
    check(TurnOutcome::InputRequired, Some("turn_limit"), 53);
    check(TurnOutcome::InputRequired, Some("session_limit"), 53);
    check(TurnOutcome::Failed, Some("credential"), 41);
    check(TurnOutcome::AuthRequired, None, 41);
    check(TurnOutcome::Failed, Some("no_such_model"), 1);
    check(TurnOutcome::Failed, None, 1);
    check(TurnOutcome::Rejected, None, 1);
}

#[test]
fn a_question_that_no_person_can_answer_and_a_full_disk_are_fatal() {
    assert_eq!(ending(Fact::PersonAsked { message: message("May I?", None).unwrap(), auth: false }).0, 54);
    let full = FinishedCall {
        call: CallId("c".into()),
        outcome: CallOutcome::Failed { kind: ToolErrorKind::NoSpaceLeft.name() },
        output: vec![],
        summary: "the disk is full".into(),
        diff: None,
    };
    assert_eq!(ending(Fact::CallFinished(Box::new(full))).0, 54);
    assert_eq!(ending(Fact::TaskCanceled).0, 130);
}

#[test]
fn a_bare_message_is_an_answer() {
    let (code, shown, _) = ending(Fact::Replied { message: message("hello", None).unwrap() });
    assert_eq!((code, shown), (0, vec!["Text(\"hello\")".to_owned()]));
}
