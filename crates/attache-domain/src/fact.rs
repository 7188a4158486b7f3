//! The facts of a task. The log holds nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Answerer, Artifact, CallId, Content, ContextId, Digest, Message, MessageId, Metadata, ModelPart,
    Proposal, Scope, Seq, TaskId, TaskState, ToolCall, ToolResult, Usage,
};

/// A fact with its position in the task's log and its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub seq: Seq,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub at: Timestamp,
    pub fact: Fact,
}

/// One thing that was decided or that happened. Small, because a log holds many: messages are shared with the views, and
/// large or rare content is boxed. Variants are never renamed or removed, so that old logs stay readable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// The first fact of every task.
    TaskOpened(Box<OpenedTask>),
    /// A message arrived while the task was waiting.
    MessageReceived { message: Arc<Message>, digest: Digest },
    /// A message arrived during a turn; it waits for the end of the turn.
    PromptQueued { message: Arc<Message>, digest: Digest },
    /// The turn is over, and a queued prompt is taken next.
    PromptSettled {
        /// The prompt of the turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt: Option<MessageId>,
        outcome: TurnOutcome,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<Arc<Message>>,
    },
    /// The oldest queued prompt became part of the conversation.
    PromptTaken {
        /// The message with which the turn before ended. Only in older logs, which have no `PromptSettled`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        said: Option<Arc<Message>>,
        /// The prompt. Older logs lack it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<MessageId>,
    },
    /// The agent began to work on the latest message.
    TurnStarted {
        turn: u32,
        /// The model that will answer, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// The agent shared its reasoning.
    ThoughtShared { text: String },
    /// The agent said the next piece of this turn's answer.
    TextSaid {
        text: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        last: bool,
    },
    /// The text of this turn is withdrawn: the reply was cut off and starts again.
    TextWithdrawn,
    /// Replaces the text of this turn: the reply was cut off and continues after this text.
    TextReplaced { text: String },
    /// The answer of this turn is complete. Recorded when the last piece was not marked as last.
    TextEnded,
    /// The agent produced an artifact, or the next piece of one.
    ArtifactAdded {
        artifact: Box<Artifact>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        append: bool,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        last: bool,
    },
    /// A person chose this model for the rest of the conversation.
    ModelChosen { model: String },
    /// A language model began to answer, under this id of its provider. Recorded only where there is an id.
    ModelResponded { id: String },
    /// A language model has given one whole answer. Its calls come next, or the turn ends.
    ModelAnswered(Box<ModelAnswer>),
    /// The agent added context to the conversation.
    ContextGiven(Box<GivenContext>),
    /// The conversation was compacted: later prompts leave out a part of it.
    ContextReduced(Box<Compaction>),
    /// A call has a proposal, and perhaps needs an approval.
    CallProposed(Box<ProposedCall>),
    /// The effect of a call depends on an earlier call of the same answer. It gets its proposal when that call is over.
    CallDeferred { call: CallId, until: CallId },
    /// A client answered a question about a call.
    CallAnswered { call: CallId, answer: Box<CallAnswer> },
    /// The call is running. Until it has finished it is unknown whether it took effect.
    CallStarted {
        call: CallId,
        /// The digest of its proposal.
        digest: Digest,
        /// Marks its processes, so that they are found after a crash.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mark: Option<String>,
    },
    /// A call was running when the server stopped. A person decides whether it runs again.
    CallLost {
        call: CallId,
        /// The ids of the offered choices.
        choices: Vec<String>,
        /// The id that an answer names instead of the call's id. Older logs lack it; there the call's id counts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        question: Option<CallId>,
    },
    /// Output of a running call.
    CallShowed { call: CallId, text: String },
    /// A running call saved what it needs in order to go on after a restart. It replaces what the call saved before.
    CallStateSaved { call: CallId, state: Arc<Value> },
    /// A tool keeps something for later calls of the conversation. It replaces what was kept under the key before; `null`
    /// removes it.
    ConversationStateSaved { key: Arc<str>, state: Arc<Value> },
    /// The run of a call ended with a question to a person. The call is started again with the answer.
    CallAsked(Box<ToolQuestion>),
    /// A client cancelled this one call. The turn goes on.
    CallCancelRequested {
        call: CallId,
        /// The client, for other clients.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Answerer>,
    },
    /// A call is over. It may never have run.
    CallFinished(Box<FinishedCall>),
    /// The turn waits for answers about the open calls.
    PersonAsked {
        message: Arc<Message>,
        /// Every open question asks for a credential.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        auth: bool,
    },
    /// A notice for people while the work goes on, for example about a wait.
    Noticed { message: Arc<Message> },
    /// A notice for people when the work is over: an agent was not told of a cancel. The task stays in `state`.
    NoticedLater { message: Arc<Message>, state: TaskState },
    /// The agent needs a credential within its turn, and goes on when the credential has arrived another way. (Waiting
    /// for a message instead is [`Outcome::AuthRequired`].)
    CredentialAsked { message: Arc<Message> },
    /// The credential arrived and the turn goes on.
    WorkResumed,
    /// The turn is over.
    TurnEnded {
        outcome: TurnOutcome,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<Arc<Message>>,
        /// The tokens of the task so far, if a language model worked on it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Box<Usage>>,
    },
    /// A client asked to cancel the task.
    CancelRequested,
    /// The task was stopped.
    TaskCanceled,
    /// This message is the whole answer; the task stays hidden.
    Replied { message: Arc<Message> },
}

