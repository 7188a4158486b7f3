//! A tool call, whole on every update.

use attache_domain::{CallOutcome, Fact, MAX_LIVE_BYTES, Verdict};
use attache_wire::JsonForm;
use serde_json::{Value, json};

use super::stories::{self, DIFF, ONCE, edit, exec, info, mcp, new_file, plain, questions};
use super::world::{
    answered, calls, failed, finished, last_call, lost, proposed, proposed_with, showed, started, tell, wants,
};
use crate::fixture::object;

/// A call of `some_tool` to which this has happened.
fn after(facts: Vec<Fact>) -> Vec<Fact> {
    [wants("some_tool", json!({ "a": 1 })), facts].concat()
}

fn asked(facts: Fact) -> Value {
    last_call(after(vec![facts]))
}

#[test]
fn a_confirmed_command_is_told_whole_from_the_question_to_its_end() {
    let agree = answered("proceed_once", Verdict::Proceed);
    let done = finished(CallOutcome::Succeeded, "Output: a", "exited with code 0");
    let told = calls(
        [
            wants("run_shell_command", json!({ "command": "git status && ls", "wait_for_previous": true })),
            vec![proposed(exec(), ONCE), agree, started(), showed("a\n"), showed("b\n"), done],
        ]
        .concat(),
    );
    let with = |status: &str, members: Value| {
        let mut call = json!({
            "tool_call_id": "k1", "status": status, "tool_name": "run_shell_command",
            "description": "git status && ls", "input_parameters": { "command": "git status && ls" },
        });
        call.as_object_mut().unwrap().extend(object(members));
        call
    };
    let question = json!({ "confirmation_request": {
        "options": [
            { "id": "proceed_once", "name": "Allow Once", "description": "Does this, and asks again the next time." },
            { "id": "cancel", "name": "Reject", "description": "Does not do this; other calls that were allowed still run." },
        ],
        "execute_details": {
            "command": "git status && ls", "working_directory": "/w",
            "access": "Confined (work): it can read and write the workspace, except protected files; no network.",
        },
    } });
    let answer = json!({ "confirmation_answer": { "selected_option_id": "proceed_once", "by": "ann" } });
    let expected = [
        with("PENDING", question),
        with("PENDING", answer),
        with("EXECUTING", json!({})),
        with("EXECUTING", json!({ "live_content": "a\n" })),
        with("EXECUTING", json!({ "live_content": "a\nb\n" })),
        with("SUCCEEDED", json!({ "output": { "text": "a\nb\n\nexited with code 0" } })),
    ];
    assert_eq!(told, expected, "{told:#?}");
}

#[test]
fn what_is_asked_about_is_told_in_exactly_one_way() {
    let details = |shown| {
        let mut request = asked(proposed(shown, ONCE))["confirmation_request"].take();
        request.as_object_mut().unwrap().remove("options");
        request
    };
    assert_eq!(details(mcp()), json!({ "mcp_details": { "server_name": "files", "tool_name": "list" } }));
    assert_eq!(
        details(edit()),
        json!({ "file_edit_details": {
            "file_name": "a.txt", "file_path": "/w/src/a.txt", "old_content": "old\n", "new_content": "new\n",
            "formatted_diff": DIFF,
        } })
    );
    let empty = json!({ "file_name": "b.txt", "file_path": "/w/b.txt", "new_content": "" });
    assert_eq!(details(new_file()), json!({ "file_edit_details": empty }));
    let generic = |description: &str| json!({ "generic_details": { "description": description } });
    assert_eq!(details(info(&[])), generic("Fetch the page"));
    assert_eq!(details(info(&["https://a", "https://b"])), generic("Fetch the page\nhttps://a\nhttps://b"));
    assert_eq!(details(plain("src")), generic("src"));
    assert_eq!(details(plain("")), generic("some_tool"));
}

