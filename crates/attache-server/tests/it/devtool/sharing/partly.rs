//! Several calls wait at once: they are answered one by one in any order, or all in one message.

use attache_testkit::editor::{Editor, Exchange, chosen};
use attache_testkit::model_server::PlannedResponse;
use attache_testkit::model_server::gemini::{batch, says};
use serde_json::{Value, json};

use super::{pending, waiting};
use crate::devtool::world::World;
use attache_testkit::pairs::Pair;

fn three() -> PlannedResponse {
    let run = |name: &str| ("run_shell_command", json!({"command": format!("echo ran >> {name}")}));
    batch([run("one"), run("two"), run("three")])
}

async fn asked(pair: Pair) -> (World, Editor, Exchange) {
    let world = World::playing([three(), says("All three."), says("And that, too.")]).await;
    let editor = world.editor_on(pair);
    let asked = editor.ask("m1", "Run!").await;
    asked.check(&[
        "task submitted",
        "STATE_CHANGE working",
        "TOOL_CALL_UPDATE working run_shell_command PENDING ?",
        "TOOL_CALL_UPDATE working run_shell_command PENDING ?",
        "TOOL_CALL_UPDATE working run_shell_command PENDING ?",
        "STATE_CHANGE input-required final",
    ]);
    (world, editor, asked)
}

fn ran(world: &World) -> [Option<String>; 3] {
    ["one", "two", "three"].map(|name| world.file(name))
}

/// The calls that are still open, as the stream of a partial answer shows them before it ends: in the task that every
/// stream of 1.0 begins with, else as updates of the calls.
#[track_caller]
fn open(exchange: &Exchange) -> Vec<Value> {
    let lines = exchange.lines();
    assert_eq!(lines.last().unwrap(), "STATE_CHANGE input-required final", "{lines:#?}");
    let Some(task) = exchange.events[0].payload.get("task") else { return exchange.asked() };
    let message = &task["status"]["message"];
    let parts = message.get("parts").or_else(|| message.get("content")).unwrap().as_array().unwrap();
    let data = parts.iter().filter_map(|part| part.get("data"));
    data.map(|data| data.get("data").unwrap_or(data).clone()).collect()
}

#[tokio::test]
async fn one_by_one_in_any_order_and_each_hears_what_is_still_open() {
    for pair in Pair::ALL {
        let (world, editor, asked) = asked(pair).await;
        let calls = asked.asked();
        let after_third = editor.answer(asked.task(), "m2", &[chosen(&calls[2], "proceed_once")]).await;
        assert_eq!(open(&after_third), calls[..2], "{pair:?}");
        let after_first = editor.answer(asked.task(), "m3", &[chosen(&calls[0], "proceed_once")]).await;
        assert_eq!(open(&after_first), calls[1..2], "{pair:?}");
        assert_eq!(ran(&world), [None, None, None], "nothing runs before all are answered");
        let listed = waiting(&world.editor_on(Pair::Rest10)).await;
        assert_eq!(pending(&listed[0]), calls[1..2], "{pair:?}");
        let twice = editor.answers(asked.task(), "m4", &[chosen(&calls[0], "cancel")]);
        let twice = editor.refused(twice).await;
        assert!(twice.message.contains("answered already"), "{twice:#?}");
        let done = editor.answer(asked.task(), "m5", &[chosen(&calls[1], "proceed_once")]).await;
        assert_eq!((done.said().as_str(), done.last().state()), ("All three.", "completed"), "{pair:?}");
        assert!(ran(&world).iter().all(|ran| ran.as_deref() == Some("ran\n")), "{pair:?}");
        assert_eq!(world.model.received().len(), 2);
    }
}

#[tokio::test]
async fn all_in_one_message() {
    let (world, editor, asked) = asked(Pair::Rpc03).await;
    let answers: Vec<_> = asked.asked().iter().map(|call| chosen(call, "proceed_once")).collect();
    let done = editor.answer(asked.task(), "m2", &answers).await;
    assert_eq!((done.said().as_str(), done.last().state()), ("All three.", "completed"));
    assert!(ran(&world).iter().all(|ran| ran.as_deref() == Some("ran\n")));
}

#[tokio::test]
async fn of_one_message_all_answers_count_or_none() {
    let (world, editor, asked) = asked(Pair::Rpc03).await;
    let calls = asked.asked();
    let bad = [chosen(&calls[0], "proceed_once"), chosen(&calls[1], "perhaps")];
    let refused = editor.refused(editor.answers(asked.task(), "m2", &bad)).await;
    assert_eq!(refused.code, Some(-32602), "{refused:#?}");
    let listed = waiting(&world.editor_on(Pair::Rest10)).await;
    assert_eq!(pending(&listed[0]), calls, "all are still open");
}

#[tokio::test]
async fn what_is_answered_and_what_is_open_survive_kill_9() {
    let (world, editor, asked) = asked(Pair::Rpc03).await;
    let calls = asked.asked();
    editor.answer(asked.task(), "m2", &[chosen(&calls[1], "proceed_once")]).await;
    let world = world.crash().await;
    let other = world.editor_on(Pair::Rest10);
    let listed = waiting(&other).await;
    assert_eq!(pending(&listed[0]), [calls[0].clone(), calls[2].clone()]);
    let rest = [chosen(&calls[2], "proceed_once"), chosen(&calls[0], "proceed_once")];
    let done = other.answer(asked.task(), "m3", &rest).await;
    assert_eq!((done.said().as_str(), done.last().state()), ("All three.", "completed"));
    assert!(ran(&world).iter().all(|ran| ran.as_deref() == Some("ran\n")));
}

#[tokio::test]
async fn words_beside_the_answers_are_heard_when_the_turn_is_over() {
    for pair in Pair::ALL {
        let (world, editor, asked) = asked(pair).await;
        let answers: Vec<_> = asked.asked().iter().map(|call| chosen(call, "proceed_once")).collect();
        let mut params = editor.answers(asked.task(), "m2", &answers);
        let parts = params["message"][pair.parts()].as_array_mut().unwrap();
        parts.push(pair.text_part("Be quick about it."));
        let done = editor.exchange(params).await;
        assert_eq!(done.said(), "All three.And that, too.", "{pair:?}: {:#?}", done.lines());
        assert_eq!(done.last().state(), "completed");
        let finals = done.lines().iter().filter(|line| line.ends_with("final")).count();
        assert_eq!(finals, 1, "{:#?}", done.lines());
        let requests = world.model.received();
        assert!(!requests[1].json().to_string().contains("Be quick"), "the calls come first");
        assert!(requests[2].json().to_string().contains("Be quick about it."), "{pair:?}");
        let task = editor.task(asked.task()).await;
        assert!(task["history"].to_string().contains("Be quick about it."), "{task:#}");
    }
}
