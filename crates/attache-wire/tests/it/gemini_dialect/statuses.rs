//! States, words and thoughts.

use attache_domain::{Fact, TurnOutcome, Usage};
use serde_json::{Value, json};

use super::world::{World, check_status, words};

fn said(text: &str) -> Fact {
    Fact::TextSaid { text: text.into(), last: false }
}

#[test]
fn a_turn_begins_with_a_state_and_no_message() {
    let mut world = World::new();
    let begun = world.hears(Fact::TurnStarted { turn: 1, model: None });
    check_status(begun, "working", "state-change", None);
}

#[test]
fn text_is_told_piece_by_piece() {
    let mut world = World::new();
    let first = world.hears(said("The quick "));
    let second = world.hears(said("brown"));
    let id = |event: &Option<Value>| event.as_ref().unwrap()["status"]["message"]["messageId"].clone();
    assert_eq!(id(&first), id(&second), "one text, one message");
    check_status(first, "working", "text-content", Some(json!({ "kind": "text", "text": "The quick " })));
    check_status(second, "working", "text-content", Some(json!({ "kind": "text", "text": "brown" })));
}

#[test]
fn a_thought_has_a_subject_and_a_description() {
    let mut world = World::new();
    let thought = world.hears(Fact::ThoughtShared { text: "**Counting** One, two.".into() });
    let data = json!({ "subject": "Counting", "description": "One, two." });
    check_status(thought, "working", "thought", Some(json!({ "kind": "data", "data": data })));
}

#[test]
fn the_providers_id_of_an_answer_is_told_with_its_text_thoughts_and_errors() {
    let mut world = World::new();
    let trace = |event: Option<Value>| event.unwrap()["metadata"].get("traceId").cloned();
    assert_eq!(trace(world.hears(said("Nobody knows"))), None);
    assert_eq!(world.hears(Fact::ModelResponded { id: "r-1".into() }), None);
    assert_eq!(trace(world.hears(said("One"))), Some(json!("r-1")));
    assert_eq!(trace(world.hears(Fact::ThoughtShared { text: "Hm.".into() })), Some(json!("r-1")));
    world.hears(Fact::TextWithdrawn);
    assert_eq!(trace(world.hears(said("Another answer"))), None);
    world.hears(Fact::ModelResponded { id: "r-2".into() });
    assert_eq!(trace(world.hears(said("Two"))), Some(json!("r-2")));
    let ended = |message| Fact::TurnEnded { outcome: TurnOutcome::Failed, message, usage: None };
    assert_eq!(trace(world.hears(ended(Some(words("It broke.", None))))), Some(json!("r-2")));
    // The next turn asks the model anew.
    assert_eq!(trace(world.hears(Fact::TurnStarted { turn: 2, model: None })), None);
    assert_eq!(trace(world.hears(said("Three"))), None);
}

#[test]
fn what_was_taken_back_is_named_by_its_message() {
    let mut world = World::new();
    let half = world.hears(said("half a sen")).unwrap();
    let withdrawn = world.hears(Fact::TextWithdrawn).unwrap();
    assert_eq!(withdrawn["metadata"]["withdrawnMessageId"], half["status"]["message"]["messageId"]);
    assert_eq!(withdrawn["metadata"]["coderAgent"], json!({ "kind": "state-change" }));
    assert_eq!((&withdrawn["status"]["state"], &withdrawn["final"]), (&json!("working"), &json!(false)));
    let again = world.hears(said("a whole sentence")).unwrap();
    assert_ne!(again["status"]["message"]["messageId"], half["status"]["message"]["messageId"]);
}

