//! Bare words count for the question that their sender has read; who answered stands in the history.

use std::sync::Arc;
use std::time::Duration;

use attache_domain::{
    APPROVAL, Answerer, CallAnswer, CallId, Digest, Event, Fact, Fault, Intent, Message, MessageId,
    ModelAnswer, ModelPart, ModelPartContent, OpenTask, Part, PartContent, Presentation, Preview, Proposal,
    ProposedCall, ReplyShape, ResponseEnd, Role, Scope, Seq, TaskEnding, TaskState, TaskView, Timestamp,
    ToolCall, TurnOutcome, Usage,
};
use attache_wire::read_answers;
use serde_json::{Map, Value, json};

struct Task {
    view: TaskView,
    now: Timestamp,
}

impl Task {
    fn started() -> Self {
        let opening = OpenTask {
            task: "t".into(),
            scope: Scope::new("", "me"),
            context: "c".into(),
            message: said("m", "do it"),
            digest: Digest("0".into()),
            reply: ReplyShape::Task,
            metadata: None,
            ending: TaskEnding::Completes,
            presentation: Presentation::default(),
        };
        let now = Timestamp::UNIX_EPOCH;
        let event = Event { seq: Seq(1), at: now, fact: opening.decide() };
        let mut task = Self { view: TaskView::open(&event).unwrap(), now };
        task.record(Fact::TurnStarted { turn: 1, model: None });
        task
    }

    /// The model wants a call, and a person is asked about it.
    fn asking(call: &str) -> Self {
        let mut task = Self::started();
        task.asks(call);
        task
    }

    /// The same with other choices.
    fn offering(choices: &[&str]) -> Self {
        let mut task = Self::started();
        let id = task.wants("a");
        task.proposes_with(&id, choices);
        task
    }

    fn asks(&mut self, call: &str) {
        let id = self.wants(call);
        self.proposes(&id);
    }

    fn wants(&mut self, call: &str) -> CallId {
        let id = CallId(call.into());
        let wanted = ToolCall { id: id.clone(), name: "tool".into(), input: Map::new() };
        let parts = vec![ModelPart { what: ModelPartContent::Call(wanted), opaque: None }];
        let (model, usage, end) = ("m".into(), Usage::default(), ResponseEnd::Done);
        self.record(Fact::ModelAnswered(Box::new(ModelAnswer { model, parts, usage, end })));
        id
    }

    fn proposes(&mut self, call: &CallId) {
        self.proposes_with(call, &["proceed_once", "modify_with_editor", "cancel"]);
    }

    fn proposes_with(&mut self, call: &CallId, choices: &[&str]) {
        let shown = Preview::Plain { summary: format!("do {} \u{200b}", call.0) };
        let proposal = Arc::new(Proposal { input: Map::new(), effects: Vec::new(), shown });
        let choices = choices.iter().map(|choice| (*choice).to_owned()).collect();
        let (alone, why) = (false, String::new());
        self.record(Fact::CallProposed(Box::new(ProposedCall {
            call: call.clone(),
            proposal,
            alone,
            choices,
            why,
            grants: Default::default(),
        })));
        let message = Message::from_agent(format!("ask-{}", call.0).into(), "c".into(), None, "May I?");
        self.record(Fact::PersonAsked { message: message.into(), auth: false });
    }

    fn record(&mut self, fact: Fact) {
        self.push(Intent::Record(fact)).unwrap();
    }

    fn push(&mut self, intent: Intent) -> Result<(), Fault> {
        for fact in self.view.decide(intent)? {
            let seq = self.view.progress.head.next();
            self.view.apply(&Event { seq, at: self.now, fact });
        }
        Ok(())
    }

    fn matches(&self, message: &Message, by: &Answerer) -> Result<Vec<(CallId, CallAnswer)>, String> {
        let answers = read_answers(message);
        self.view.match_answers(message, &answers, by, self.now).map_err(|fault| fault.to_string())
    }

    /// A client sends this; the error if it does not count.
    fn hears(&mut self, client: &str, id: &str, text: &str) -> Result<(), String> {
        let by = Answerer::new(&Scope::new("", "me"), Some(client), &MessageId::from(id));
        let answers = self.matches(&said(id, text), &by)?;
        let sign = |(call, answer)| (call, CallAnswer { by: Some(by.clone()), ..answer });
        let answers = answers.into_iter().map(sign).collect();
        self.push(Intent::Answer { answers, prompt: None }).map_err(|fault| fault.to_string())
    }

