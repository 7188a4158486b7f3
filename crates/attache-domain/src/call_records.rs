//! The calls of the latest answer, with everything that clients are shown about them.
//!
//! Every event in memory has one beside it, so it is shared, and copied only when a call changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    AGENT_MODEL, COMMAND_MODEL, CallAnswer, CallId, CallOutcome, CallPhase, Fact, FinishedCall, ModelAnswer,
    ModelPartContent, Preview, Proposal, QuestionKind, ToolCall, ToolQuestion, ToolResult, excerpt,
};

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CallRecords {
    /// The model that answers, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Arc<str>>,
    /// The provider's id of the current answer, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Arc<str>>,
    /// Counts the texts that belong together: one for each answer of the model, and one for each text after a withdrawal.
    #[serde(default, rename = "breath")]
    pub text_number: u32,
    /// The calls of the latest answer, in its order.
    pub calls: Vec<Arc<CallRecord>>,
}

/// Letters of a prompt that tell a call from others.
const MAX_PROMPT_LETTERS: usize = 80;

/// One call of the latest answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallRecord {
    pub call: ToolCall,
    /// The provider's id of the answer that made the call, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Arc<str>>,
    pub phase: CallPhase,
    pub proposal: Option<Arc<Proposal>>,
    /// The rule that decided, for people.
    pub why: String,
    /// The choices that the open question offers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// What each lasting choice would allow, as a sentence, by the id of the choice.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub grants: BTreeMap<String, String>,
    /// It was running when the server stopped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lost: bool,
    /// The id of the question that was asked after the call was lost. From then on clients know the call by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<CallId>,
    /// The open question of the call itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<Arc<OpenQuestion>>,
    /// What it saved last, in order to go on after a restart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Arc<Value>>,
    pub answer: Option<CallAnswer>,
    /// The end of its output while it ran.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub live: String,
    /// The number of pieces of output since it last started.
    #[serde(default)]
    pub shown: u32,
    /// The mark on its processes, since it last started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
    /// The result for the model.
    pub result: Option<ToolResult>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<CallOutcome>,
    /// The result for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// Its change as a unified diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// An open question of a call itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenQuestion {
    pub id: CallId,
    pub kind: QuestionKind,
    /// What people see instead of the proposal.
    pub shown: Preview,
}

/// The end of the output of a call, kept for clients that come later.
pub const MAX_LIVE_BYTES: usize = 16 << 10;

impl CallRecords {
    pub fn find(&self, id: &CallId) -> Option<&Arc<CallRecord>> {
        self.calls.iter().find(|record| record.call.id == *id)
    }

    /// The calls with an open question.
    pub fn asked(&self) -> impl Iterator<Item = &Arc<CallRecord>> {
        self.calls.iter().filter(|record| record.phase == CallPhase::Asked)
    }

    /// Does `fact` change it? Most facts do not, and then nothing is copied.
    pub(crate) fn is_changed_by(&self, fact: &Fact) -> bool {
        matches!(
            fact,
            Fact::TurnStarted { .. }
                | Fact::ModelChosen { .. }
                | Fact::ModelResponded { .. }
                | Fact::TextWithdrawn
                | Fact::TextReplaced { .. }
                | Fact::ModelAnswered(_)
                | Fact::CallProposed(_)
                | Fact::CallAnswered { .. }
                | Fact::CallStarted { .. }
                | Fact::CallLost { .. }
                | Fact::CallShowed { .. }
                | Fact::CallStateSaved { .. }
                | Fact::CallAsked(_)
                | Fact::CallFinished(_)
        )
    }

    /// The records after `fact`; the same ones if it changes nothing.
    pub fn after(self: &Arc<Self>, fact: &Fact) -> Arc<Self> {
        let mut call_records = self.clone();
        if call_records.is_changed_by(fact) {
            Arc::make_mut(&mut call_records).apply(fact);
        }
        call_records
    }

    pub(crate) fn apply(&mut self, fact: &Fact) {
        match fact {
            Fact::TurnStarted { model, .. } => {
                self.text_number += 1;
                self.response = None;
                if let Some(model) = model {
                    self.model = Some(Arc::from(model.as_str()));
                }
            }
            Fact::ModelChosen { model } => self.model = Some(Arc::from(model.as_str())),
            Fact::ModelResponded { id } => self.response = Some(Arc::from(id.as_str())),
            Fact::TextWithdrawn | Fact::TextReplaced { .. } => {
                self.text_number += 1;
                self.response = None;
            }
            Fact::ModelAnswered(answer) => self.take_model_answer(answer),
            Fact::CallProposed(proposed) => self.change(&proposed.call, |record| {
                record.proposal = Some(proposed.proposal.clone());
                record.why.clone_from(&proposed.why);
                record.choices.clone_from(&proposed.choices);
                record.grants.clone_from(&proposed.grants);
            }),
            Fact::CallAnswered { call, answer } => self.change(call, |record| record.take_answer(answer)),
            Fact::CallLost { call, choices, question } => self.change(call, |record| {
                record.choices.clone_from(choices);
                record.question.clone_from(question);
                record.lost = true;
            }),
            Fact::CallStarted { call, mark, .. } => self.change(call, |record| record.start(mark.clone())),
            Fact::CallShowed { call, text } => self.change(call, |record| record.show(text)),
            Fact::CallStateSaved { call, state } => {
                self.change(call, |record| record.state = Some(state.clone()));
            }
            Fact::CallAsked(asked) => {
                let is_alone = self.calls_to_agent_of(&asked.call) < 2;
                self.change(&asked.call, |record| record.ask(asked, is_alone));
            }
            Fact::CallFinished(finished) => self.change(&finished.call, |record| record.finish(finished)),
            _ => {}
        }
        if let Some((call, phase)) = CallPhase::after(fact) {
            self.change(call, |record| record.phase = phase);
        }
    }