#[test]
fn a_finished_turn_waits_for_the_next_message() {
    let usage = Usage { input: 100, cached: 40, output: 30, thoughts: 10 };
    let ended =
        Fact::TurnEnded { outcome: TurnOutcome::InputRequired, message: None, usage: Some(Box::new(usage)) };
    let ended = World::new().hears(ended).unwrap();
    let expected = json!({
        "kind": "status-update", "taskId": "T", "contextId": "C", "final": true,
        "status": { "state": "input-required", "timestamp": "2025-10-28T10:30:00.000Z" },
        "metadata": {
            "coderAgent": { "kind": "state-change" },
            "model": "gemini-2.5-pro",
            "usageMetadata": {
                "promptTokenCount": 100, "candidatesTokenCount": 20, "thoughtsTokenCount": 10,
                "cachedContentTokenCount": 40, "totalTokenCount": 130
            }
        }
    });
    assert_eq!(ended, expected);
}

#[track_caller]
fn check_end(outcome: TurnOutcome, reason: Option<&str>, state: &str, is_error: bool) {
    let message = Some(words("It went wrong.", reason));
    let ended = World::new().hears(Fact::TurnEnded { outcome, message, usage: None }).unwrap();
    assert_eq!(ended["status"]["state"], state, "{reason:?}");
    assert_eq!(ended["final"], true, "{reason:?}");
    assert_eq!(ended["status"]["message"]["parts"], json!([{ "kind": "text", "text": "It went wrong." }]));
    let error = ended["metadata"].get("error");
    assert_eq!(error, is_error.then(|| json!("It went wrong.")).as_ref(), "{reason:?}");
}

#[test]
fn a_turn_that_stopped_says_why_and_whether_that_is_an_error() {
    check_end(TurnOutcome::InputRequired, Some("quota"), "input-required", true);
    check_end(TurnOutcome::InputRequired, Some("turn_limit"), "input-required", true);
    check_end(TurnOutcome::InputRequired, None, "input-required", false);
    check_end(TurnOutcome::Failed, None, "failed", true);
    check_end(TurnOutcome::Rejected, None, "rejected", true);
    check_end(TurnOutcome::AuthRequired, Some("credential"), "auth-required", true);
}

#[test]
fn who_said_no_is_not_told_so() {
    let message = Some(words("You said no.", Some("declined")));
    let ended =
        World::new().hears(Fact::TurnEnded { outcome: TurnOutcome::InputRequired, message, usage: None });
    let ended = ended.unwrap();
    let status = json!({ "state": "input-required", "timestamp": "2025-10-28T10:30:00.000Z" });
    assert_eq!((&ended["status"], &ended["final"]), (&status, &json!(true)));
    assert_eq!(ended["metadata"].get("error"), None);
}

#[test]
fn what_people_should_know_is_said_while_the_work_goes_on() {
    let noticed = World::new().hears(Fact::Noticed { message: words("The model is busy.", None) });
    let part = json!({ "kind": "text", "text": "The model is busy." });
    check_status(noticed, "working", "state-change", Some(part));
}

#[test]
fn who_asks_leaves_the_words_to_the_calls() {
    let asked =
        World::new().hears(Fact::PersonAsked { message: words("May I?", None), auth: false }).unwrap();
    assert_eq!(
        asked["status"],
        json!({ "state": "input-required", "timestamp": "2025-10-28T10:30:00.000Z" })
    );
    assert_eq!(asked["final"], true);
}

#[test]
fn a_task_that_was_stopped_says_so() {
    let stopped = World::new().hears(Fact::TaskCanceled).unwrap();
    assert_eq!((&stopped["status"]["state"], &stopped["final"]), (&json!("canceled"), &json!(true)));
    let part = json!({ "kind": "text", "text": "The task was canceled." });
    assert_eq!(stopped["status"]["message"]["parts"], json!([part]));
}

#[test]
fn before_anybody_answers_the_model_is_unknown_and_then_the_one_that_does() {
    let mut world = World::new();
    let chosen = world.hears(Fact::ModelChosen { model: "other".into() });
    assert_eq!(chosen, None);
    let begun = world.hears(Fact::TurnStarted { turn: 2, model: None }).unwrap();
    assert_eq!(begun["metadata"]["model"], "other");
    let begun = World::nameless().hears(Fact::TurnStarted { turn: 1, model: None }).unwrap();
    assert_eq!(begun["metadata"]["model"], "unknown");
}
