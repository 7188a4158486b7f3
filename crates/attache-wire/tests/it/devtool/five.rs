//! The five kinds of events of the older server document.

use attache_domain::{CallOutcome, Fact, TurnOutcome, Verdict, devtool_event_of};
use attache_wire::devtool::five;
use serde_json::{Value, json};

use super::stories::{self, ONCE, exec};
use super::world::{answered, failed, finished, proposed, showed, started, tell, wants};

fn events(facts: Vec<Fact>) -> Vec<Value> {
    let mut events = Vec::new();
    for told in tell(facts) {
        let Some(happening) = devtool_event_of(&told.stage, &told.call_records, &told.event) else {
            continue;
        };
        for event in five::events(&happening, told.event.at) {
            let mut out = Vec::new();
            event.write(&mut out);
            let written: Value = serde_json::from_slice(&out).unwrap();
            assert_eq!(written["type"], event.name());
            events.push(written);
        }
    }
    events
}

fn state(state: &str) -> Value {
    json!({ "type": "state_change", "state": state, "timestamp": "2025-10-28T10:30:00.007Z" })
}

#[test]
fn thoughts_text_and_states_are_told() {
    let told = events(vec![
        Fact::TurnStarted { turn: 1, model: None },
        Fact::ThoughtShared { text: "**Looking** I look.".into() },
        Fact::ThoughtShared { text: "Hm.".into() },
        Fact::ThoughtShared { text: "**Only this**".into() },
        Fact::TextSaid { text: "Hello".into(), last: false },
        Fact::TextWithdrawn,
        Fact::TurnEnded { outcome: TurnOutcome::Completed, message: None, usage: None },
    ]);
    let expected = [
        state("running"),
        json!({ "type": "thought_summary", "summary": "Looking" }),
        json!({ "type": "thought", "thought": "I look." }),
        json!({ "type": "thought", "thought": "Hm." }),
        json!({ "type": "thought_summary", "summary": "Only this" }),
        json!({ "type": "text_content", "text": "Hello" }),
        state("completed"),
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_call_is_told_from_its_request_to_its_end() {
    let story = |end: Fact| {
        let agree = answered("proceed_once", Verdict::Proceed);
        [wants("ls", json!({})), vec![proposed(exec(), ONCE), agree, started(), showed("a\n"), end]].concat()
    };
    let call = |status: &str| json!({ "type": "tool_call_update", "toolCallId": "k1", "status": status, "toolName": "ls" });
    let mut completed = call("completed");
    completed["result"] = json!("a\n\nexited with code 0");
    let done = finished(CallOutcome::Succeeded, "x", "exited with code 0");
    assert_eq!(events(story(done)), [state("running"), call("requested"), call("executing"), completed]);
    let mut error = call("error");
    error["error"] = json!("no");
    let told = events(story(finished(failed("f"), "no", "no")));
    assert_eq!(told.last(), Some(&error));
}

#[track_caller]
fn check_end(fact: Fact, expected: &str) {
    let told = events(vec![fact]);
    assert_eq!(told, [state(expected)]);
}

#[test]
fn a_turn_that_is_over_is_completed_and_what_failed_is_an_error() {
    let ended = |outcome| Fact::TurnEnded { outcome, message: None, usage: None };
    check_end(ended(TurnOutcome::Completed), "completed");
    check_end(ended(TurnOutcome::InputRequired), "completed");
    check_end(ended(TurnOutcome::AuthRequired), "running");
    check_end(ended(TurnOutcome::Failed), "error");
    check_end(ended(TurnOutcome::Rejected), "error");
    check_end(Fact::TaskCanceled, "error");
}

#[test]
fn nothing_but_the_five_kinds_is_told() {
    let kinds = ["state_change", "tool_call_update", "text_content", "thought", "thought_summary"];
    let told: Vec<_> = stories::all().into_iter().flat_map(events).collect();
    assert!(told.iter().all(|event| kinds.iter().any(|kind| event["type"] == *kind)), "{told:?}");
    assert!(kinds.iter().all(|kind| told.iter().any(|event| event["type"] == *kind)), "{told:?}");
}
