//! Facts that become events, as a server would make them.

use std::sync::Arc;

use attache_domain::{
    Access, AccessLevel, Answerer, CallAnswer, CallId, CallOutcome, CallRecords, Content, ContextId, Digest,
    Effect, Event, Fact, FinishedCall, ModelAnswer, ModelPart, ModelPartContent, Presentation, Preview,
    Proposal, ProposedCall, QUESTION_CHOICES, QuestionKind, ReplyShape, Seq, TaskId, TextPhase, ToolCall,
    ToolQuestion, Turn, TurnPhase, UpdateContext, Usage, Verdict, devtool_event_of,
};
use attache_wire::JsonForm;
use attache_wire::devtool::{DevtoolFrame, Dialect};
use serde_json::{Map, Value, json};

use crate::fixture::{object, time};

/// An event with what stood before and after it.
pub(crate) struct RecordedEvent {
    pub(crate) stage: UpdateContext,
    pub(crate) call_records: Arc<CallRecords>,
    pub(crate) event: Event,
}

pub(crate) fn tell(facts: Vec<Fact>) -> Vec<RecordedEvent> {
    let turn = Turn { number: 1, phase: TurnPhase::Due, emitted: 0, text: TextPhase::Silent, asked: false };
    let mut stage = UpdateContext { reply: ReplyShape::Task, presentation: Presentation::default(), turn };
    let mut call_records = Arc::new(CallRecords::default());
    let mut told = Vec::new();
    for (fact, seq) in facts.into_iter().zip(2..) {
        call_records = call_records.after(&fact);
        let after = stage.after(&fact);
        told.push(RecordedEvent {
            stage,
            call_records: call_records.clone(),
            event: Event { seq: Seq(seq), at: time(7), fact },
        });
        stage = after;
    }
    told
}

impl RecordedEvent {
    /// The bytes of the event for a client of the RFC's dialect; none where it sees nothing.
    pub(crate) fn written(&self, json_form: JsonForm) -> Option<Vec<u8>> {
        self.written_for(Dialect::Developer, json_form)
    }

    /// The same for a client of another dialect of the extension.
    pub(crate) fn written_for(&self, dialect: Dialect, json_form: JsonForm) -> Option<Vec<u8>> {
        let event = devtool_event_of(&self.stage, &self.call_records, &self.event)?;
        if !dialect.shows(&event) {
            return None;
        }
        let frame = DevtoolFrame {
            task: &TaskId::from("t-1"),
            context: &ContextId::from("c-1"),
            seq: self.event.seq,
            at: self.event.at,
            stage: &self.stage,
            call_records: &self.call_records,
            event,
        };
        let mut out = Vec::new();
        dialect.write(json_form, &frame, &mut out);
        Some(out)
    }

    pub(crate) fn encoded(&self, json_form: JsonForm) -> Option<Value> {
        Some(serde_json::from_slice(&self.written(json_form)?).unwrap())
    }
}

/// The tool calls that a client of A2A 0.3 sees, one after the other.
pub(crate) fn calls(facts: Vec<Fact>) -> Vec<Value> {
    let events = tell(facts).into_iter().filter_map(|told| told.encoded(JsonForm::V0_3Rpc));
    let data = events.map(|event| event["status"]["message"]["parts"][0]["data"].clone());
    data.filter(|data| data["tool_call_id"].is_string()).collect()
}

pub(crate) fn last_call(facts: Vec<Fact>) -> Value {
    calls(facts).pop().expect("a call that was told of")
}

/// A turn in which a model wants this.
pub(crate) fn wants(name: &str, input: Value) -> Vec<Fact> {
    let call = ToolCall { id: id(), name: name.into(), input: object(input) };
    let said = ModelPart { what: ModelPartContent::Call(call), opaque: None };
    let usage = Usage::default();
    let answer = ModelAnswer { model: "model-1".into(), parts: vec![said], usage, end: Default::default() };
    vec![Fact::TurnStarted { turn: 1, model: None }, Fact::ModelAnswered(Box::new(answer))]
}

