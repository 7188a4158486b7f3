//! The examples of the extension's page are true.

use attache_domain::{CallOutcome, Fact};
use attache_testkit::extension::check;
use attache_wire::JsonForm;
use serde_json::{Value, json};

use super::stories::{ONCE, exec};
use super::world::{finished, last_call, proposed, showed, started, tell, wants};

const PAGE: &str = include_str!("../../../../../docs/extension/README.md");

/// The examples in JSON, each with the name of what it is.
fn examples() -> Vec<(&'static str, Value)> {
    let blocks = PAGE.split("\n```").filter_map(|block| block.strip_prefix("json "));
    let example = |block: &'static str| {
        let (name, text) = block.split_once('\n').unwrap();
        (name, serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}")))
    };
    blocks.map(example).collect()
}

fn example(name: &str) -> Value {
    let found = examples().into_iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("there is no example of {name}")).1
}

fn shell(facts: Vec<Fact>) -> Vec<Fact> {
    [wants("run_shell_command", json!({})), facts].concat()
}

#[test]
fn every_example_fits_the_schema() {
    let examples = examples();
    for (name, value) in &examples {
        check(name, value).unwrap_or_else(|error| panic!("{error}"));
    }
    assert_eq!(examples.len(), 9);
}

#[test]
fn the_examples_of_a_call_are_what_is_sent() {
    let asked = tell(shell(vec![proposed(exec(), ONCE)])).pop().unwrap();
    assert_eq!(asked.encoded(JsonForm::V0_3Rpc), Some(example("StatusUpdate")));
    let done = finished(CallOutcome::Succeeded, "", "exited with code 0");
    let call = last_call(shell(vec![proposed(exec(), &[]), started(), showed("a\nb\n"), done]));
    assert_eq!(call, example("ToolCall"));
}

#[test]
fn every_option_that_is_described_on_the_wire_is_on_the_page() {
    let ids = [
        "proceed_once",
        "proceed_always",
        "proceed_always_tool",
        "proceed_always_server",
        "proceed_always_and_save",
        "modify_with_editor",
        "answer",
        "skip",
        "cancel",
    ];
    let call = last_call(shell(vec![proposed(exec(), &ids)]));
    for option in call["confirmation_request"]["options"].as_array().unwrap() {
        let id = option["id"].as_str().unwrap();
        assert!(option["description"].is_string(), "{id} is not described");
        assert!(PAGE.contains(&format!("\n| `{id}` |")), "{id} is not on the page");
    }
}
