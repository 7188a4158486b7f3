//! Calls that were running when the server stopped.

use serde_json::json;

use super::task::{Task, asked, check, id};

#[test]
fn a_call_that_was_lost_is_asked_about_and_may_be_done_again_or_left() {
    let lost = "allow a, allow b, start a, start b, finish b, lose a";
    check(&["a", "b"], lost, "ask a person");
    check(&["a", "b"], &format!("{lost}, again a"), "start a");
    check(&["a", "b"], &format!("{lost}, again a, start a, finish a"), "call the model");
    check(&["a", "b"], &format!("{lost}, again a, start a, lose a"), "ask a person");
    check(&["a", "b"], &format!("{lost}, skip a"), "skip a");
    check(&["a", "b"], &format!("{lost}, skip a, finish a"), "call the model");
    check(&["a", "b"], &format!("{lost}, no a"), "cancel a");
}

/// A call that was approved, started and lost: `a` is asked about under the id that is returned.
fn lost_after_approval() -> (Task, String) {
    let mut task = Task::with_calls(&["a"]);
    task.play("ask a, yes a, start a, lose a");
    task.record(asked()).unwrap();
    let question = task.0.progress.work.find(&id("a")).unwrap().question_id().0.clone();
    (task, question)
}

#[test]
fn an_answer_to_the_question_before_never_runs_a_lost_call() {
    let (mut task, question) = lost_after_approval();
    assert_ne!(question, "a");
    let late = [
        task.reads(Some("a"), &["proceed_once"]),
        task.reads(Some("a"), &["run_again"]),
        task.reads(Some("a"), &["proceed_once", "run_again"]),
        task.hears("a: yes").map(|_| String::new()),
        task.hears("a: run_again").map(|_| String::new()),
    ];
    for late in late {
        let late = late.unwrap_err();
        assert!(late.starts_with("the call \"a\" was answered already, with \"proceed_once\""), "{late}");
    }
    for word in ["yes", "proceed_always", "all: yes", &format!("{question}: yes")] {
        let refused = task.hears(word).unwrap_err();
        assert!(refused.contains("it takes: run_again, skip, cancel"), "{word}: {refused}");
    }
    assert!(task.reads(Some(&question), &["proceed_once"]).is_err());
    // Lost a second time, it is asked about under yet another id.
    task.play("again a, start a, lose a");
    task.record(asked()).unwrap();
    let late = task.reads(Some(&question), &["run_again"]).unwrap_err();
    assert!(late.contains("was answered already, with \"run_again\""), "{late}");
}

#[test]
fn the_question_about_a_lost_call_takes_its_own_choices() {
    let (task, question) = lost_after_approval();
    let is = |choice: &str| Ok(vec![("a".to_owned(), choice.to_owned())]);
    for words in ["run_again", "all: run_again", &format!("{question}: run_again")] {
        assert_eq!(task.hears(words), is("run_again"), "{words}");
    }
    assert_eq!(task.hears("skip"), is("skip"));
    assert_eq!(task.hears("cancel"), is("cancel"));
    assert_eq!(task.reads(Some(&question), &["skip"]), Ok("skip".into()));
    assert_eq!(task.reads(None, &["run_again"]), Ok("run_again".into()), "it is the only one");
    // A client with a fixed list of outcomes has no other way to say so, and names the question.
    assert_eq!(task.reads(Some(&question), &["proceed_once", "run_again"]), Ok("run_again".into()));
}

#[test]
fn an_old_log_has_lost_calls_whose_question_has_no_id_of_its_own() {
    let mut task = Task::with_calls(&["a"]);
    task.play("allow a, start a");
    let old = json!({"call_lost": {"call": "a", "choices": ["proceed_once", "skip", "cancel"]}});
    task.record(serde_json::from_value(old).unwrap()).unwrap();
    assert_eq!(task.hears("a: skip"), Ok(vec![("a".into(), "skip".into())]));
}
