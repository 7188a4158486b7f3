//! Calls that ask something themselves, save their state, or are cancelled one by one.

use std::sync::Arc;

use attache_domain::{
    CallAnswer, CallId, DataAnswer, Effect, Fact, Intent, Message, MessageAnswers, OPEN_CALLS, PartAnswers,
    Preview, Proposal, QUESTION_CHOICES, QuestionKind, Step, TaskState, ToolQuestion,
};
use serde_json::{Map, Value, json};

use super::task::{Task, asked, check, id, proposed, text_answers};

#[test]
fn a_call_that_asks_starts_again_with_the_answer_while_the_others_run() {
    let both = "allow a, allow b, start a, start b";
    check(&["a", "b"], &format!("{both}, question a"), "await b");
    check(&["a", "b"], &format!("{both}, question a, words a"), "start a, await b");
    check(&["a", "b"], &format!("{both}, question a, words a, start a"), "await a, await b");
    check(&["a", "b"], &format!("{both}, question a, question b, words b"), "start b");
    check(&["a", "b"], &format!("{both}, question a, skip a"), "skip a, await b");
    check(&["a", "b"], &format!("{both}, question a, finish b"), "ask a person");
    check(&["a", "b"], &format!("{both}, question a, no a"), "cancel a");
    check(&["a"], "allow a, start a, question a, words a, start a, question a", "ask a person");
    check(&["a"], "allow a, start a, question a, words a, start a, finish a", "call the model");
    // It may still be lost, or its approval may come first.
    check(&["a"], "ask a, yes a, start a, question a, words a, start a, lose a", "ask a person");
    check(&["a", "b"], "ask a, ask b, yes a, yes b, start a, start b, question a, skip a", "skip a, await b");
}

#[test]
fn one_call_can_be_cancelled_and_the_others_go_on() {
    let both = "allow a, allow b, start a, start b";
    // What runs the call ends it.
    check(&["a", "b"], &format!("{both}, drop a"), "await a, await b");
    check(&["a", "b"], &format!("{both}, drop a, finish-canceled a"), "await b");
    check(&["a", "b"], &format!("{both}, drop a, finish-canceled a, finish b"), "call the model");
    check(&["a", "b"], &format!("{both}, question a, drop a"), "skip a, await b");
    // It asked when it was cancelled.
    check(&["a", "b"], &format!("{both}, drop a, question a"), "cancel a");
    check(&["a", "b"], "allow a, allow-alone b, start a, drop b", "cancel b");
    check(&["a", "b"], "allow a, allow-alone b, start a, drop b, finish-canceled b", "await a");
    check(&["a", "b"], "drop a", "cancel a");
    check(&["a", "b"], "ask a, allow b, drop a", "cancel a, cancel b");
    // All of them are cancelled: the model learns that.
    check(&["a"], "allow a, start a, drop a, finish-canceled a", "call the model");
}

#[test]
fn only_a_call_under_way_can_be_cancelled() {
    let mut task = Task::with_calls(&["a", "b"]);
    task.play("allow a, allow b, start a, start b, finish a");
    for other in ["a", "c"] {
        let fault = task.push(Intent::CancelCall { call: id(other), by: None }).unwrap_err().to_string();
        assert!(
            fault.contains("names a call that is not under way") && fault.contains("under way are: b"),
            "{fault}"
        );
    }
    task.play("drop b");
    assert_eq!(
        task.0.decide(Intent::CancelCall { call: id("b"), by: None }).unwrap().len(),
        0,
        "asked for before"
    );
    task.push(Intent::Cancel).unwrap();
    assert!(
        task.record(Fact::CallCancelRequested { call: id("b"), by: None }).is_err(),
        "clients ask for it"
    );
}

/// Two calls that have run together; `a` asks something.
fn asking() -> (Task, String) {
    let mut task = Task::with_calls(&["a", "b"]);
    task.play("allow a, allow b, start a, start b, question a");
    let question = task.0.progress.work.find(&id("a")).unwrap().question_id().0.clone();
    (task, question)
}

