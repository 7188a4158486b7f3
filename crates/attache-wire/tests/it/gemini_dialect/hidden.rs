//! Nothing that a person decides about hides a character.

use attache_domain::{Preview, is_hidden};
use serde_json::{Value, json};

use super::call_facts::{asked, edit, exec, started, wanted};
use super::world::World;

const ODD: &str = "a\u{1b}]\u{7}\u{202e}\u{200b}\r";
const SHOWN: &str = r"a\u{1b}]\u{7}\u{202e}\u{200b}\u{d}";

fn question(tool: &str, shown: Preview) -> Value {
    let mut world = World::new();
    world
        .call_after([wanted(&[(tool, json!({"command": ODD, "deep": {"list": [ODD]}}))]), asked("k1", shown)])
}

#[track_caller]
fn check(value: &Value, member: &str) {
    let text = value[member].as_str().unwrap_or_else(|| panic!("{member} in {value:#}"));
    assert!(!text.contains(|it| is_hidden(it) && it != '\n' && it != '\t'), "{text:?}");
    assert!(text.contains(SHOWN), "{text:?}");
}

#[test]
fn a_command_is_written_out_with_its_programs_and_arguments() {
    let call = question("run_shell_command", exec(ODD, &[ODD]));
    let details = &call["confirmationDetails"];
    check(details, "command");
    check(details, "rootCommand");
    assert_eq!(details["rootCommands"], json!([SHOWN]));
    assert!(details["title"].as_str().unwrap().contains("hidden characters"));
    assert_eq!(call["request"]["args"], json!({"command": SHOWN, "deep": {"list": [SHOWN]}}));
}

#[test]
fn once_no_question_is_open_the_arguments_are_unchanged() {
    let mut world = World::new();
    let facts = [wanted(&[("run_shell_command", json!({"command": ODD}))]), asked("k1", exec(ODD, &[]))];
    world.hears_all(facts);
    let call = world.call_after([super::call_facts::answered("k1", "proceed_once", None), started("k1")]);
    assert_eq!(call["request"]["args"]["command"], ODD);
}

#[test]
fn an_edit_shows_its_names_and_lines_and_keeps_its_content() {
    let call = question("write_file", edit(&format!("/w/{ODD}"), None, &format!("{ODD}\n")));
    let details = &call["confirmationDetails"];
    for member in ["title", "fileName", "filePath", "fileDiff"] {
        check(details, member);
    }
    assert_eq!(details["newContent"], format!("{ODD}\n"));
    assert_eq!(call["request"]["args"]["command"], ODD, "editors work with the real input");
}

#[test]
fn servers_addresses_and_other_words_are_written_out() {
    let shown = Preview::Mcp { server: ODD.into(), tool: ODD.into(), title: ODD.into(), address: None };
    let call = question("mcp_x", shown);
    for member in ["serverName", "toolName", "toolDisplayName"] {
        check(&call["confirmationDetails"], member);
    }
    check(&call["tool"], "description");
    let call = question("web_fetch", Preview::Info { prompt: ODD.into(), urls: vec![ODD.into()] });
    check(&call["confirmationDetails"], "prompt");
    assert_eq!(call["confirmationDetails"]["urls"], json!([SHOWN]));
    let call = question("other", Preview::Plain { summary: ODD.into() });
    check(&call["confirmationDetails"], "prompt");
}

#[test]
fn a_question_keeps_its_language_and_steers_nothing() {
    let questions = json!([{"question": "\u{1b}[2J♥\u{fe0f}?", "header": "H", "type": "text"}]);
    let call = question("ask_user", Preview::Questions { questions });
    assert_eq!(call["confirmationDetails"]["questions"][0]["question"], "\\u{1b}[2J♥\u{fe0f}?");
}