/// The opening of a task: its fixed properties and its first message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenedTask {
    pub task: TaskId,
    pub scope: Scope,
    pub context: ContextId,
    pub message: Arc<Message>,
    pub digest: Digest,
    pub ending: TaskEnding,
    pub reply: ReplyShape,
    /// The caller named the context, so it may have earlier tasks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub continues: bool,
    #[serde(default, skip_serializing_if = "Presentation::is_usual")]
    pub presentation: Presentation,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelAnswer {
    pub model: String,
    #[serde(rename = "said")]
    pub parts: Vec<ModelPart>,
    pub usage: Usage,
    #[serde(default, skip_serializing_if = "ResponseEnd::is_done")]
    pub end: ResponseEnd,
}

/// Why the model's answer ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseEnd {
    /// The answer is complete.
    #[default]
    Done,
    /// The answer reached the length limit.
    Length,
    /// The model or its provider refused to answer.
    Refused { why: String },
}

impl ResponseEnd {
    fn is_done(&self) -> bool {
        *self == Self::Done
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GivenContext {
    pub reason: ContextReason,
    pub contents: Vec<Content>,
}

/// Why the agent added context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextReason {
    /// The person mentioned files.
    Mention,
    /// The model repeats itself.
    Loop,
    /// A person decided about a lost call.
    Lost,
    /// A command prompts the model.
    Command,
}

/// Counts items of [`TaskView::conversation`](crate::TaskView::conversation): messages, answers and tool results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compaction {
    /// Replaces the dropped items, the earlier tasks of the conversation and any earlier summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The number of items, from the first, that later prompts leave out.
    pub dropped: u32,
    /// The number of remaining items, from the first, whose call results are cut to their ends.
    pub masked: u32,
    /// Estimated, in tokens.
    pub before: u64,
    pub after: u64,
    /// The tokens for making the summary.
    #[serde(default)]
    pub cost: Usage,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProposedCall {
    pub call: CallId,
    pub proposal: Arc<Proposal>,
    /// Must not run in parallel with its neighbours.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alone: bool,
    /// The ids of the offered choices; empty when no approval is needed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// What each lasting choice would allow, as a sentence, by the id of the choice.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub grants: BTreeMap<String, String>,
    /// The rule that decided, for people.
    pub why: String,
}

/// A question of a call itself, not one about whether it may run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolQuestion {
    pub call: CallId,
    /// The id of the question. An answer names it, or the call.
    pub question: CallId,
    pub kind: QuestionKind,
    /// Not trusted: it may come from another agent.
    pub text: String,
    /// Where the person has to go, for example to sign in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The ids of the offered choices.
    pub choices: Vec<String>,
}

/// What a call asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// Words.
    Input,
    /// A credential, which the person provides elsewhere.
    Auth,
}

/// A client's answer to a question about a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallAnswer {
    /// One of the choices that were offered.
    pub choice: String,
    /// The id of the question, if it differs from the call's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<CallId>,
    pub verdict: Verdict,
    /// Replaces the content of an edit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_content: Option<String>,
    /// Answers to a tool's own questions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Value>,
    /// The message with the answer, to recognise a duplicate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<(MessageId, Digest)>,
    /// The client that answered, for other clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Answerer>,
}

impl CallAnswer {
    /// It approves later calls as well.
    pub fn lasts(&self) -> bool {
        self.choice.starts_with("proceed_always")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Proceed,
    Refuse,
    /// Go on without it.
    Skip,
    /// Changes the content; the call is asked about again.
    Modify,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FinishedCall {
    pub call: CallId,
    pub outcome: CallOutcome,
    /// For the model.
    pub output: Vec<Content>,
    /// For people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// The change as a unified diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

impl FinishedCall {
    /// The result of `call` for the model.
    pub fn result_of(&self, call: &ToolCall) -> ToolResult {
        ToolResult {
            call: call.id.clone(),
            name: call.name.clone(),
            output: self.output.clone(),
            failed: self.outcome != CallOutcome::Succeeded,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    Succeeded,
    /// `kind` is the name by which clients know the failure.
    Failed {
        kind: String,
    },
    Canceled,
    /// It was running when the server stopped: how far it got is unknown.
    Unknown,
}

/// How a task's turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnOutcome {
    Completed,
    InputRequired,
    /// Waits for a message that brings the credential.
    AuthRequired,
    Failed,
    Rejected,
}

/// How a task ends, fixed when it opens so that readers of every dialect see one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskEnding {
    /// A finished turn completes the task.
    #[default]
    Completes,
    /// A finished turn completes the task, and a further message reopens it.
    Reopens,
    /// A finished turn leaves the task waiting for the next message.
    StaysOpen,
    /// The same after a turn that failed. Only a cancel ends the task.
    Session,
}

/// What the caller gets back, fixed when the task opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyShape {
    Task,
    /// A bare message; the task behind it is hidden from get and list.
    Message,
}

/// What clients of plain A2A see of a task, fixed when it opens so that every client sees the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Presentation {
    /// The diff of every turn (`changes-N`) is among the artifacts.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub changes: bool,
    pub answer: AnswerLocation,
}

impl Presentation {
    pub(crate) fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// Where clients read the answer of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerLocation {
    /// In an artifact of its own (`answer-N`), which streams show piece by piece.
    #[default]
    Artifact,
    /// In the message of the status that ends the turn, and in no artifact.
    StatusMessage,
}

impl TurnOutcome {
    pub fn state(self) -> TaskState {
        match self {
            Self::Completed => TaskState::Completed,
            Self::InputRequired => TaskState::InputRequired,
            Self::AuthRequired => TaskState::AuthRequired,
            Self::Failed => TaskState::Failed,
            Self::Rejected => TaskState::Rejected,
        }
    }
}