    /// After an answer of which nothing has been carried out.
    pub fn of(answer: &ModelAnswer) -> Self {
        let mut call_records = Self::default();
        call_records.take_model_answer(answer);
        call_records
    }

    fn take_model_answer(&mut self, answer: &ModelAnswer) {
        self.text_number += 1;
        let is_model = ![COMMAND_MODEL, AGENT_MODEL].contains(&answer.model.as_str());
        if is_model && self.model.as_deref() != Some(answer.model.as_str()) {
            self.model = Some(Arc::from(answer.model.as_str()));
        }
        let calls = answer.parts.iter().filter_map(|part| match &part.what {
            ModelPartContent::Call(call) => Some(call.clone()),
            ModelPartContent::Text(_) | ModelPartContent::Thought(_) | ModelPartContent::Hidden => None,
        });
        let response = self.response.take();
        let record = |call| CallRecord { response: response.clone(), ..CallRecord::requested(call) };
        self.calls = calls.map(|call| Arc::new(record(call))).collect();
    }

    /// How many calls go to the same agent as this one.
    fn calls_to_agent_of(&self, id: &CallId) -> usize {
        let agents = self.calls.iter().map(|record| record.proposal.as_ref().and_then(|it| it.agent()));
        let agent = self.find(id).and_then(|record| record.proposal.as_ref()?.agent());
        agents.filter(|other| other.is_some() && *other == agent).count()
    }

    fn change(&mut self, id: &CallId, change: impl FnOnce(&mut CallRecord)) {
        if let Some(record) = self.calls.iter_mut().find(|record| record.call.id == *id) {
            change(Arc::make_mut(record));
        }
    }
}

impl CallRecord {
    pub fn requested(call: ToolCall) -> Self {
        Self {
            call,
            response: None,
            phase: CallPhase::Requested,
            proposal: None,
            why: String::new(),
            choices: Vec::new(),
            grants: BTreeMap::new(),
            lost: false,
            question: None,
            asks: None,
            state: None,
            answer: None,
            live: String::new(),
            shown: 0,
            mark: None,
            result: None,
            outcome: None,
            summary: String::new(),
            diff: None,
        }
    }

    /// The id shown to clients. A lost call uses the id of the question about that, so that an answer to the question before it
    /// is never taken for one to this.
    pub fn shown_id(&self) -> &CallId {
        self.question.as_ref().unwrap_or(&self.call.id)
    }

    fn take_answer(&mut self, answer: &CallAnswer) {
        // A call that was lost is answered about twice; what was put into it the first time stays.
        let mut kept = answer.clone();
        if let Some(before) = self.answer.take() {
            kept.new_content = kept.new_content.or(before.new_content);
            kept.answers = kept.answers.or(before.answers);
        }
        self.answer = Some(kept);
        self.asks = None;
        self.choices.clear();
        self.grants.clear();
    }

    /// `is_alone`: no other call goes to the same agent.
    fn ask(&mut self, asked: &ToolQuestion, is_alone: bool) {
        let shown = self.question_preview(asked, is_alone);
        self.asks = Some(Arc::new(OpenQuestion { id: asked.question.clone(), kind: asked.kind, shown }));
        self.choices.clone_from(&asked.choices);
        self.answer = None;
        self.lost = false;
        self.question = None;
    }

    /// The question in the form in which tools ask people.
    fn question_preview(&self, asked: &ToolQuestion, is_alone: bool) -> Preview {
        let mut text = asked.text.clone();
        if let Some(Preview::Agent { prompt, .. }) = self.proposal.as_ref().map(|it| &it.shown)
            && !is_alone
        {
            text.push_str(&format!("\n(for: {})", beginning(prompt)));
        }
        if let Some(url) = asked.url.as_ref().filter(|url| !text.contains(url.as_str())) {
            text.push_str(&format!("\n{url}"));
        }
        let agent = self.proposal.as_ref().and_then(|proposal| proposal.agent());
        let header = agent.map_or(self.call.name.as_str(), |(agent, _)| agent);
        Preview::Questions { questions: json!([{ "question": text, "header": header, "type": "text" }]) }
    }

    /// What a person is shown: its open question, else what it would do.
    pub fn preview(&self) -> Option<&Preview> {
        match &self.asks {
            Some(asks) => Some(&asks.shown),
            None => self.proposal.as_ref().map(|proposal| &proposal.shown),
        }
    }

    /// What it showed before it was lost is not what it shows now.
    fn start(&mut self, mark: Option<String>) {
        self.mark = mark;
        self.live.clear();
        self.shown = 0;
    }

    fn show(&mut self, text: &str) {
        self.shown = self.shown.saturating_add(1);
        self.live.push_str(text);
        if self.live.len() > MAX_LIVE_BYTES {
            let cut = self.live.ceil_char_boundary(self.live.len() - MAX_LIVE_BYTES);
            self.live.drain(..cut);
        }
    }

    fn finish(&mut self, finished: &FinishedCall) {
        self.result = Some(finished.result_of(&self.call));
        self.outcome = Some(finished.outcome.clone());
        self.summary.clone_from(&finished.summary);
        self.diff.clone_from(&finished.diff);
        self.asks = None;
        self.state = None;
        self.choices.clear();
        self.grants.clear();
    }
}

/// Enough of a prompt to know it by, on one line.
fn beginning(prompt: &str) -> String {
    let line = prompt.split_whitespace().take(MAX_PROMPT_LETTERS).collect::<Vec<_>>().join(" ");
    excerpt(&line, MAX_PROMPT_LETTERS)
}