    fn finishes(&mut self, call: &str) {
        let call = CallId(call.into());
        self.record(Fact::CallStarted { call: call.clone(), digest: Digest("0".into()), mark: None });
        self.record(Fact::CallFinished(Box::new(attache_domain::FinishedCall {
            call,
            outcome: attache_domain::CallOutcome::Succeeded,
            output: Vec::new(),
            summary: String::new(),
            diff: None,
        })));
    }

    fn waits(&mut self, seconds: u64) {
        self.now += Duration::from_secs(seconds);
    }

    fn history(&self) -> Vec<String> {
        self.view.history.iter().map(|message| message.text()).collect()
    }
}

fn said(id: &str, text: &str) -> Message {
    Message { role: Role::User, ..Message::from_agent(id.into(), "c".into(), None, text) }
}

/// One client has answered about `one`, and `two` is asked about now.
fn moved_on() -> Task {
    let mut task = Task::asking("one");
    task.waits(60);
    task.hears("ann", "m1", "yes").unwrap();
    task.finishes("one");
    task.asks("two");
    task
}

fn me() -> Answerer {
    Answerer { client: "me".into(), message: None }
}

#[test]
fn a_bare_yes_of_another_client_right_after_the_question_changed_is_refused_with_the_question() {
    let mut task = moved_on();
    task.waits(9);
    let refused = task.hears("bob", "m2", "yes").unwrap_err();
    for words in ["me (ann)", "(one, proceed_once)", r"tool (two): do two \u{200b}", "`two: proceed_once`"] {
        assert!(refused.contains(words), "{words} in {refused}");
    }
    assert!(task.hears("bob", "m3", "all: yes").is_err(), "this names no call either");
    assert!(task.hears("bob", "m4", "two: yes").is_ok());
}

#[test]
fn bare_words_count_for_the_client_that_answered_before_and_for_all_after_a_while() {
    assert!(moved_on().hears("ann", "m2", "yes").is_ok());
    let mut task = moved_on();
    task.waits(10);
    assert!(task.hears("bob", "m2", "yes").is_ok());
    assert!(Task::asking("one").hears("bob", "m2", "yes").is_ok(), "nobody has answered before");
}

#[test]
fn a_bare_no_runs_nothing_and_always_counts() {
    assert!(moved_on().hears("bob", "m2", "no").is_ok());
}

#[test]
fn an_edit_that_another_client_has_changed_is_another_question() {
    let mut task = Task::asking("one");
    let by = Some(Answerer::new(&Scope::new("", "me"), Some("ann"), &MessageId::from("m1")));
    let answer = CallAnswer {
        choice: "modify_with_editor".into(),
        question: None,
        verdict: attache_domain::Verdict::Modify,
        new_content: Some("other".into()),
        answers: None,
        message: None,
        by,
    };
    task.push(Intent::Answer { answers: vec![(CallId("one".into()), answer)], prompt: None }).unwrap();
    task.proposes(&CallId("one".into()));
    assert!(task.hears("bob", "m2", "yes").is_err());
    assert!(task.hears("ann", "m3", "yes").is_ok());
}

#[test]
fn an_answer_stands_behind_its_question_with_its_author() {
    let mut task = Task::asking("one");
    task.hears("ann", "m1", "yes").unwrap();
    let status = &task.view.status;
    let told = status.message.as_ref().unwrap();
    let text = "Approved by me (ann) in the message m1: tool (one), proceed_once\ndo one \\u{200b}";
    assert_eq!((status.state, told.text().as_str()), (TaskState::Working, text), "told at once");
    assert_eq!(task.history(), ["do it", "May I?"]);
    task.finishes("one");
    task.record(Fact::TextSaid { text: "Done.".into(), last: true });
    task.record(Fact::TurnEnded { outcome: TurnOutcome::Completed, message: None, usage: None });
    assert_eq!(task.history(), ["do it", "May I?", text, "Done."]);
    let approval = &task.view.history[2].metadata.as_ref().unwrap()[APPROVAL];
    assert_eq!(approval["at"], "1970-01-01T00:00:00.000Z");
    assert_eq!((&approval["call"], &approval["choice"]), (&"one".into(), &"proceed_once".into()));
}

/// Is `text`, which `client` sends while no question is open, taken for a late answer?
fn is_late(task: &Task, client: &str, text: &str) -> bool {
    let by = Answerer::new(&Scope::new("", "me"), Some(client), &MessageId::from("late"));
    let refused = task.view.refuse_late_answer(&read_answers(&said("late", text)), &by, task.now);
    if let Err(fault) = &refused {
        assert!(matches!(fault, Fault::AlreadyAnswered { call, .. } if call == "one"), "{fault}");
    }
    refused.is_err()
}

