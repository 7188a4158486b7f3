//! A task whose model has asked for calls.

use std::sync::Arc;

use attache_domain::{
    AnswerLine, Answerer, CallAnswer, CallId, CallOutcome, CallStep, Content, DataAnswer, Digest, Event,
    Fact, Fault, FinishedCall, GivenChoice, Intent, LOST_CHOICES, Message, MessageAnswers, MessageId,
    ModelAnswer, ModelPart, ModelPartContent, NamedAnswer, NamedWords, OpenTask, PartAnswers, Presentation,
    Preview, Proposal, ProposedCall, QUESTION_CHOICES, QuestionKind, RUN_AGAIN, ReplyShape, ResponseEnd,
    Role, Scope, Seq, TaskView, TextAnswers, Timestamp, ToolCall, ToolQuestion, TurnEnd, Usage, Verdict,
};
use serde_json::{Map, json};

/// Long after every question was asked.
const LATER: Timestamp = Timestamp::constant(3600, 0);

pub(crate) struct Task(pub(crate) TaskView);

impl Task {
    /// A task whose model has just asked for `calls`.
    pub(crate) fn with_calls(calls: &[&str]) -> Self {
        let message =
            Message { role: Role::User, ..Message::from_agent("m".into(), "c".into(), None, "do it") };
        let opening = OpenTask {
            task: "t".into(),
            scope: Scope::new("", "me"),
            context: "c".into(),
            message,
            digest: Digest("0".into()),
            reply: ReplyShape::Task,
            metadata: None,
            ending: attache_domain::TaskEnding::Completes,
            presentation: Presentation::default(),
        };
        let event = Event { seq: Seq(1), at: Timestamp::UNIX_EPOCH, fact: opening.decide() };
        let mut task = Self(TaskView::open(&event).unwrap());
        task.record(Fact::TurnStarted { turn: 1, model: None }).unwrap();
        task.record(answer(calls)).unwrap();
        task
    }

    pub(crate) fn push(&mut self, intent: Intent) -> Result<(), Fault> {
        for fact in self.0.decide(intent)? {
            let seq = self.0.progress.head.next();
            self.0.apply(&Event { seq, at: Timestamp::UNIX_EPOCH, fact });
        }
        Ok(())
    }

    pub(crate) fn record(&mut self, fact: Fact) -> Result<(), Fault> {
        self.push(Intent::Record(fact))
    }

    pub(crate) fn answer(&mut self, call: &str, choice: &str, verdict: Verdict) -> Result<(), Fault> {
        let asked = self.0.progress.work.find(&id(call));
        let answer = CallAnswer {
            choice: choice.into(),
            question: asked.and_then(|asked| asked.question.clone()),
            verdict,
            new_content: None,
            answers: (choice == "answer").then(|| json!("Berlin")),
            message: None,
            by: None,
        };
        self.push(Intent::Answer { answers: vec![(id(call), answer)], prompt: None })
    }

    pub(crate) fn modify(&mut self, call: &str, content: Option<&str>) -> Result<(), Fault> {
        let answer = CallAnswer {
            choice: "proceed_once".into(),
            question: None,
            verdict: Verdict::Modify,
            new_content: content.map(str::to_owned),
            answers: None,
            message: None,
            by: None,
        };
        self.push(Intent::Answer { answers: vec![(id(call), answer)], prompt: None })
    }

    pub(crate) fn lose(&mut self, call: &str) -> Result<(), Fault> {
        let progress = &self.0.progress;
        let question = Some(progress.work.lost_question(&id(call), progress.head));
        let choices = LOST_CHOICES.map(str::to_owned).to_vec();
        self.record(Fact::CallLost { call: id(call), choices, question })
    }

    /// The run of `call` ends with a question.
    pub(crate) fn question(&mut self, call: &str, kind: QuestionKind) -> Result<(), Fault> {
        let progress = &self.0.progress;
        let question = progress.work.own_question(&id(call), progress.head);
        let choices = QUESTION_CHOICES.map(str::to_owned).to_vec();
        let (text, url) = ("Which city?".to_owned(), None);
        self.record(Fact::CallAsked(Box::new(ToolQuestion {
            call: id(call),
            question,
            kind,
            text,
            url,
            choices,
        })))
    }

    /// The answers that `message` gives to the open questions.
    pub(crate) fn matches(
        &self,
        message: &Message,
        part: PartAnswers,
    ) -> Result<Vec<(CallId, CallAnswer)>, String> {
        let answers = MessageAnswers { parts: vec![part] };
        let me = Answerer { client: "me".into(), message: None };
        let matched = self.0.match_answers(message, &answers, &me, LATER);
        matched.map_err(|fault| fault.to_string())
    }

    /// The answers that `text`, one line, gives to the open questions.
    pub(crate) fn hears(&self, text: &str) -> Result<Vec<(String, String)>, String> {
        let message = Message::from_agent("m2".into(), "c".into(), None, text);
        let answers = self.matches(&message, PartAnswers::Text(text_answers(text)))?;
        Ok(answers.into_iter().map(|(call, answer)| (call.0, answer.choice)).collect())
    }