#[test]
fn questions_are_told_in_words_and_one_by_one() {
    let call = asked(proposed(questions(), &["answer", "cancel"]));
    let expected = json!({
        "description": "Which colour?\n- red: Like fire\n- blue\nName?",
        "questions": [
            {
                "question": "Which colour?", "header": "Colour", "type": "choice", "multi_select": true,
                "options": [{ "label": "red", "description": "Like fire" }, { "label": "blue" }],
            },
            { "question": "Name?", "header": "Name", "type": "text", "placeholder": "Ann" },
        ],
    });
    assert_eq!(call["confirmation_request"]["generic_details"], expected, "{call:#}");
    assert_eq!(call["description"], "Colour, Name");
    let agree = answered("answer", Verdict::Proceed);
    let done = finished(CallOutcome::Succeeded, r#"{"answers":{"0":"red"}}"#, "answered");
    let call = last_call(after(vec![proposed(questions(), ONCE), agree, started(), done]));
    assert_eq!(call["output"], json!({ "structured_data": { "answers": { "0": "red" } } }));
}

#[test]
fn an_edit_that_succeeded_tells_what_was_really_written() {
    let call = last_call(stories::modified());
    let expected = json!({ "diff": {
        "file_name": "a.txt", "file_path": "/w/src/a.txt", "old_content": "old\n", "new_content": "mine\n",
        "formatted_diff": "-old\n+mine\n",
    } });
    assert_eq!(call["output"], expected, "{call:#}");
}

#[test]
fn a_lost_edit_is_asked_about_with_what_the_person_made_of_it() {
    let mut story = stories::modified();
    story.pop();
    story.push(lost());
    let call = last_call(story);
    let details = &call["confirmation_request"]["file_edit_details"];
    assert_eq!(details["new_content"], "mine\n", "{call:#}");
    assert!(details["formatted_diff"].is_null(), "a diff to something else: {call:#}");
}

#[test]
fn a_lost_call_says_so_until_it_is_answered() {
    let agree = answered("proceed_once", Verdict::Proceed);
    let story = vec![proposed(exec(), &[]), started(), showed("a"), lost(), agree, started()];
    let told = calls(after(story));
    let [.., asked, answered, again] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(answered["confirmation_answer"]["selected_option_id"], "proceed_once");
    let said = asked["description"].as_str().unwrap();
    assert!(said.contains("not known") && said.ends_with("git status && ls"), "{asked:#}");
    assert_eq!((&asked["status"], &asked["live_content"]), (&json!("PENDING"), &json!("a")));
    assert_eq!(again["description"], "git status && ls");
    assert_eq!(again["status"], "EXECUTING");
    assert!(again["confirmation_request"].is_null(), "{again:#}");
}

#[track_caller]
fn check_error(facts: Vec<Fact>, status: &str, error: Value) {
    let call = last_call(after(facts));
    assert_eq!((&call["status"], &call["error"]), (&json!(status), &error), "{call:#}");
    assert!(call["output"].is_null() && call["live_content"].is_null(), "{call:#}");
}

#[test]
fn whatever_went_wrong_has_a_message() {
    let over = |outcome, text: &str, summary: &str| {
        vec![proposed(exec(), &[]), started(), showed("a"), finished(outcome, text, summary)]
    };
    let error = |message: &str, kind: &str| json!({ "message": message, "type": kind });
    check_error(
        over(failed("file_not_found"), "x", "no such file"),
        "FAILED",
        error("no such file", "file_not_found"),
    );
    check_error(over(failed("file_not_found"), "x", " "), "FAILED", error("x", "file_not_found"));
    check_error(over(failed("f"), "", ""), "FAILED", error("It failed and gave no reason.", "f"));
    check_error(over(failed(""), "x", ""), "FAILED", json!({ "message": "x" }));
    let unknown = error("It is not known whether it took effect.", "outcome_unknown");
    check_error(over(CallOutcome::Unknown, "", ""), "FAILED", unknown);
    check_error(over(CallOutcome::Canceled, "", ""), "CANCELLED", json!({ "message": "It was cancelled." }));
    let refuse = answered("cancel", Verdict::Refuse);
    let refused = vec![proposed(exec(), ONCE), refuse, finished(CallOutcome::Canceled, "no", "no")];
    check_error(refused, "CANCELLED", json!({ "message": "It was cancelled by ann." }));
    // Who agreed to it is not who stopped it.
    let agree = answered("proceed_once", Verdict::Proceed);
    let stopped =
        vec![proposed(exec(), ONCE), agree, finished(CallOutcome::Canceled, "no", "Another was refused.")];
    check_error(stopped, "CANCELLED", json!({ "message": "Another was refused." }));
    check_error(vec![finished(failed("f"), "x", "x")], "FAILED", error("x", "f"));
}

#[track_caller]
fn check_output(facts: Vec<Fact>, expected: Value) {
    let call = last_call(facts);
    assert_eq!(call["output"], expected, "{call:#}");
}

#[test]
fn output_is_text_unless_it_is_known_to_be_more() {
    let ran = |shown, text: &str, summary: &str| {
        after(vec![proposed(shown, &[]), started(), finished(CallOutcome::Succeeded, text, summary)])
    };
    check_output(ran(plain("src"), "everything", "Read it"), json!({ "text": "Read it" }));
    check_output(ran(plain("src"), "everything", ""), json!({ "text": "everything" }));
    check_output(ran(exec(), "{}", "exited with code 0"), json!({ "text": "exited with code 0" }));
    check_output(ran(exec(), "{}", ""), json!({ "text": "{}" }));
    check_output(ran(mcp(), "x", "{ half"), json!({ "text": "{ half" }));
    check_output(ran(mcp(), "x", "[1]"), json!({ "text": "[1]" }));
    check_output(stories::structured(), json!({ "structured_data": { "a": 1 } }));
    check_output(stories::picture(), json!({ "text": "(image/png a.png)" }));
    let todos = json!([{ "description": "a", "status": "pending" }]);
    check_output(stories::todos(), json!({ "structured_data": { "todos": todos } }));
}

#[test]
fn what_is_long_is_cut() {
    let long = "ä".repeat(MAX_LIVE_BYTES);
    let done = finished(CallOutcome::Succeeded, &long, "");
    let call = last_call(after(vec![proposed(plain(&long), &[]), started(), done]));
    let text = call["output"]["text"].as_str().unwrap();
    assert!(text.len() < MAX_LIVE_BYTES + 40 && text.ends_with("(16384 more bytes)"), "{}", text.len());
    let description = call["description"].as_str().unwrap();
    assert!(description.len() < 1_040 && description.contains('…'), "{description}");
}

#[test]
fn the_input_is_what_was_proposed() {
    let requested = finished(failed("f"), "x", "x");
    assert_eq!(last_call(after(vec![requested]))["input_parameters"], json!({ "a": 1 }));
    let proposed = proposed_with(object(json!({ "b": 2 })), plain("x"), ONCE);
    assert_eq!(asked(proposed)["input_parameters"], json!({ "b": 2 }));
}

#[test]
fn a_confirmed_command_takes_few_bytes() {
    let agree = answered("proceed_once", Verdict::Proceed);
    let done = finished(CallOutcome::Succeeded, "Output: a", "exited with code 0");
    let choices = ["proceed_once", "proceed_always", "proceed_always_and_save", "cancel"];
    let story = vec![proposed(exec(), &choices), agree, started(), showed("a\n"), done];
    let events = tell([wants("run_shell_command", json!({ "command": "ls" })), story].concat());
    let bytes: usize =
        events.iter().filter_map(|told| told.written(JsonForm::V0_3Rpc)).map(|out| out.len()).sum();
    assert!((2_000..8_400).contains(&bytes), "{bytes} bytes");
}
