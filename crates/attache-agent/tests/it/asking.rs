//! Questions about calls, and what becomes of the answers.

use attache_domain::{ModelPart, ModelPartContent, TaskState};
use attache_model::StopReason;
use serde_json::json;

use crate::world::{World, calls, end, says, status_text};

#[tokio::test]
async fn a_call_that_needs_agreement_waits_for_it() {
    let world = World::new([calls("", &["a write"]), says("Done.")]).await;
    let view = world.send("Write!").await;
    assert_eq!(view.status.state, TaskState::InputRequired);
    assert!(
        status_text(&view).contains("proceed_once, proceed_always, modify_with_editor, cancel"),
        "{}",
        status_text(&view)
    );
    let said = "\n  proceed_always: Always: write anything.\n";
    assert!(status_text(&view).contains(said), "{}", status_text(&view));
    assert!(world.tools.done().is_empty());
    let view = world.reply(&view.task, "Yes.").await.unwrap();
    assert_eq!(view.status.state, TaskState::Completed);
    assert_eq!(world.tools.done(), ["write a proposed"]);
    assert_eq!(*world.tools.learnt.lock().unwrap(), ["write proceed_once"]);
}

#[tokio::test]
async fn when_all_is_refused_the_person_speaks_next() {
    let world = World::new([calls("", &["a write", "b write"]), says("Something else.")]).await;
    let view = world.send("Write!").await;
    let view = world.reply(&view.task, "a: no").await.unwrap();
    assert_eq!(view.status.state, TaskState::InputRequired);
    assert!(status_text(&view).contains("(b)") && !status_text(&view).contains("(a)"), "b is still open");
    let view = world.reply(&view.task, "no").await.unwrap();
    assert!(status_text(&view).contains("What shall I do instead"), "{}", status_text(&view));
    assert!(world.tools.done().is_empty());
    let view = world.reply(&view.task, "Do something else").await.unwrap();
    assert_eq!(view.status.state, TaskState::Completed);
    assert_eq!(
        world.model.heard()[2],
        "results: ![Operation Cancelled] The user did not agree to this., \
         ![Operation Cancelled] The user did not agree to this."
    );
}

#[tokio::test]
async fn what_is_approved_runs_and_what_is_refused_does_not_and_the_model_hears_which() {
    for answers in [&["a: no\nb: yes"][..], &["b: yes", "a: no"], &["a: no", "b: yes"]] {
        let world = World::new([calls("", &["a write", "b write"]), says("One of them.")]).await;
        let mut view = world.send("Write!").await;
        for answer in answers {
            view = world.reply(&view.task, answer).await.unwrap();
        }
        assert_eq!(view.status.state, TaskState::Completed, "{answers:?}");
        assert_eq!(world.tools.done(), ["write b proposed"], "{answers:?}");
        let heard = "results: ![Operation Cancelled] The user did not agree to this., result of b";
        assert_eq!(world.model.heard()[2], heard, "{answers:?}");
    }
}

#[tokio::test]
async fn a_yes_that_comes_too_late_is_no_prompt() {
    let world = World::new([calls("", &["a write", "b slow"]), says("Done.")]).await;
    let view = world.send("Write!").await;
    let task = view.task.clone();
    let working = world.reply_at_once(&task, "a: yes").await.unwrap();
    assert_eq!(working.status.state, TaskState::Working);
    for late in ["yes", "No.", "always", "proceed_once", "a: yes", "all: yes", "skip"] {
        let refused = world.reply(&task, late).await.unwrap_err().to_string();
        assert!(
            refused.contains("\"a\" was answered already, with \"proceed_once\", by "),
            "{late}: {refused}"
        );
    }
    let other = world.reply_at_once(&task, "yes, and be quick").await.unwrap();
    assert_eq!(other.progress.queue.len(), 1, "other words are heard when the turn is over");
}

#[tokio::test]
async fn several_questions_can_be_answered_one_by_one_in_any_order() {
    let world = World::new([calls("", &["a write", "b write"]), says("Done.")]).await;
    let view = world.send("Write!").await;
    let view = world.reply(&view.task, "b: proceed_once").await.unwrap();
    assert_eq!(view.status.state, TaskState::InputRequired, "a is still open");
    let view = world.reply(&view.task, "a: always").await.unwrap();
    assert_eq!(view.status.state, TaskState::Completed);
    assert_eq!(world.tools.done(), ["write a proposed", "write b proposed"]);
}

