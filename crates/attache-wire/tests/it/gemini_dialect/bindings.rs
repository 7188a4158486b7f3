//! The same in every version and binding, and in a task that is looked at.

use attache_domain::{Event, Fact, Seq};
use attache_wire::JsonForm;
use attache_wire::devtool::Dialect;
use attache_wire::encode::{IncludeArtifacts, TaskShape, write_task};
use serde_json::{Value, json};

use super::call_facts::{answered, asked, edit, exec, plain, showed, started, succeeded, wanted};
use super::world::{World, words};
use crate::fixture::{bare_view, time};

fn facts() -> Vec<Fact> {
    vec![
        Fact::TurnStarted { turn: 1, model: None },
        Fact::ThoughtShared { text: "**A** b".into() },
        Fact::TextSaid { text: "one".into(), last: false },
        wanted(&[("run_shell_command", json!({ "command": "echo hi" })), ("write_file", json!({}))]),
        asked("k1", exec("echo hi", &["echo"])),
        asked("k2", edit("/w/a", None, "a\n")),
        Fact::PersonAsked { message: words("May I?", None), auth: false },
        answered("k1", "proceed_once", None),
        started("k1"),
        showed("k1", "hi\n"),
        showed("k1", "ho\n"),
        succeeded("k1", "hi", "exited with code 0"),
        Fact::TaskCanceled,
    ]
}

/// The metadata of an event, and what its message or artifact holds.
fn inside(event: &Value) -> (Value, Value) {
    let event = event.get("statusUpdate").or_else(|| event.get("artifactUpdate")).unwrap_or(event);
    let message = &event["status"]["message"];
    let parts =
        message.get("parts").or_else(|| message.get("content")).unwrap_or(&event["artifact"]["parts"]);
    let part = &parts[0];
    let wrapped = part["data"].get("data").unwrap_or(&part["data"]);
    let content = if part["text"].is_string() { &part["text"] } else { wrapped };
    (event["metadata"].clone(), content.clone())
}

#[test]
fn every_binding_carries_the_same() {
    let heard = |json_form| -> Vec<(Value, Value)> {
        World::speaking(json_form).hears_all(facts()).iter().map(inside).collect()
    };
    let expected = heard(JsonForm::V0_3Rpc);
    assert_eq!(expected.len(), 12);
    assert!(
        expected.iter().filter(|(_, content)| content.get("request").is_some()).count() == 5,
        "{expected:#?}"
    );
    assert_eq!(heard(JsonForm::V1_0), expected);
    assert_eq!(heard(JsonForm::V0_3Rest), expected);
}

#[test]
fn a_task_that_is_looked_at_shows_the_calls_that_wait() {
    let mut view = bare_view();
    let facts = [
        Fact::TurnStarted { turn: 1, model: None },
        wanted(&[("run_shell_command", json!({})), ("read_file", json!({}))]),
        asked("k1", exec("echo hi", &["echo"])),
        asked("k2", plain("a")),
        answered("k2", "proceed_once", None),
        Fact::PersonAsked { message: words("May I?", None), auth: false },
    ];
    for (fact, seq) in facts.into_iter().zip(2..) {
        view.apply(&Event { seq: Seq(seq), at: time(0), fact });
    }
    let mut out = Vec::new();
    let shape =
        TaskShape { history_length: Some(0), artifacts: IncludeArtifacts::Always, dialect: Dialect::Gemini };
    write_task(JsonForm::V0_3Rpc, &view, shape, &mut out);
    let task: Value = serde_json::from_slice(&out).unwrap();
    let parts = task["status"]["message"]["parts"].as_array().unwrap();
    let calls: Vec<&Value> =
        parts.iter().filter(|part| part["kind"] == "data").map(|part| &part["data"]).collect();
    assert_eq!(calls.len(), 1, "{task:#}");
    assert_eq!(
        (&calls[0]["request"]["callId"], &calls[0]["status"]),
        (&json!("k1"), &json!("awaiting_approval"))
    );
    assert_eq!(calls[0]["confirmationDetails"]["command"], "echo hi");
    assert_eq!(calls[0]["request"]["prompt_id"], format!("{}########0", view.task));
}
