//! The answers that can be given, and what each of them is said to do.

use serde_json::Value;

use super::stories::{edit, exec, info, mcp, plain, questions};
use super::world::{last_call, lost, proposed, started, wants};
use attache_domain::{Fact, Preview};

fn options(facts: Vec<Fact>) -> Vec<Value> {
    let call = last_call([wants("some_tool", Value::Object(Default::default())), facts].concat());
    call["confirmation_request"]["options"].as_array().unwrap().clone()
}

#[track_caller]
fn check(shown: Preview, id: &str, name: &str, part: &str) {
    let options = options(vec![proposed(shown, &[id])]);
    let text = |member: &str| options[0][member].as_str().unwrap_or_default();
    assert_eq!((text("id"), text("name")), (id, name), "{options:?}");
    assert!(text("description").contains(part), "{options:?}");
}

#[test]
fn every_answer_has_a_name_and_says_what_it_does() {
    check(exec(), "proceed_once", "Allow once", "asks again");
    check(exec(), "proceed_always", "Always allow commands like this", "commands like this one");
    check(edit(), "proceed_always", "Allow all edits", "edits");
    check(info(&[]), "proceed_always", "Always allow", "some_tool");
    check(mcp(), "proceed_always_tool", "Always allow this tool", "list of files");
    check(mcp(), "proceed_always_server", "Always allow this server", "all tools of files");
    check(exec(), "proceed_always_and_save", "Allow for good", "later conversations");
    check(edit(), "modify_with_editor", "Change first", "file_details.new_content");
    check(plain("x"), "cancel", "Reject", "still run");
    check(questions(), "cancel", "Dismiss", "nothing");
    check(questions(), "answer", "Answer", "answers");
}

#[test]
fn about_a_lost_call_other_words_are_true() {
    let options = options(vec![proposed(exec(), &[]), started(), lost()]);
    let names: Vec<_> = options.iter().map(|option| option["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Do it again", "Go on without it", "Stop"]);
    assert!(options.iter().all(|option| option["description"].is_string()), "{options:?}");
}

#[test]
fn an_answer_that_nobody_described_can_be_given_by_its_id() {
    let options = options(vec![proposed(exec(), &["proceed_on_sundays"])]);
    assert_eq!(options, [serde_json::json!({ "id": "proceed_on_sundays", "name": "proceed_on_sundays" })]);
}

#[test]
fn what_an_answer_would_allow_is_said_in_the_words_of_the_record() {
    let Fact::CallProposed(mut call) = proposed(exec(), &["proceed_once", "proceed_always"]) else {
        panic!()
    };
    call.grants.insert("proceed_always".into(), "Always: allow `git status` without options.".into());
    let options = options(vec![Fact::CallProposed(call)]);
    assert_eq!(options[1]["description"], "Does this. Always: allow `git status` without options.");
    assert_eq!(options[0]["description"], "Does this, and asks again the next time.");
}
