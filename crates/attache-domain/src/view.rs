//! The fold of a task's events. A cache: the log is the truth.

mod answer_text;
mod conversation_items;
mod history_length;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use answer_text::answer_artifact;
pub use conversation_items::{CompactedHistory, ConversationItem};

use crate::approval::is_answer;
use crate::artifact::read_joined;
use crate::server_approval::missing_servers;
use crate::{
    AGENT_MODEL, AnswerLocation, Artifact, ArtifactId, COMMAND_MODEL, CallAnswer, CallId, CallOutcome,
    CallRecords, ContextId, Event, Exchange, Fact, FinishedCall, Message, Metadata, ModelAnswer, Part,
    PartContent, Presentation, Preview, Progress, Proposal, ServerApproval, Step, TaskId, TaskKey, TaskState,
    TaskStatus, ToolResult, TurnPhase, Usage,
};

/// A task folded from its events: its progress and its content.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TaskView {
    pub progress: Progress,
    pub task: TaskId,
    pub context: ContextId,
    pub status: TaskStatus,
    pub history: Vec<Arc<Message>>,
    /// Adjacent plain texts of an artifact are one part, however many pieces the log has.
    #[serde(deserialize_with = "read_joined")]
    pub artifacts: Vec<Artifact>,
    pub metadata: Option<Metadata>,
    /// The reply of a hidden task.
    pub replied: Option<Arc<Message>>,
    /// Answers of models and results of their calls. With the history, this is the conversation.
    #[serde(default)]
    pub exchanges: Vec<PlacedExchange>,
    /// The calls of the latest answer.
    #[serde(default, rename = "cast")]
    pub call_records: Arc<CallRecords>,
    /// The files that this turn has changed, with their content before the turn and now.
    #[serde(default)]
    pub changes: Vec<FileChange>,
    /// Lasting approvals.
    #[serde(default)]
    pub granted: Vec<Grant>,
    /// What compaction has dropped, and the summary that replaces it.
    #[serde(default, rename = "untold")]
    pub compacted: CompactedHistory,
    /// Answers of the model in the whole task.
    #[serde(default)]
    pub rounds: u32,
    /// Tokens of the latest answer.
    #[serde(default)]
    pub latest_usage: Usage,
    /// Tokens of the whole task.
    #[serde(default)]
    pub usage: Usage,
    /// Calls of the whole task that are over.
    #[serde(default)]
    pub finished_calls: u32,
    /// The tool results of this turn's command, step by step. Not sent to the model.
    #[serde(default)]
    pub commanded: Vec<Vec<ToolResult>>,
    /// The model that a person chose during the task.
    #[serde(default)]
    pub chosen_model: Option<String>,
    /// The latest answer is from a command.
    #[serde(default)]
    commanding: bool,
    /// Which MCP servers of the client people let the agent connect to, and which not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub server_approvals: Vec<ServerApproval>,
    /// What tools keep for later calls of the conversation, by key; `null` for what was removed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub conversation_state: BTreeMap<Arc<str>, Arc<Value>>,
    /// The index of this turn's answer among the artifacts.
    answer: Option<usize>,
    /// The length of this turn's answer.
    #[serde(rename = "said", default)]
    text_bytes: TextBytes,
    /// The index of each artifact; rebuilt when it is out of date.
    #[serde(skip)]
    artifact_places: HashMap<ArtifactId, usize>,
}

/// An exchange with the model, and the number of messages before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlacedExchange {
    pub after: usize,
    pub exchange: Arc<Exchange>,
}

/// A file that a turn has changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    pub path: PathBuf,
    /// `None` when the file did not exist.
    pub original: Option<String>,
    pub content: String,
}

/// The bytes of a turn's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
struct TextBytes {
    bytes: usize,
    /// In whole answers of the model.
    whole: usize,
}

/// An answer that approves later calls as well.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grant {
    pub tool: String,
    pub proposal: Arc<Proposal>,
    pub answer: CallAnswer,
}

/// Grants that a task remembers; calls beyond that are asked about again.
const MAX_GRANTS: usize = 256;

/// Keys of [`TaskView::conversation_state`]; what is kept under further ones is forgotten.
const MAX_CONVERSATION_KEYS: usize = 256;

