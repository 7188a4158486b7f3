//! The events of the REST API.

use std::sync::Arc;

use attache_domain::{CallOutcome, Fact, Message, MessageId, TurnOutcome, Verdict};
use attache_wire::JsonForm;
use attache_wire::devtool::Dialect;
use serde_json::{Value, json};

use super::stories::{self, ONCE, exec};
use super::world::{answered, failed, finished, proposed, showed, started, tell, wants};

/// The events as a reader of the stream gets them.
fn events(facts: Vec<Fact>) -> Vec<Value> {
    let mut events = Vec::new();
    for told in tell(facts) {
        let Some(out) = told.written_for(Dialect::RestApi, JsonForm::V1_0) else { continue };
        let out = [b"event: ", out.as_slice()].concat();
        for event in std::str::from_utf8(&out).unwrap().split("\n\n") {
            let (name, data) = event.split_once("\ndata: ").expect("a name and data");
            let data: Value = serde_json::from_str(data).expect("JSON on one line");
            assert_eq!(name.strip_prefix("event: "), data["type"].as_str(), "{event}");
            events.push(data);
        }
    }
    events
}

fn state(state: &str) -> Value {
    json!({ "type": "state_change", "state": state, "timestamp": "2025-10-28T10:30:00.007Z" })
}

fn said(text: &str) -> Arc<Message> {
    Arc::new(Message::from_agent(MessageId::from("n"), "c-1".into(), Some("t-1".into()), text))
}

#[test]
fn thoughts_text_and_states_have_the_documented_shapes() {
    let shown = events(vec![
        Fact::TurnStarted { turn: 1, model: None },
        Fact::ThoughtShared { text: "**Looking** I look.".into() },
        Fact::ThoughtShared { text: "Hm.".into() },
        Fact::ThoughtShared { text: "**Only this**".into() },
        Fact::ThoughtShared { text: "** **".into() },
        Fact::Noticed { message: said("I wait.") },
        Fact::TextSaid { text: "Hello".into(), last: false },
        Fact::TextWithdrawn,
        Fact::TurnEnded { outcome: TurnOutcome::Completed, message: None, usage: None },
    ]);
    let expected = [
        state("running"),
        json!({ "type": "thought", "thought": "I look." }),
        json!({ "type": "thought_summary", "summary": "Looking" }),
        json!({ "type": "thought", "thought": "Hm." }),
        json!({ "type": "thought_summary", "summary": "Only this" }),
        json!({ "type": "text_content", "text": "Hello" }),
        json!({ "type": "text_content", "text": "", "withdrawn": true }),
        state("completed"),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn a_call_is_shown_from_its_question_to_its_end() {
    let story = |end: Fact| {
        let agree = answered("proceed_once", Verdict::Proceed);
        let asked = Fact::PersonAsked { message: said("May I?"), auth: false };
        let facts =
            vec![proposed(exec(), ONCE), asked, agree, Fact::WorkResumed, started(), showed("a\n"), end];
        [wants("ls", json!({})), facts].concat()
    };
    let call = |status: &str| json!({ "type": "tool_call_update", "toolCallId": "k1", "status": status, "toolName": "ls" });
    let shown = events(story(finished(CallOutcome::Succeeded, "x", "exited with code 0")));
    let [first, asked, answer, executing, output, completed] = shown.as_slice() else { panic!("{shown:#?}") };
    assert_eq!(*first, state("running"));
    assert_eq!((&asked["status"], &asked["toolName"]), (&json!("requested"), &json!("ls")));
    let ids: Vec<_> = asked["options"].as_array().unwrap().iter().map(|option| &option["id"]).collect();
    assert_eq!(ids, ONCE);
    assert_eq!(asked["details"]["kind"], "execute", "{asked:#}");
    assert!(asked["details"]["command"].is_string() && asked["details"]["workingDirectory"].is_string());
    let mut expected = call("requested");
    expected["answer"] = json!({ "optionId": "proceed_once", "by": "ann" });
    assert_eq!(*answer, expected);
    assert_eq!(*executing, call("executing"));
    let mut expected = call("executing");
    expected["output"] = json!("a\n");
    assert_eq!(*output, expected);
    let mut expected = call("completed");
    expected["result"] = json!("a\n\nexited with code 0");
    assert_eq!(*completed, expected);
    let mut error = call("error");
    error["error"] = json!("no");
    assert_eq!(events(story(finished(failed("f"), "no", "no"))).last(), Some(&error));
}

#[track_caller]
fn check_end(fact: Fact, expected: &str, error: Option<&str>) {
    let mut expected = state(expected);
    if let Some(error) = error {
        expected["error"] = error.into();
    }
    assert_eq!(events(vec![fact]), [expected]);
}

#[test]
fn a_turn_that_is_over_is_completed_and_what_failed_is_an_error_with_its_reason() {
    let ended = |outcome, message| Fact::TurnEnded { outcome, message, usage: None };
    check_end(ended(TurnOutcome::Completed, None), "completed", None);
    check_end(ended(TurnOutcome::InputRequired, Some(said("Next?"))), "completed", None);
    check_end(ended(TurnOutcome::AuthRequired, Some(said("A key."))), "error", Some("A key."));
    check_end(ended(TurnOutcome::Failed, Some(said("Broken."))), "error", Some("Broken."));
    check_end(ended(TurnOutcome::Rejected, Some(said("No."))), "error", Some("No."));
    check_end(Fact::TaskCanceled, "error", Some("The task was canceled."));
}

#[test]
fn nothing_but_the_five_kinds_is_shown() {
    let kinds = ["state_change", "tool_call_update", "text_content", "thought", "thought_summary"];
    let shown: Vec<_> = stories::all().into_iter().flat_map(events).collect();
    assert!(shown.iter().all(|event| kinds.iter().any(|kind| event["type"] == *kind)), "{shown:?}");
    assert!(kinds.iter().all(|kind| shown.iter().any(|event| event["type"] == *kind)), "{shown:?}");
}
