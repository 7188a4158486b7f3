//! What a model wants done: proposing, asking, starting, cancelling, and when a person is waited for.

mod lost;
mod questions;
mod task;

use attache_domain::{
    CallAnswer, CallOutcome, Compaction, Content, ConversationItem, Digest, DuplicateWindow, Event, Exchange,
    Fact, Fault, Intent, Message, PartAnswers, Role, Step, TaskState, TaskView, Timestamp, TurnOutcome,
    Usage, Verdict,
};

use task::{Task, answer, asked, check, finished, id, proposed, text_answers};

#[test]
fn what_to_do_follows_from_how_far_each_call_is() {
    check(&[], "", "settle Done");
    check(&["a", "b"], "", "propose a, propose b");
    check(&["a", "b"], "allow a", "propose b");
    check(&["a", "b"], "allow a, allow b", "start a, start b");
    check(&["a", "b"], "allow a, allow b, start a", "await a, start b");
    check(&["a", "b"], "allow a, allow b, start a, start b, finish b", "await a");
    check(&["a", "b"], "allow a, allow b, start a, start b, finish b, finish a", "call the model");
    // Refused by a rule: it is over before it began.
    check(&["a"], "finish a", "call the model");
}

#[test]
fn a_group_starts_only_when_all_of_it_may() {
    check(&["a", "b"], "allow a, ask b", "ask a person");
    check(&["a", "b"], "allow a, ask b, yes b", "start a, start b");
    check(&["a", "b", "c"], "ask a, ask b, ask c, yes c, yes a", "ask a person");
    check(&["a", "b", "c"], "ask a, ask b, ask c, yes c, yes a, yes b", "start a, start b, start c");
}

#[test]
fn calls_that_must_be_alone_are_and_the_order_stays() {
    check(&["a", "b", "c"], "allow a, allow-alone b, allow c", "start a");
    check(&["a", "b", "c"], "allow a, allow-alone b, allow c, start a, finish a", "start b");
    check(&["a", "b"], "allow-alone a, allow-alone b, start a, finish a", "start b");
    // What comes before a question goes on while it is open.
    check(&["a", "b"], "allow a, ask-alone b", "start a");
    check(&["a", "b"], "allow a, ask-alone b, start a, finish a", "ask a person");
}

#[test]
fn what_was_approved_runs_and_only_what_was_refused_is_cancelled() {
    check(&["a", "b"], "ask a, ask b, yes a, no b", "cancel b");
    check(&["a", "b"], "ask a, ask b, no a, yes b", "cancel a");
    check(&["a", "b"], "ask a, ask b, yes a, no b, finish-canceled b", "start a");
    check(&["a", "b"], "ask a, ask b, yes a, no b, finish-canceled b, start a, finish a", "call the model");
    check(&["a", "b"], "allow-alone a, ask-alone b, start a, no b", "cancel b");
    // The model gets the result of an approved call that fails.
    let failed = "ask a, ask b, yes a, no b, finish-canceled b, start a, finish-canceled a";
    check(&["a", "b"], failed, "call the model");
    // What a rule allows runs beside what a person allows.
    check(&["a", "b", "c"], "ask a, ask b, allow c, yes a, no b, finish-canceled b", "start a, start c");
    // What waits for a refused call is cancelled with it, at any distance.
    check(&["a", "b", "c"], "ask-alone a, defer b, ask-alone c, no a, yes c", "cancel a, cancel b");
}

#[test]
fn a_refusal_leaves_the_other_questions_open() {
    check(&["a", "b"], "ask a, ask b, no a", "cancel a");
    check(&["a", "b"], "ask a, ask b, no a, finish-canceled a", "ask a person");
    check(&["a", "b"], "ask a, ask b, no a, finish-canceled a, yes b", "start b");
}

#[test]
fn when_everything_asked_is_refused_nothing_else_begins() {
    check(&["a", "b"], "ask a, ask b, no a, no b", "cancel a, cancel b");
    check(&["a", "b", "c"], "ask a, ask b, allow c, no a, no b", "cancel a, cancel b, cancel c");
    let one_by_one = "ask a, ask b, allow c, no a, finish-canceled a, no b";
    check(&["a", "b", "c"], one_by_one, "cancel b, cancel c");
    let over = "finish-canceled b, finish-canceled c";
    check(&["a", "b", "c"], &format!("{one_by_one}, {over}"), "settle declined");
}