#[tokio::test]
async fn changed_content_is_what_is_written() {
    let world = World::new([calls("", &["a write"]), says("Done.")]).await;
    let view = world.send("Write!").await;
    let answer = json!({"call": "a", "choice": "proceed_once", "newContent": "mine"});
    let view = world.reply_data(&view.task, answer).await;
    assert_eq!(view.status.state, TaskState::Completed);
    assert_eq!(world.tools.done(), ["write a mine"]);
    let changes = view.artifacts.iter().find(|artifact| artifact.id.as_str() == "changes-1").unwrap();
    assert_eq!(
        changes.parts[0].as_text(),
        Some("--- /dev/null\n+++ b/file\n@@ -0,0 +1 @@\n+mine\n\\ No newline at end of file\n")
    );
}

#[tokio::test]
async fn a_turn_that_changes_nothing_shows_no_changes_of_the_one_before() {
    let cut_off = vec![Ok(end(
        StopReason::Length,
        vec![ModelPart { what: ModelPartContent::Text("Do".into()), opaque: None }],
    ))];
    let world = World::new([calls("", &["a write"]), cut_off, says("ne.")]).await;
    let view = world.send("Write!").await;
    let view = world.reply(&view.task, "proceed_once").await.unwrap();
    assert_eq!(view.status.state, TaskState::InputRequired);
    let view = world.reply(&view.task, "continue").await.unwrap();
    assert_eq!(view.status.state, TaskState::Completed);
    let changes = view.artifacts.iter().filter(|artifact| artifact.id.as_str().starts_with("changes-"));
    assert_eq!(changes.map(|artifact| artifact.id.as_str()).collect::<Vec<_>>(), ["changes-1"]);
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_refused_with_what_would() {
    let world = World::new([calls("", &["a write"])]).await;
    let view = world.send("Write!").await;
    let fault = world.reply(&view.task, "perhaps").await.unwrap_err().to_string();
    assert_eq!(
        fault,
        "\"perhaps\" is no answer to the call \"a\"; it takes: proceed_once, proceed_always, modify_with_editor, cancel"
    );
    assert!(world.tools.done().is_empty());
}

#[tokio::test]
async fn what_may_run_before_a_question_does() {
    let world = World::new([calls("", &["a look", "b write"]), says("Done.")]).await;
    let view = world.send("Go!").await;
    assert_eq!(view.status.state, TaskState::InputRequired);
    assert_eq!(world.tools.done(), ["look a"]);
    world.reply(&view.task, "yes").await.unwrap();
    assert_eq!(world.tools.done(), ["look a", "write b proposed"]);
}

#[tokio::test]
async fn what_depends_on_an_earlier_edit_is_looked_at_after_it() {
    let world =
        World::new([calls("", &["x@same write", "y@same write", "z@same look"]), says("Done.")]).await;
    let view = world.send("Write!").await;
    assert!(!status_text(&view).contains("y@same"), "one edit of a file at a time: {}", status_text(&view));
    let view = world.reply(&view.task, "yes").await.unwrap();
    assert_eq!(view.status.state, TaskState::InputRequired);
    assert_eq!(world.tools.done(), ["write x@same proposed"]);
    let view = world.reply(&view.task, "yes").await.unwrap();
    assert_eq!(view.status.state, TaskState::Completed);
    assert_eq!(world.tools.done(), ["write x@same proposed", "write y@same proposed", "look z@same"]);
    let log = world.log(&view).await;
    assert!(log.contains("call_deferred"), "{log}");
}

#[tokio::test]
async fn an_unrequested_answer_is_refused() {
    let world = World::new([says("Hello.")]).await;
    let view = world.send("Hello").await;
    let fault =
        world.answer_data(&view.task, json!({"call": "x", "choice": "proceed_once"})).await.unwrap_err();
    assert!(fault.to_string().contains("is completed and takes no more messages"), "{fault}");
}