#[test]
fn while_the_turn_goes_on_only_an_answer_is_late_from_any_client() {
    let mut task = Task::asking("one");
    assert!(!is_late(&task, "bob", "yes"), "it is asked");
    task.hears("ann", "m1", "yes").unwrap();
    task.waits(3600);
    for client in ["ann", "bob"] {
        for text in
            ["yes", " NO! ", "always", "proceed_once", "run again", "skip", "one: yes", "all: no", "yes\nno"]
        {
            assert!(is_late(&task, client, text), "{client}: {text}");
        }
        for text in ["yes please", "no, the other one", "two: yes", "one: fine", "", "proceed_twice"] {
            assert!(!is_late(&task, client, text), "{client}: {text}");
        }
    }
}

#[test]
fn once_the_turn_is_over_only_what_another_client_sends_at_once_is_late() {
    let mut task = Task::asking("one");
    task.hears("ann", "m1", "yes").unwrap();
    task.finishes("one");
    task.record(Fact::TurnEnded { outcome: TurnOutcome::InputRequired, message: None, usage: None });
    task.waits(9);
    assert!(is_late(&task, "bob", "yes") && !is_late(&task, "ann", "yes"));
    task.waits(1);
    assert!(!is_late(&task, "bob", "yes") && is_late(&task, "bob", "one: yes"));
}

#[test]
fn only_an_answer_and_nothing_else_is_a_clear_answer() {
    let task = Task::asking("one");
    let is_clear = |text: &str| task.view.progress.is_clear_answer(&read_answers(&said("m", text)));
    for text in ["yes", "No.", "ALWAYS", "cancel", "one: yes", "all: yes", "run again", "no\none: yes"] {
        assert!(is_clear(text), "{text}");
    }
    for text in [
        "",
        "yes please",
        "yes, do it",
        "I say yes",
        "no idea",
        "yes?",
        "okay then",
        "answer",
        "note: this",
        "Bob says: yes",
    ] {
        assert!(!is_clear(text), "{text}");
    }
}

/// The choice that `data` makes.
fn choice_in(task: &Task, data: Value) -> Result<String, String> {
    let mut message = said("m", "");
    message.parts = vec![Part::new(PartContent::Data(data))];
    Ok(task.matches(&message, &me())?.remove(0).1.choice)
}

#[test]
fn an_outcome_that_is_not_offered_means_the_nearest_that_is() {
    let once = &["proceed_once", "cancel"][..];
    let command = &["proceed_once", "proceed_always", "cancel"][..];
    let server = &["proceed_once", "proceed_always_tool", "proceed_always_server", "cancel"][..];
    let tool_only = &["proceed_once", "proceed_always_tool", "cancel"][..];
    let all = ["proceed_always", "proceed_always_tool", "proceed_always_server", "proceed_always_and_save"];
    let expected = [
        (once, ["proceed_once"; 4]),
        (command, ["proceed_always"; 4]),
        (tool_only, ["proceed_always_tool"; 4]),
        (
            server,
            ["proceed_always_tool", "proceed_always_tool", "proceed_always_server", "proceed_always_tool"],
        ),
    ];
    for (choices, expected) in expected {
        let task = Task::offering(choices);
        for (outcome, expected) in all.iter().zip(expected) {
            let read = choice_in(&task, json!({"callId": "a", "outcome": outcome}));
            assert_eq!(read.as_deref(), Ok(expected), "{outcome} of {choices:?}");
            let exactly = choice_in(&task, json!({"call": "a", "choice": outcome}));
            assert_eq!(exactly.is_ok(), choices.contains(outcome), "{outcome} of {choices:?}");
        }
        assert!(choice_in(&task, json!({"callId": "a", "outcome": "modify_with_editor"})).is_err());
    }
}

#[test]
fn the_question_about_a_lost_call_takes_its_own_words() {
    let task = Task::offering(&["run_again", "skip", "cancel"]);
    let choice = |text: &str| Ok::<_, String>(task.matches(&said("m", text), &me())?.remove(0).1.choice);
    for words in ["run again", "Again!", "run_again", "all: rerun", "a: run again"] {
        assert_eq!(choice(words).as_deref(), Ok("run_again"), "{words}");
    }
    for words in ["no", "cancel", "stop"] {
        assert_eq!(choice(words).as_deref(), Ok("cancel"), "{words}");
    }
    for words in ["yes", "ok", "always", "proceed_once", "all: yes"] {
        let refused = choice(words).unwrap_err();
        assert!(refused.contains("it takes: run_again, skip, cancel"), "{words}: {refused}");
    }
}
