//! The answers that can be given, and what each of them is said to do.

use serde_json::Value;

use super::stories::{ONCE, edit, exec, info, mcp, plain, questions};
use super::world::{agent, answered, asks, last_call, lost, proposed, started, tell, wants};
use attache_domain::{Fact, Preview};
use attache_wire::JsonForm;
use attache_wire::devtool::Dialect;

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
    check(exec(), "proceed_once", "Allow Once", "asks again");
    check(exec(), "proceed_always", "Always Allow Commands Like This", "commands like this one");
    check(edit(), "proceed_always", "Allow All Edits", "edits");
    check(info(&[]), "proceed_always", "Always Allow", "some_tool");
    check(mcp(), "proceed_always_tool", "Always Allow This Tool", "list of files");
    check(mcp(), "proceed_always_server", "Always Allow This Server", "all tools of files");
    check(exec(), "proceed_always_and_save", "Allow for Good", "later conversations");
    check(edit(), "modify_with_editor", "Change First", "file_details.new_content");
    check(plain("x"), "cancel", "Reject", "still run");
    check(questions(), "cancel", "Dismiss", "nothing");
    check(questions(), "answer", "Answer", "answers");
}

#[test]
fn the_documents_of_the_live_endpoint_and_of_the_rest_api_say_cancel() {
    let facts =
        || [wants("some_tool", Value::Object(Default::default())), vec![proposed(exec(), ONCE)]].concat();
    let shown = |dialect, json_form| -> String {
        let told = tell(facts());
        let written =
            told.iter().filter_map(|told| told.written_for(dialect, json_form)).next_back().unwrap();
        String::from_utf8(written).unwrap()
    };
    for (dialect, json_form, name) in [
        (Dialect::Live, JsonForm::V0_3Rpc, "Cancel"),
        (Dialect::RestApi, JsonForm::V1_0, "Cancel"),
        (Dialect::Developer, JsonForm::V0_3Rpc, "Reject"),
    ] {
        let shown = shown(dialect, json_form);
        assert!(shown.contains(&format!(r#""name":"{name}""#)), "{dialect:?}: {shown}");
        assert!(shown.contains(r#""name":"Allow Once""#), "{dialect:?}: {shown}");
    }
}

#[test]
fn about_a_lost_call_other_words_are_true() {
    let options = options(vec![proposed(exec(), &[]), started(), lost()]);
    let names: Vec<_> = options.iter().map(|option| option["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Do It Again", "Go On Without It", "Stop"]);
    assert!(options.iter().all(|option| option["description"].is_string()), "{options:?}");
}

#[test]
fn a_question_of_another_agent_is_answered_skipped_or_dismissed() {
    let options = options(vec![proposed(agent("Will it rain?"), &[]), started(), asks("Where?")]);
    let names: Vec<_> = options.iter().map(|option| option["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Answer", "Go On Without It", "Dismiss"]);
    assert!(options.iter().all(|option| option["description"].is_string()), "{options:?}");
}

#[test]
fn a_call_that_asks_keeps_its_id_and_shows_the_question_in_place_of_the_proposal() {
    let story = |more: Vec<Fact>| {
        let begin = vec![proposed(agent("Will it rain?"), &[]), started()];
        last_call([wants("invoke_agent", Value::Object(Default::default())), begin, more].concat())
    };
    let call = story(vec![asks("Where?")]);
    assert_eq!(call["tool_call_id"], story(vec![])["tool_call_id"]);
    let details = &call["confirmation_request"]["generic_details"];
    assert_eq!(details["description"], "Where?\nhttps://agents.example/login");
    assert_eq!(details["questions"][0]["question"], "Where?\nhttps://agents.example/login");
    let answer = answered("answer", attache_domain::Verdict::Proceed);
    let call = story(vec![asks("Where?"), answer, started()]);
    assert_eq!(call["confirmation_request"], Value::Null, "{call}");
}

#[test]
fn an_agent_is_shown_with_its_address_and_with_what_is_sent() {
    let facts = vec![proposed(agent("Will it\u{202e} rain?"), &["proceed_once"])];
    let call = last_call([wants("invoke_agent", Value::Object(Default::default())), facts].concat());
    assert_eq!(
        call["confirmation_request"]["generic_details"]["description"],
        "ask the agent weather at https://agents.example/a2a:\nWill it\\u{202e} rain?\nwith map.png"
    );
}

#[test]
fn a_choice_without_a_description_can_be_given_by_its_id() {
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