pub(crate) fn proposed(shown: Preview, choices: &[&str]) -> Fact {
    let input = match &shown {
        Preview::Exec { command, .. } => object(json!({ "command": command })),
        Preview::Edit { path, new_content, .. } => {
            object(json!({ "file_path": path, "content": new_content }))
        }
        Preview::Questions { questions } => object(json!({ "questions": questions })),
        _ => Map::new(),
    };
    proposed_with(input, shown, choices)
}

pub(crate) fn proposed_with(input: Map<String, Value>, shown: Preview, choices: &[&str]) -> Fact {
    let effects = match &shown {
        Preview::Exec { command, directory, .. } => {
            let (command, directory) = (command.clone(), directory.clone());
            vec![Effect::Run { command, directory, access: Access::new(AccessLevel::Work) }]
        }
        Preview::Agent { agent, .. } => {
            let origin = "https://agents.example".to_owned();
            vec![Effect::Delegate { agent: agent.clone(), origin }]
        }
        _ => Vec::new(),
    };
    let proposal = Arc::new(Proposal { input, effects, shown });
    let choices = choices.iter().map(|choice| (*choice).to_owned()).collect();
    Fact::CallProposed(Box::new(ProposedCall {
        call: id(),
        proposal,
        alone: false,
        choices,
        grants: Default::default(),
        why: "a rule".into(),
    }))
}

pub(crate) fn answered(choice: &str, verdict: Verdict) -> Fact {
    answered_with(choice, verdict, None)
}

pub(crate) fn answered_with(choice: &str, verdict: Verdict, new_content: Option<&str>) -> Fact {
    let new_content = new_content.map(str::to_owned);
    let by = Some(Answerer { client: "ann".into(), message: None });
    let choice = choice.into();
    let answer =
        CallAnswer { choice, question: None, verdict, new_content, answers: None, message: None, by };
    Fact::CallAnswered { call: id(), answer: Box::new(answer) }
}

pub(crate) fn started() -> Fact {
    Fact::CallStarted { call: id(), digest: Digest("00".into()), mark: None }
}

pub(crate) fn showed(text: &str) -> Fact {
    Fact::CallShowed { call: id(), text: text.into() }
}

pub(crate) fn lost() -> Fact {
    let choices = attache_domain::LOST_CHOICES.map(str::to_owned).to_vec();
    Fact::CallLost { call: id(), choices, question: Some(CallId("lost-9-1".into())) }
}

/// The call ends its run with a question of the agent that it has asked.
pub(crate) fn asks(text: &str) -> Fact {
    Fact::CallAsked(Box::new(ToolQuestion {
        call: id(),
        question: CallId("ask-9-1".into()),
        kind: QuestionKind::Auth,
        text: text.into(),
        url: Some("https://agents.example/login".into()),
        choices: QUESTION_CHOICES.map(str::to_owned).to_vec(),
    }))
}

pub(crate) fn agent(prompt: &str) -> Preview {
    let (agent, url) = ("weather".into(), "https://agents.example/a2a".into());
    Preview::Agent { agent, url, prompt: prompt.into(), files: vec!["map.png".into()] }
}

pub(crate) fn finished(outcome: CallOutcome, text: &str, summary: &str) -> Fact {
    finished_with(outcome, vec![Content::Text(text.into())], summary, None)
}

pub(crate) fn finished_with(
    outcome: CallOutcome,
    output: Vec<Content>,
    summary: &str,
    diff: Option<&str>,
) -> Fact {
    let (summary, diff) = (summary.to_owned(), diff.map(str::to_owned));
    Fact::CallFinished(Box::new(FinishedCall { call: id(), outcome, output, summary, diff }))
}

pub(crate) fn failed(kind: &str) -> CallOutcome {
    CallOutcome::Failed { kind: kind.into() }
}

fn id() -> CallId {
    CallId("k1".into())
}