#[test]
fn the_first_choice_that_is_offered_is_meant() {
    let mut task = Task::with_calls(&["a"]);
    task.record(proposed("a", false, &["proceed_once", "proceed_always_tool", "cancel"])).unwrap();
    let meant = |choices: &[&'static str]| task.reads(Some("a"), choices);
    assert_eq!(
        meant(&["proceed_always", "proceed_always_tool", "proceed_once"]).unwrap(),
        "proceed_always_tool"
    );
    assert_eq!(meant(&["proceed_always", "proceed_once"]).unwrap(), "proceed_once");
    let refused = meant(&["proceed_always"]).unwrap_err();
    assert!(refused.contains("it takes: proceed_once, proceed_always_tool, cancel"), "{refused}");
}

#[test]
fn after_a_refusal_with_nothing_done_the_person_speaks_next() {
    check(&["a", "b"], "ask a, ask b, no a, finish-canceled a, finish-canceled b", "settle declined");
    check(&["a", "b"], "allow-alone a, start a, ask b, finish a, no b, finish-canceled b", "call the model");
}

#[test]
fn a_call_that_depends_on_another_is_looked_at_again_when_that_is_over() {
    check(&["a", "b"], "ask-alone a, defer b", "ask a person");
    check(&["a", "b"], "ask-alone a, defer b, yes a, start a", "await a");
    check(&["a", "b"], "ask-alone a, defer b, yes a, start a, finish a", "propose b");
    check(&["a", "b"], "ask-alone a, defer b, no a", "cancel a, cancel b");
}

#[test]
fn a_call_that_is_modified_is_looked_at_again() {
    check(&["a"], "ask-edit a, modify a", "propose a");
    check(&["a"], "ask-edit a, modify a, ask a", "ask a person");
    let mut task = Task::with_calls(&["a"]);
    task.play("ask a");
    let fault = task.modify("a", None).unwrap_err().to_string();
    assert!(fault.contains("newContent is needed"), "{fault}");
}

#[test]
fn a_question_of_a_tool_takes_any_text() {
    let mut task = Task::with_calls(&["a"]);
    task.record(proposed("a", false, &["answer", "cancel"])).unwrap();
    let says = |task: &Task, text: &str| {
        let message = Message::from_agent("m2".into(), "c".into(), None, text);
        let lines = PartAnswers::Text(text_answers(text));
        let (_, answer) = task.matches(&message, lines).unwrap().remove(0);
        (answer.choice, answer.verdict, answer.answers)
    };
    let said = says(&task, " No, the blue one ");
    assert_eq!(said, ("answer".into(), Verdict::Proceed, Some("No, the blue one".into())));
    assert_eq!(says(&task, "cancel"), ("cancel".into(), Verdict::Refuse, None));
}

#[test]
fn what_is_dropped_goes_from_the_start_and_nothing_else_moves() {
    let told = |view: &TaskView| {
        let shown = view.conversation().map(|told| match told {
            ConversationItem::Message(message) => message.text(),
            ConversationItem::Exchange(exchange) => format!("{exchange:?}"),
        });
        shown.collect::<Vec<_>>()
    };
    let mut task = Task::with_calls(&["a"]);
    task.play("finish a");
    for (number, calls) in [["b"], ["c"], ["d"]].iter().enumerate() {
        task.record(answer(calls)).unwrap();
        task.play(&format!("finish {}", calls[0]));
        let message = Message {
            role: Role::User,
            ..Message::from_agent(format!("n{number}").into(), "c".into(), None, "more")
        };
        let (digest, duplicates) = (Digest("1".into()), DuplicateWindow::InFlight);
        task.push(Intent::Receive { message, digest, reopens: false, duplicates }).unwrap();
    }
    task.record(answer(&[])).unwrap();
    task.record(Fact::TurnEnded { outcome: TurnOutcome::Completed, message: None, usage: None }).unwrap();
    task.record(Fact::TurnStarted { turn: 2, model: None }).unwrap();
    let whole = told(&task.0);
    for dropped in 0..=whole.len() {
        let mut view = task.0.clone();
        let summary = Some("short".to_owned());
        let reduction = Compaction {
            summary,
            dropped: dropped as u32,
            masked: 0,
            before: 9,
            after: 1,
            cost: Usage::default(),
        };
        let seq = view.progress.head.next();
        view.apply(&Event {
            seq,
            at: Timestamp::UNIX_EPOCH,
            fact: Fact::ContextReduced(Box::new(reduction)),
        });
        assert_eq!(told(&view), whole[dropped..], "{dropped}");
        assert_eq!(view.history, task.0.history, "people still see everything");
    }
}

#[test]
fn a_message_to_a_busy_task_is_queued_and_says_so() {
    let mut task = Task::with_calls(&["a"]);
    let message = Message::from_agent("m2".into(), "c".into(), None, "and also");
    let sent = || Intent::Receive {
        message: message.clone(),
        digest: Digest("1".into()),
        reopens: false,
        duplicates: DuplicateWindow::InFlight,
    };
    let facts = task.0.decide(sent()).unwrap();
    let [Fact::PromptQueued { .. }, Fact::Noticed { message: notice }] = facts.as_slice() else {
        panic!("{facts:?}");
    };
    assert!(notice.text().contains("queued"), "{}", notice.text());
    task.push(sent()).unwrap();
    let again = task.0.decide(sent()).unwrap();
    assert!(again.is_empty(), "sent again it changes nothing");
}

#[test]
fn a_task_that_waits_for_a_person_rests_until_the_answer_comes() {
    let mut task = Task::with_calls(&["a"]);
    assert_eq!(task.0.next(), Some(Step::ContinueTurn { turn: 1 }));
    task.play("ask a");
    assert_eq!(task.0.next(), Some(Step::ContinueTurn { turn: 1 }), "the question is not out yet");
    task.record(asked()).unwrap();
    assert_eq!((task.0.next(), task.0.status.state), (None, TaskState::InputRequired));
    assert!(task.0.progress.is_settled());
    task.play("yes a");
    assert_eq!(task.0.next(), Some(Step::ContinueTurn { turn: 1 }));
    assert!(!task.0.progress.is_settled());
    assert_eq!(task.0.status.state, TaskState::Working, "an accepted answer is seen at once");
    assert!(!task.0.status.message.as_ref().is_some_and(|message| message.text().contains("May I")));
}

#[test]
fn a_waiting_task_can_be_cancelled_and_then_takes_no_answer() {
    let mut task = Task::with_calls(&["a"]);
    task.play("ask a");
    task.record(asked()).unwrap();
    task.push(Intent::Cancel).unwrap();
    assert_eq!(task.0.next(), Some(Step::Cancel));
    let fault = task.answer("a", "proceed_once", Verdict::Proceed).unwrap_err();
    assert!(matches!(fault, Fault::NothingToAnswer { .. }), "{fault}");
}

#[test]
fn an_answer_counts_once_and_only_to_what_was_asked() {
    let mut task = Task::with_calls(&["a", "b"]);
    let refused = |task: &mut Task, call: &str, choice: &str| {
        task.answer(call, choice, Verdict::Proceed).unwrap_err().to_string()
    };
    assert_eq!(refused(&mut task, "a", "proceed_once"), "the call \"a\" waits for no answer");
    task.play("ask a, ask b");
    assert_eq!(
        refused(&mut task, "a", "whatever"),
        "\"whatever\" is no answer to the call \"a\"; it takes: proceed_once, cancel"
    );
    assert_eq!(refused(&mut task, "x", "cancel"), "the call \"x\" waits for no answer; open are: a, b");
    task.play("yes a");
    let late = refused(&mut task, "a", "cancel");
    assert!(late.starts_with("the call \"a\" was answered already, with \"proceed_once\", at "), "{late}");
}

#[test]
fn only_an_edit_can_be_given_other_content() {
    let mut task = Task::with_calls(&["a"]);
    task.play("ask a");
    let refused = task.modify("a", Some("other")).unwrap_err().to_string();
    assert!(refused.contains("only what a file should hold can be changed"), "{refused}");
}

#[test]
fn a_call_is_answered_about_once_in_a_message() {
    let mut task = Task::with_calls(&["a"]);
    task.play("ask a");
    let answer = |choice: &str| CallAnswer {
        choice: choice.into(),
        question: None,
        verdict: Verdict::Proceed,
        new_content: None,
        answers: None,
        message: None,
        by: None,
    };
    let answers = vec![(id("a"), answer("proceed_once")), (id("a"), answer("cancel"))];
    let refused = task.push(Intent::Answer { answers, prompt: None }).unwrap_err().to_string();
    assert!(refused.contains("once, not twice"), "{refused}");
}

#[test]
fn calls_that_are_open_end_with_the_task() {
    let mut task = Task::with_calls(&["a", "b"]);
    task.play("allow a, ask b, start a");
    task.push(Intent::Cancel).unwrap();
    task.record(Fact::TaskCanceled).unwrap();
    let ended =
        |call: &&std::sync::Arc<attache_domain::CallRecord>| call.outcome == Some(CallOutcome::Canceled);
    assert_eq!(task.0.call_records.calls.iter().filter(ended).count(), 2);
}

#[test]
fn facts_out_of_order_are_refused() {
    let mut task = Task::with_calls(&["a"]);
    let start = Fact::CallStarted { call: id("a"), digest: Digest("0".into()), mark: None };
    for fact in [start, asked(), answer(&["b"]), finished("x"), proposed("x", false, &[])] {
        assert!(task.record(fact.clone()).is_err(), "{fact:?}");
    }
    task.play("allow a, start a, finish a");
    for fact in [finished("a"), proposed("a", false, &[])] {
        assert!(task.record(fact.clone()).is_err(), "{fact:?}");
    }
}

#[test]
fn results_come_once_all_are_there_in_the_order_of_the_calls() {
    let mut task = Task::with_calls(&["a", "b"]);
    task.play("allow a, allow b, start a, start b, finish b");
    assert_eq!(task.0.exchanges.len(), 1);
    task.play("finish a");
    let Exchange::Results(results) = task.0.exchanges[1].exchange.as_ref() else { panic!("results") };
    let texts: Vec<_> = results.iter().map(|result| &result.output[0]).collect();
    assert_eq!(texts, [&Content::Text("result of a".into()), &Content::Text("result of b".into())]);
    task.record(answer(&[])).unwrap();
    assert_eq!(task.0.usage.input, 20);
    task.record(Fact::TurnEnded { outcome: TurnOutcome::Completed, message: None, usage: None }).unwrap();
    assert_eq!(task.0.status.state, TaskState::Completed);
}