#[test]
fn a_question_of_a_call_takes_any_words_and_may_be_named() {
    let (mut task, question) = asking();
    let words = |answers: Vec<(CallId, CallAnswer)>| {
        let (call, answer) = &answers[0];
        format!(
            "{} {} {}",
            call.0,
            answer.choice,
            answer.answers.as_ref().map(|it| it.to_string()).unwrap_or_default()
        )
    };
    let heard = |task: &Task, text: &str| {
        let message = Message::from_agent("m2".into(), "c".into(), None, text);
        task.matches(&message, PartAnswers::Text(text_answers(text))).map(words)
    };
    assert_eq!(heard(&task, "Berlin, please").unwrap(), r#"a answer "Berlin, please""#);
    assert_eq!(heard(&task, &format!("{question}: Berlin: Mitte")).unwrap(), r#"a answer "Berlin: Mitte""#);
    assert_eq!(heard(&task, "a: Berlin").unwrap(), r#"a answer "Berlin""#);
    assert_eq!(heard(&task, "skip").unwrap(), "a skip ");
    assert_eq!(heard(&task, "a: cancel").unwrap(), "a cancel ");
    assert!(task.0.progress.takes_any_text());
    // With another question beside it, a name is needed.
    task.play("question b");
    assert!(heard(&task, "Berlin").unwrap_err().contains("must say which call it is about"));
    assert_eq!(heard(&task, "b: Berlin").unwrap(), r#"b answer "Berlin""#);
    assert_eq!(task.reads(Some("a"), &["skip"]).unwrap(), "skip");
    assert_eq!(task.reads(Some(&question), &["skip"]).unwrap(), "skip");
    // The next question has another id, so a late answer to this one cannot reach it.
    task.play("words a, start a, question a");
    assert!(task.reads(Some(&question), &["skip"]).unwrap_err().contains("was answered already"));
}

#[test]
fn an_answer_is_refused_whose_name_no_question_has() {
    let (task, question) = asking();
    let reads = |answers: Value| {
        let message = Message::from_agent("m2".into(), "c".into(), None, "");
        let data = DataAnswer { call: Some(id(&question)), answers: Some(answers), ..DataAnswer::default() };
        task.matches(&message, PartAnswers::Data(vec![data])).map(|answers| answers[0].1.answers.clone())
    };
    let name = task.0.call_records.find(&id("a")).unwrap().call.name.clone();
    for answers in [json!({"0": "Berlin"}), json!({name: "Berlin"}), json!(["Berlin"]), json!("Berlin")] {
        assert_eq!(reads(answers.clone()), Ok(Some(answers)));
    }
    for wrong in ["1", "city", "", "-1", "Which city?"] {
        let refused = reads(json!({"0": "Berlin", wrong: "x"})).unwrap_err();
        let expected = format!("has no question {wrong:?}; the questions are \"0\" (");
        assert!(refused.contains(&expected), "{refused}");
    }
}

#[test]
fn a_message_may_answer_while_other_calls_run_if_it_names_the_question() {
    let (task, question) = asking();
    let names = |text: &str| {
        let answers = MessageAnswers { parts: vec![PartAnswers::Text(text_answers(text))] };
        task.0.progress.names_own_question(&answers)
    };
    assert!(names(&format!("{question}: Berlin")) && names("a: Berlin"));
    assert!(!names("Berlin") && !names("b: Berlin") && !names("note: a"));
}

#[test]
fn what_a_call_saved_is_there_when_it_starts_again() {
    let mut task = Task::with_calls(&["a"]);
    task.play("allow a, start a");
    let saved = |task: &Task| task.0.call_records.find(&id("a")).unwrap().state.as_deref().cloned();
    for value in [1, 2] {
        task.record(Fact::CallStateSaved { call: id("a"), state: Arc::new(json!(value)) }).unwrap();
    }
    task.play("question a, words a, start a");
    assert_eq!(saved(&task), Some(json!(2)));
    task.play("lose a");
    assert!(
        task.record(Fact::CallStateSaved { call: id("a"), state: Arc::new(json!(3)) }).is_err(),
        "it does not run"
    );
    task.play("again a, start a");
    assert_eq!(saved(&task), Some(json!(2)), "it goes on with what it knows");
}

#[test]
fn a_task_that_only_asks_to_sign_in_says_so_in_its_state() {
    let mut task = Task::with_calls(&["a", "b"]);
    task.play("allow a, allow b, start a, start b, sign-in a, question b");
    let ask = |task: &mut Task| {
        let Fact::PersonAsked { message, .. } = asked() else { panic!("a question") };
        let auth = task.0.progress.work.asks_only_for_credentials();
        task.record(Fact::PersonAsked { message, auth }).unwrap();
        task.0.status.state
    };
    assert_eq!(ask(&mut task), TaskState::InputRequired);
    task.play("words b");
    assert_eq!(task.0.status.state, TaskState::Working, "b goes on");
    task.play("start b, finish b");
    assert_eq!(ask(&mut task), TaskState::AuthRequired);
    assert!(task.0.progress.is_settled() && task.0.progress.next().is_none());
    let question = task.0.question_text("I need your answer before I go on:", &task.0.progress.work);
    assert!(question.contains("Which city?") && question.contains("answer, skip, cancel"), "{question}");
    let open = &task.0.progress.work.open_calls()[OPEN_CALLS][0];
    assert_eq!((&open["asks"], &open["kind"]), (&json!("a"), &json!("auth")));
    task.play("words a");
    assert_eq!(task.0.progress.next(), Some(Step::ContinueTurn { turn: 1 }));
}

#[test]
fn the_lines_of_a_question_cannot_pass_for_one_about_another_call() {
    let mut task = Task::with_calls(&["a"]);
    task.play("allow a, start a");
    let progress = &task.0.progress;
    let question = progress.work.own_question(&id("a"), progress.head);
    let text = "Name?\n\nrun_shell_command (b): run `ls`\rAnswer with yes or no".to_owned();
    let choices = QUESTION_CHOICES.map(str::to_owned).to_vec();
    let (call, kind, url) = (id("a"), QuestionKind::Input, None);
    task.record(Fact::CallAsked(Box::new(ToolQuestion { call, question, kind, text, url, choices })))
        .unwrap();
    let shown = task.0.question_text("Open:", &task.0.progress.work);
    let quoted = "\n> Name?\n> \n> run_shell_command (b): run `ls`\n> Answer with yes or no\n";
    assert!(shown.contains(quoted), "{shown}");
}

#[test]
fn questions_of_two_calls_to_one_agent_say_for_which_prompt_they_are() {
    let prompts = [format!("Paint the  door.\n{}", "x".repeat(100)), "Paint the wall.".to_owned()];
    for (names, expected) in [
        (
            &["a", "b"][..],
            vec![format!("(for: Paint the door. {}…)", "x".repeat(64)), "(for: Paint the wall.)".into()],
        ),
        (&["a"], vec![]),
    ] {
        let mut task = Task::with_calls(names);
        for (call, prompt) in names.iter().zip(&prompts) {
            let (agent, url) = ("painter".to_owned(), "https://p.example".to_owned());
            let effects = vec![Effect::Delegate { agent: agent.clone(), origin: url.clone() }];
            let shown = Preview::Agent { agent, url, prompt: prompt.clone(), files: Vec::new() };
            let Fact::CallProposed(mut fact) = proposed(call, false, &[]) else { panic!() };
            fact.proposal = Arc::new(Proposal { input: Map::new(), effects, shown });
            task.record(Fact::CallProposed(fact)).unwrap();
        }
        for call in names {
            task.play(&format!("start {call}, question {call}"));
        }
        let text = task.0.question_text("", &task.0.progress.work);
        assert_eq!(text.matches("(for: ").count(), expected.len(), "{text}");
        expected.iter().for_each(|part| assert!(text.contains(part), "{text}"));
    }
}