impl TaskView {
    /// The view after the first event of a task; `None` if that event is no opening.
    pub fn open(event: &Event) -> Option<Self> {
        let progress = Progress::open(event)?;
        let Fact::TaskOpened(opened) = &event.fact else { return None };
        Some(Self {
            task: progress.task.clone(),
            context: progress.context.clone(),
            status: TaskStatus { state: progress.state, message: None, at: event.at },
            // A reserved task that was canceled before its first message has none.
            history: Vec::from_iter((!opened.message.parts.is_empty()).then(|| opened.message.clone())),
            artifacts: Vec::new(),
            metadata: opened.metadata.clone(),
            replied: None,
            exchanges: Vec::new(),
            call_records: Arc::default(),
            changes: Vec::new(),
            granted: Vec::new(),
            compacted: CompactedHistory::default(),
            rounds: 0,
            latest_usage: Usage::default(),
            usage: Usage::default(),
            finished_calls: 0,
            commanded: Vec::new(),
            chosen_model: None,
            commanding: false,
            server_approvals: Vec::new(),
            conversation_state: BTreeMap::new(),
            answer: None,
            text_bytes: TextBytes::default(),
            artifact_places: HashMap::new(),
            progress,
        })
    }

    /// Folds a whole log. `None` when it is empty or does not begin with an opening.
    pub fn fold<'a>(events: impl IntoIterator<Item = &'a Event>) -> Option<Self> {
        let mut events = events.into_iter();
        let mut view = Self::open(events.next()?)?;
        events.for_each(|event| view.apply(event));
        Some(view)
    }

    pub fn key(&self) -> TaskKey {
        self.progress.key()
    }

    /// The artifacts that a client sees. Clients of the development-tool extension see the diff of every turn.
    pub fn shown_artifacts(&self, knows_extension: bool) -> impl Iterator<Item = &Artifact> {
        let Presentation { changes, answer } = self.progress.presentation;
        let shows_changes = changes || knows_extension;
        let shows_answers = answer == AnswerLocation::Artifact;
        self.artifacts.iter().filter(move |artifact| {
            (shows_changes || !artifact.is_changes()) && (shows_answers || !artifact.is_answer())
        })
    }

    /// See [`Progress::next`].
    pub fn next(&self) -> Option<Step> {
        self.progress.next()
    }

    /// Folds one recorded event in. What is in the log happened.
    pub fn apply(&mut self, event: &Event) {
        if self.call_records.is_changed_by(&event.fact) {
            Arc::make_mut(&mut self.call_records).apply(&event.fact);
        }
        match &event.fact {
            Fact::TaskOpened(_)
            | Fact::PromptQueued { .. }
            | Fact::ThoughtShared { .. }
            | Fact::ModelResponded { .. }
            | Fact::CallStarted { .. }
            | Fact::CallLost { .. }
            | Fact::CallDeferred { .. }
            | Fact::CallShowed { .. }
            | Fact::CallStateSaved { .. }
            | Fact::CallAsked(_)
            | Fact::CallCancelRequested { .. }
            | Fact::CallProposed(_)
            | Fact::Noticed { .. }
            | Fact::CancelRequested => {}
            Fact::ModelAnswered(answer) => self.add_model_answer(answer),
            Fact::ModelChosen { model } => self.chosen_model = Some(model.clone()),
            Fact::ConversationStateSaved { key, state } => {
                let known = self.conversation_state.contains_key(key);
                if known || self.conversation_state.len() < MAX_CONVERSATION_KEYS {
                    self.conversation_state.insert(key.clone(), state.clone());
                }
            }
            Fact::CallAnswered { call, answer } => {
                self.add_grant(call, answer);
                self.record_answer(event, call, answer);
            }
            Fact::ContextGiven(given) => self.add_exchange(Exchange::User(given.contents.clone())),
            Fact::ContextReduced(reduction) => self.compact(reduction),
            Fact::CallFinished(finished) => self.add_result(finished),
            Fact::PersonAsked { message, auth } => {
                self.enter(TaskState::asked(*auth), Some(message.clone()), event.at);
            }
            Fact::MessageReceived { message, .. } => {
                self.keep_status_message();
                self.enter(self.status.state.after_message(), None, event.at);
                self.add_message(message.clone());
            }
            Fact::PromptSettled { message, .. } => {
                self.keep_answer();
                self.history.extend(message.iter().cloned());
            }
            Fact::PromptTaken { said, .. } => {
                if self.progress.turn.phase != TurnPhase::Over {
                    self.keep_answer();
                    self.history.extend(said.iter().cloned());
                }
                if let Some(message) = self.progress.queue.front().cloned() {
                    self.add_message(message);
                }
            }
            Fact::TurnStarted { .. } => {
                self.answer = None;
                self.text_bytes = TextBytes::default();
                self.changes.clear();
                self.commanded.clear();
                self.enter(TaskState::Working, None, event.at);
            }
            Fact::TextSaid { text, .. } => self.add_answer_text(text),
            Fact::TextWithdrawn => {
                if let Some(index) = self.answer {
                    self.artifacts[index].parts = vec![Part::text("")];
                    self.text_bytes.bytes = 0;
                }
            }
            Fact::TextReplaced { text } => {
                if let Some(index) = self.answer {
                    self.artifacts[index].parts = vec![Part::text(text)];
                    self.text_bytes.bytes = text.len();
                }
            }
            Fact::TextEnded => self.add_answer_text(""),
            Fact::ArtifactAdded { artifact, append, .. } => self.add_artifact(artifact, *append),
            Fact::NoticedLater { message, .. } => {
                self.keep_status_message();
                self.status.message = Some(message.clone());
            }
            Fact::CredentialAsked { message } => {
                self.enter(TaskState::AuthRequired, Some(message.clone()), event.at);
            }
            Fact::WorkResumed => {
                let answer = self.status.message.take_if(|message| is_answer(message));
                self.keep_status_message();
                self.enter(TaskState::Working, answer, event.at);
            }
            Fact::TurnEnded { outcome, message, .. } => {
                self.keep_answer();
                self.enter(outcome.state(), message.clone(), event.at);
            }
            Fact::TaskCanceled => self.enter(TaskState::Canceled, None, event.at),
            Fact::Replied { message } => {
                self.replied = Some(message.clone());
                self.enter(TaskState::Completed, None, event.at);
            }
        }
        self.progress.apply(event);
    }

    fn add_message(&mut self, message: Arc<Message>) {
        // The latest choice of a model counts, by command or by message.
        if message.requested.as_ref().is_some_and(|requested| requested.model.is_some()) {
            self.chosen_model = None;
        }
        self.history.push(message);
    }

    fn add_model_answer(&mut self, answer: &ModelAnswer) {
        self.usage.add(&answer.usage);
        self.text_bytes.whole = self.text_bytes.bytes;
        self.commanding = answer.model == COMMAND_MODEL;
        if !self.commanding && answer.model != AGENT_MODEL {
            self.latest_usage = answer.usage;
            self.rounds += 1;
            self.add_exchange(Exchange::Model(answer.parts.clone()));
        }
    }

    fn add_grant(&mut self, call: &CallId, answer: &CallAnswer) {
        let Some(record) = self.call_records.find(call).filter(|_| answer.lasts()) else { return };
        let Some(proposal) = record.proposal.clone() else { return };
        let grant = Grant { tool: record.call.name.clone(), proposal, answer: answer.clone() };
        if self.granted.len() < MAX_GRANTS && !self.granted.contains(&grant) {
            self.granted.push(grant);
        }
    }

    /// Once every call is over, their results form one exchange.
    fn add_result(&mut self, finished: &FinishedCall) {
        self.finished_calls += 1;
        self.add_file_change(finished);
        let results: Option<Vec<_>> =
            self.call_records.calls.iter().map(|record| record.result.clone()).collect();
        match results.filter(|results| !results.is_empty()) {
            Some(_) if self.progress.work.agents_own => self.take_server_approvals(),
            Some(results) if self.commanding => self.commanded.push(results),
            Some(results) => self.add_exchange(Exchange::Results(results)),
            None => {}
        }
    }

    fn take_server_approvals(&mut self) {
        let decided = self.call_records.calls.iter().filter_map(|record| ServerApproval::of(record));
        let room = MAX_GRANTS.saturating_sub(self.server_approvals.len());
        self.server_approvals.extend(decided.take(room));
        if let Some(exchange) = missing_servers(self.call_records.calls.iter().map(Arc::as_ref)) {
            self.add_exchange(exchange);
        }
    }

    /// The written content is the proposed content, or the content that the person put in its place.
    fn add_file_change(&mut self, finished: &FinishedCall) {
        let record = self.call_records.find(&finished.call);
        let Some(record) = record.filter(|_| finished.outcome == CallOutcome::Succeeded) else { return };
        let Some(Preview::Edit { path, original, new_content, .. }) =
            record.proposal.as_ref().map(|proposal| &proposal.shown)
        else {
            return;
        };
        let changed = record.answer.as_ref().and_then(|answer| answer.new_content.as_ref());
        let content = changed.unwrap_or(new_content).clone();
        match self.changes.iter_mut().find(|change| change.path == *path) {
            Some(change) => change.content = content,
            None => {
                self.changes.push(FileChange { path: path.clone(), original: original.clone(), content });
            }
        }
    }

    fn add_exchange(&mut self, exchange: Exchange) {
        let after = self.history.len();
        self.exchanges.push(PlacedExchange { after, exchange: Arc::new(exchange) });
    }

    fn enter(&mut self, state: TaskState, message: Option<Arc<Message>>, at: Timestamp) {
        self.keep_answer_message();
        self.status = TaskStatus { state, message, at };
    }

    /// A question in the status moves into the conversation before its answer does.
    fn keep_status_message(&mut self) {
        let kept = |message: &Arc<Message>| self.history.last().is_some_and(|last| last.id == message.id);
        let message = self.status.message.take().filter(|message| !kept(message));
        self.history.extend(message);
    }

    /// The data that the command of the turn gives to programs.
    pub fn command_result(&self) -> Option<&Value> {
        let id = Artifact::result_id(self.progress.turn.number);
        let result = self.artifacts.iter().find(|artifact| artifact.id == id)?;
        match &result.parts.first()?.content {
            PartContent::Data(data) => Some(data),
            _ => None,
        }
    }

    /// Without `append`, or for an id not seen before, the artifact is created or replaced.
    fn add_artifact(&mut self, artifact: &Artifact, append: bool) {
        match self.artifact_index(&artifact.id) {
            Some(index) if append => self.artifacts[index].append(artifact.parts.iter().cloned()),
            Some(index) => self.artifacts[index] = artifact.clone().joined(),
            None => {
                self.artifact_places.insert(artifact.id.clone(), self.artifacts.len());
                self.artifacts.push(artifact.clone().joined());
            }
        }
    }

    fn artifact_index(&mut self, id: &ArtifactId) -> Option<usize> {
        // Pieces come one after the other, so it is most often the last.
        if self.artifacts.last().is_some_and(|last| last.id == *id) {
            return Some(self.artifacts.len() - 1);
        }
        if self.artifact_places.len() != self.artifacts.len() {
            let places = self.artifacts.iter().enumerate();
            self.artifact_places = places.map(|(index, artifact)| (artifact.id.clone(), index)).collect();
        }
        self.artifact_places.get(id).copied()
    }
}

/// Compares everything but the index of the artifacts.
impl PartialEq for TaskView {
    fn eq(&self, other: &Self) -> bool {
        self.progress == other.progress
            && self.status == other.status
            && self.history == other.history
            && self.artifacts == other.artifacts
            && self.metadata == other.metadata
            && self.replied == other.replied
            && self.exchanges == other.exchanges
            && self.call_records == other.call_records
            && self.finished_calls == other.finished_calls
            && self.chosen_model == other.chosen_model
            && self.commanded == other.commanded
            && self.server_approvals == other.server_approvals
            && self.conversation_state == other.conversation_state
            && self.changes == other.changes
            && self.granted == other.granted
            && self.compacted == other.compacted
            && self.rounds == other.rounds
            && self.latest_usage == other.latest_usage
            && self.usage == other.usage
            && self.answer == other.answer
            && self.text_bytes == other.text_bytes
    }
}
