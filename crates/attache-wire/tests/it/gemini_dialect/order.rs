//! The order of events: state, kind and status of each, as one line.

use attache_domain::{Artifact, ArtifactId, Fact, Part, TurnOutcome};
use serde_json::{Value, json};

use super::call_facts::{
    allowed, answered, asked, canceled, exec, failed, plain, showed, started, succeeded, wanted,
};
use super::world::{World, words};

#[track_caller]
fn check(world: &mut World, facts: impl IntoIterator<Item = Fact>, expected: &[&str]) {
    let heard: Vec<String> = world.hears_all(facts).iter().map(in_a_line).collect();
    assert_eq!(heard, expected);
}

fn in_a_line(event: &Value) -> String {
    if event["kind"] == "artifact-update" {
        return format!("artifact {}", event["artifact"]["artifactId"].as_str().unwrap());
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let call = &event["status"]["message"]["parts"][0]["data"];
    let words = [
        text(&event["status"]["state"]),
        text(&event["metadata"]["coderAgent"]["kind"]),
        text(&call["request"]["callId"]),
        text(&call["status"]),
        if event["final"] == true { "final".to_owned() } else { String::new() },
    ];
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn begun() -> Fact {
    Fact::TurnStarted { turn: 1, model: None }
}

fn said(text: &str) -> Fact {
    Fact::TextSaid { text: text.into(), last: false }
}

fn ended() -> Fact {
    Fact::TurnEnded { outcome: TurnOutcome::InputRequired, message: None, usage: None }
}

fn asks() -> Fact {
    Fact::PersonAsked { message: words("May I?", None), auth: false }
}

fn shell() -> (&'static str, Value) {
    ("run_shell_command", json!({ "command": "echo hi" }))
}

#[test]
fn a_turn_of_words() {
    let thought = Fact::ThoughtShared { text: "**A** b".into() };
    let facts = [begun(), thought, said("one"), said("two"), said(""), wanted(&[]), Fact::TextEnded, ended()];
    check(
        &mut World::new(),
        facts,
        &[
            "working state-change",
            "working thought",
            "working text-content",
            "working text-content",
            "input-required state-change final",
        ],
    );
}

#[test]
fn a_call_without_a_question() {
    let read = ("read_file", json!({ "file_path": "a" }));
    let facts = [
        begun(),
        wanted(&[read]),
        allowed("k1", plain("a")),
        started("k1"),
        succeeded("k1", "x", ""),
        said("done"),
        ended(),
    ];
    check(
        &mut World::new(),
        facts,
        &[
            "working state-change",
            "working tool-call-update k1 scheduled",
            "working tool-call-update k1 executing",
            "working tool-call-update k1 success",
            "working text-content",
            "input-required state-change final",
        ],
    );
}

#[test]
fn a_command_that_is_agreed_to() {
    let mut world = World::new();
    check(
        &mut world,
        [begun(), wanted(&[shell()]), asked("k1", exec("echo hi", &["echo"])), asks()],
        &[
            "working state-change",
            "working tool-call-confirmation k1 awaiting_approval",
            "input-required state-change final",
        ],
    );
    // The stream of the answer.
    check(
        &mut world,
        [
            answered("k1", "proceed_once", None),
            Fact::WorkResumed,
            started("k1"),
            showed("k1", "hi\n"),
            succeeded("k1", "Output: hi", "exited with code 0"),
            said("done"),
            ended(),
        ],
        &[
            "working tool-call-update k1 scheduled",
            "working tool-call-update k1 executing",
            "artifact tool-k1-output",
            "working tool-call-update k1 success",
            "working text-content",
            "input-required state-change final",
        ],
    );
}

#[test]
fn a_command_that_is_refused() {
    let mut world = World::new();
    world.hears_all([begun(), wanted(&[shell()]), asked("k1", exec("echo hi", &["echo"])), asks()]);
    check(
        &mut world,
        [
            answered("k1", "cancel", None),
            Fact::WorkResumed,
            canceled("k1", "[Operation Cancelled] No."),
            ended(),
        ],
        &["working tool-call-update k1 cancelled", "input-required state-change final"],
    );
}

#[test]
fn two_calls_are_asked_about_at_once_and_answered_one_by_one() {
    let mut world = World::new();
    let both = [asked("k1", exec("echo hi", &["echo"])), asked("k2", exec("echo ho", &["echo"]))];
    check(
        &mut world,
        [wanted(&[shell(), shell()])].into_iter().chain(both).chain([asks()]),
        &[
            "working tool-call-confirmation k1 awaiting_approval",
            "working tool-call-confirmation k2 awaiting_approval",
            "input-required state-change final",
        ],
    );
    check(
        &mut world,
        [answered("k1", "proceed_once", None), asks()],
        &["working tool-call-update k1 scheduled", "input-required state-change final"],
    );
    check(
        &mut world,
        [answered("k2", "proceed_once", None), Fact::WorkResumed, started("k1"), started("k2")],
        &[
            "working tool-call-update k2 scheduled",
            "working tool-call-update k1 executing",
            "working tool-call-update k2 executing",
        ],
    );
}

#[test]
fn a_call_that_cannot_be() {
    let facts = [wanted(&[("fly", json!({}))]), failed("k1", "tool_not_registered", "no such tool")];
    check(&mut World::new(), facts, &["working tool-call-update k1 error"]);
}

#[test]
fn a_diff_of_the_whole_turn_is_left_out_and_a_file_for_the_person_is_not() {
    let artifact = |id: &str| Fact::ArtifactAdded {
        artifact: Box::new(Artifact {
            id: ArtifactId::from(id),
            name: None,
            description: None,
            parts: vec![Part::text("x")],
            metadata: None,
            extensions: Vec::new(),
        }),
        append: false,
        last: true,
    };
    check(&mut World::new(), [artifact("changes-1"), artifact("file-k1-0")], &["artifact file-k1-0"]);
}