    /// The choice that data about `call` makes; the first of `choices` that is offered is meant.
    pub(crate) fn reads(&self, call: Option<&str>, choices: &[&'static str]) -> Result<String, String> {
        let message = Message::from_agent("m2".into(), "c".into(), None, "");
        let data = DataAnswer { call: call.map(id), choice: Some(given(choices)), ..DataAnswer::default() };
        let answers = self.matches(&message, PartAnswers::Data(vec![data]))?;
        Ok(answers[0].1.choice.clone())
    }

    /// Carries out a line of `what call` words and says what is to be done then.
    pub(crate) fn play(&mut self, line: &str) -> String {
        for act in line.split(", ").filter(|act| !act.is_empty()) {
            let (what, call) = act.split_once(' ').unwrap();
            match what {
                "ask" => self.record(proposed(call, false, &["proceed_once", "cancel"])),
                "ask-edit" => {
                    self.record(proposed(call, false, &["proceed_once", "modify_with_editor", "cancel"]))
                }
                "ask-alone" => self.record(proposed(call, true, &["proceed_once", "cancel"])),
                "allow" => self.record(proposed(call, false, &[])),
                "allow-alone" => self.record(proposed(call, true, &[])),
                "yes" => self.answer(call, "proceed_once", Verdict::Proceed),
                "no" => self.answer(call, "cancel", Verdict::Refuse),
                "start" => {
                    self.record(Fact::CallStarted { call: id(call), digest: Digest("0".into()), mark: None })
                }
                "finish" => self.record(finished(call)),
                "finish-canceled" => self.record(canceled(call)),
                "defer" => self.record(Fact::CallDeferred { call: id(call), until: id("a") }),
                "lose" => self.lose(call),
                "again" => self.answer(call, RUN_AGAIN, Verdict::Proceed),
                "skip" => self.answer(call, "skip", Verdict::Skip),
                "modify" => self.modify(call, Some("other")),
                "question" => self.question(call, QuestionKind::Input),
                "sign-in" => self.question(call, QuestionKind::Auth),
                "words" => self.answer(call, "answer", Verdict::Proceed),
                "drop" => self.push(Intent::CancelCall { call: id(call), by: None }),
                other => panic!("{other}"),
            }
            .unwrap_or_else(|fault| panic!("{act}: {fault}"));
        }
        let shown = |step: CallStep| match step {
            CallStep::Propose(call) => format!("propose {}", call.0),
            CallStep::Start(call) => format!("start {}", call.0),
            CallStep::Cancel(call) => format!("cancel {}", call.0),
            CallStep::Skip(call) => format!("skip {}", call.0),
            CallStep::Await(call) => format!("await {}", call.0),
            CallStep::AskPerson => "ask a person".into(),
            CallStep::CallModel => "call the model".into(),
            CallStep::Settle(TurnEnd::Spoken(end)) => format!("settle {end:?}"),
            CallStep::Settle(TurnEnd::Declined) => "settle declined".into(),
        };
        self.0.progress.work.steps().into_iter().map(shown).collect::<Vec<_>>().join(", ")
    }
}

pub(crate) fn given(choices: &[&'static str]) -> GivenChoice {
    let given = choices[0].to_owned();
    GivenChoice { given, choices: choices.iter().map(|choice| (*choice).into()).collect(), is_answer: true }
}

/// The whole text as one line, and as words before and after its first colon.
pub(crate) fn text_answers(text: &str) -> TextAnswers {
    let words = |start: usize| {
        let words = text[start..].trim();
        let start = words.as_ptr() as usize - text.as_ptr() as usize;
        start..start + words.len()
    };
    let named = text.find(':');
    let named = named.map(|at| NamedWords { name: text[..at].trim().to_owned(), words: words(at + 1) });
    TextAnswers { words: words(0), named, lines: vec![line(text.trim())] }
}

/// A line as the edge reads it: `CHOICE` or `NAME: CHOICE`.
fn line(text: &str) -> AnswerLine {
    let choice = |word: &str| match word {
        "yes" => given(&["proceed_once"]),
        word => GivenChoice { given: word.into(), choices: vec![word.to_owned().into()], is_answer: true },
    };
    let named = text.rsplit_once(": ").map(|(name, word)| NamedAnswer {
        name: name.into(),
        is_all: name == "all",
        choice: choice(word),
    });
    let is_answer = named.is_none();
    AnswerLine { whole: GivenChoice { is_answer, ..choice(text) }, named }
}

pub(crate) fn id(call: &str) -> CallId {
    CallId(call.into())
}

pub(crate) fn answer(calls: &[&str]) -> Fact {
    let call = |name: &&str| ModelPart {
        what: ModelPartContent::Call(ToolCall { id: id(name), name: "tool".into(), input: Map::new() }),
        opaque: None,
    };
    let usage = Usage { input: 10, output: 2, ..Usage::default() };
    Fact::ModelAnswered(Box::new(ModelAnswer {
        model: "m".into(),
        parts: calls.iter().map(call).collect(),
        usage,
        end: ResponseEnd::Done,
    }))
}

pub(crate) fn proposed(call: &str, alone: bool, choices: &[&str]) -> Fact {
    let shown = Preview::Plain { summary: String::new() };
    Fact::CallProposed(Box::new(ProposedCall {
        call: id(call),
        proposal: Arc::new(Proposal { input: Map::new(), effects: Vec::new(), shown }),
        alone,
        choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
        grants: Default::default(),
        why: String::new(),
    }))
}

pub(crate) fn finished(call: &str) -> Fact {
    Fact::CallFinished(Box::new(FinishedCall {
        call: id(call),
        outcome: CallOutcome::Succeeded,
        output: vec![Content::Text(format!("result of {call}"))],
        summary: String::new(),
        diff: None,
    }))
}

pub(crate) fn canceled(call: &str) -> Fact {
    let Fact::CallFinished(mut finished) = finished(call) else { panic!("a finished call") };
    finished.outcome = CallOutcome::Canceled;
    Fact::CallFinished(finished)
}

pub(crate) fn asked() -> Fact {
    Fact::PersonAsked {
        message: Arc::new(Message::from_agent(MessageId::from("q"), "c".into(), None, "May I?")),
        auth: false,
    }
}

#[track_caller]
pub(crate) fn check(calls: &[&str], line: &str, expected: &str) {
    assert_eq!(Task::with_calls(calls).play(line), expected, "after {line:?}");
}
