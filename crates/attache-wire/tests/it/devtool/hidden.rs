//! Nothing that a person decides about hides a character.

use attache_domain::{Preview, Verdict, is_hidden};
use serde_json::{Value, json};

use super::world::{answered, last_call, proposed, proposed_with, started, wants};
use crate::fixture::object;

const ODD: &str = "a\u{1b}]\u{7}\u{202e}\u{200b}\r";
const SHOWN: &str = r"a\u{1b}]\u{7}\u{202e}\u{200b}\u{d}";

/// As they are stored: other members may be left out.
fn exec(command: &str) -> Preview {
    let shown = json!({"type": "exec", "command": command, "directory": format!("/w/{ODD}"), "programs": []});
    serde_json::from_value(shown).unwrap()
}

fn edit(path: &str, content: &str) -> Preview {
    let diff = format!("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+{content}");
    serde_json::from_value(json!({"type": "edit", "path": path, "diff": diff, "new_content": content}))
        .unwrap()
}

fn question(shown: Preview) -> Value {
    let asked = proposed(shown, &["proceed_once", "proceed_always_tool", "cancel"]);
    last_call([wants("tool", json!({})), vec![asked]].concat())
}

#[track_caller]
fn check(value: &Value, member: &str) {
    let text = value[member].as_str().unwrap_or_else(|| panic!("{member} in {value:#}"));
    assert!(!text.contains(|it| is_hidden(it) && it != '\n' && it != '\t'), "{text:?}");
    assert!(text.contains(SHOWN), "{text:?}");
}

#[test]
fn a_command_is_written_out_wherever_it_stands() {
    let call = question(exec(ODD));
    check(&call, "description");
    assert!(call["description"].as_str().unwrap().contains("hidden characters"));
    check(&call["confirmation_request"]["execute_details"], "command");
    check(&call["confirmation_request"]["execute_details"], "working_directory");
    assert_eq!(call["input_parameters"]["command"], SHOWN);
    let running =
        vec![proposed(exec(ODD), &["proceed_once"]), answered("proceed_once", Verdict::Proceed), started()];
    let call = last_call([wants("tool", json!({})), running].concat());
    assert_eq!(call["input_parameters"]["command"], ODD, "once nobody is asked");
    check(&call, "description");
}

#[test]
fn an_edit_shows_its_names_and_lines_and_keeps_its_content() {
    let call = question(edit(&format!("/w/{ODD}"), &format!("{ODD}\n")));
    check(&call, "description");
    let details = &call["confirmation_request"]["file_edit_details"];
    for member in ["file_name", "file_path", "formatted_diff"] {
        check(details, member);
    }
    assert_eq!(details["new_content"], format!("{ODD}\n"));
    assert_eq!(call["input_parameters"]["content"], format!("{ODD}\n"), "editors work with the real input");
}

#[test]
fn servers_addresses_and_other_words_are_written_out() {
    let shown = Preview::Mcp { server: ODD.into(), tool: ODD.into(), title: ODD.into(), address: None };
    let asked =
        proposed_with(object(json!({"deep": [ODD]})), shown, &["proceed_once", "proceed_always_tool"]);
    let call = last_call([wants("tool", json!({})), vec![asked]].concat());
    check(&call, "description");
    for member in ["server_name", "tool_name"] {
        check(&call["confirmation_request"]["mcp_details"], member);
    }
    check(&call["confirmation_request"]["options"][1], "description");
    assert_eq!(call["input_parameters"], json!({"deep": [SHOWN]}));
    let call = question(Preview::Info { prompt: ODD.into(), urls: vec![ODD.into()] });
    let generic = &call["confirmation_request"]["generic_details"];
    assert_eq!(generic["description"], format!("{SHOWN}\n{SHOWN}"));
    check(
        &question(Preview::Plain { summary: ODD.into() })["confirmation_request"]["generic_details"],
        "description",
    );
}

#[test]
fn a_question_keeps_its_language_and_steers_nothing() {
    let option = json!({"label": "\u{202e}♥\u{fe0f}", "description": ""});
    let questions = json!([{"question": "\u{1b}[2J?", "header": "H", "type": "choice", "options": [option]}]);
    let generic =
        question(Preview::Questions { questions })["confirmation_request"]["generic_details"].take();
    assert_eq!(generic["questions"][0]["question"], r"\u{1b}[2J?");
    assert_eq!(generic["questions"][0]["options"][0]["label"], "\\u{202e}♥\u{fe0f}");
    assert!(generic["description"].as_str().unwrap().starts_with(r"\u{1b}[2J?"));
}
