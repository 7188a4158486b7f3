//! What happened to a task. The log holds these and nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Artifact, CallId, Content, ContextId, Digest, Message, MessageId, Metadata, ModelPart, Proposal, Scope,
    Seq, TaskId, TaskState, ToolCall, ToolResult, Usage,
};

/// A fact with its place in the task's log and its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub seq: Seq,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub at: Timestamp,
    pub fact: Fact,
}

/// One thing that was decided or that happened. Small, because a busy log holds many: messages
/// are shared with the views, what is large or rare is boxed. Variants are never renamed or removed: old logs stay readable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// The first fact of every task, and of no other place.
    TaskOpened(Box<OpenedTask>),
    /// The task was waiting, and the caller wrote.
    MessageReceived { message: Arc<Message>, digest: Digest },
    /// The caller wrote while the agent was at work; taken up when the turn ends.
    PromptQueued { message: Arc<Message>, digest: Digest },
    /// The turn ended and the oldest queued prompt became part of the conversation. `said` is what
    /// the turn would have ended with.
    PromptTaken {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        said: Option<Arc<Message>>,
    },
    /// The agent began to work on what was last said to it.
    TurnStarted {
        turn: u32,
        /// Who is to answer, as far as that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// The agent let its reasoning be seen.
    ThoughtShared { text: String },
    /// The agent said the next piece of this turn's answer.
    TextSaid {
        text: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        last: bool,
    },
    /// What was said so far in this turn does not count: the reply was cut off and starts again.
    TextWithdrawn,
    /// What was said so far in this turn is this: the reply was cut off and goes on after what is certain.
    TextReplaced { text: String },
    /// This turn's answer is whole; recorded when the last piece did not say so itself.
    TextEnded,
    /// The agent produced an artifact, or the next piece of one.
    ArtifactAdded {
        artifact: Box<Artifact>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        append: bool,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        last: bool,
    },
    /// From here on the conversation goes on with this model, because somebody said so.
    ModelChosen { model: String },
    /// A language model began to answer, under an id of its provider's; recorded where there is one.
    ModelResponded { id: String },
    /// A language model has given one whole answer. What it wants done comes next, or the turn ends.
    ModelAnswered(Box<ModelAnswer>),
    /// The agent told the model something by itself, as part of the conversation.
    ContextGiven(Box<GivenContext>),
    /// The conversation had become too long: from here on the model is told less of it.
    ContextReduced(Box<Compaction>),
    /// It is known what a call would do, and whether somebody has to agree.
    CallProposed(Box<ProposedCall>),
    /// What a call would do depends on one before it in the same answer: it is looked at again when that is over.
    CallDeferred { call: CallId, until: CallId },
    /// Somebody answered a question about a call.
    CallAnswered { call: CallId, answer: Box<CallAnswer> },
    /// The call is being carried out from here on: whether it was is not known until it has finished.
    CallStarted {
        call: CallId,
        /// Of the proposal that is carried out.
        digest: Digest,
        /// On every process that carries it out: what is left of them after a crash is found by it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mark: Option<String>,
    },
    /// A call was being carried out when everything stopped. Somebody who can look decides what becomes of it.
    CallLost {
        call: CallId,
        /// The answers somebody may give, by their ids.
        choices: Vec<String>,
        /// The id that an answer to this question names in place of the call's. Logs written before questions had ids
        /// lack it; there the call's id counts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        question: Option<CallId>,
    },
    /// A call has something to show while it runs.
    CallShowed { call: CallId, text: String },
    /// A call is over, whether it ran or not.
    CallFinished(Box<FinishedCall>),
    /// Nothing can go on before somebody answers about the calls that are open.
    PersonAsked { message: Arc<Message> },
    /// Something people should know while the work goes on, such as a wait.
    Noticed { message: Arc<Message> },
    /// The agent needs a credential in the middle of its turn and goes on by itself once it has
    /// arrived another way. (Needing a message for that is [`Outcome::AuthRequired`].)
    CredentialAsked { message: Arc<Message> },
    /// The credential arrived and the turn goes on.
    WorkResumed,
    /// The turn is over.
    TurnEnded {
        outcome: TurnOutcome,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<Arc<Message>>,
        /// What the task has cost up to here, if a language model worked on it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Box<Usage>>,
    },
    /// Somebody wants the task stopped.
    CancelRequested,
    /// The task was stopped.
    TaskCanceled,
    /// The whole answer is this message; the task stays hidden.
    Replied { message: Arc<Message> },
}

/// How a task began: what is fixed for all its life, and the message that started it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenedTask {
    pub task: TaskId,
    pub scope: Scope,
    pub context: ContextId,
    pub message: Arc<Message>,
    pub digest: Digest,
    pub ending: TaskEnding,
    pub reply: ReplyShape,
    /// The caller named the context: there may have been tasks in it before.
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
    pub said: Vec<ModelPart>,
    pub usage: Usage,
    #[serde(default, skip_serializing_if = "ResponseEnd::is_done")]
    pub end: ResponseEnd,
}

/// Why a model said no more.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseEnd {
    /// It has said what it wanted, calls included.
    #[default]
    Done,
    /// It was not allowed to say more.
    Length,
    /// It, or its provider, will not answer this.
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

/// Why the agent told the model something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextReason {
    /// The person mentioned files.
    Mention,
    /// The model repeats itself.
    Loop,
    /// Somebody said what became of a call that was lost.
    Lost,
    /// A command puts it to the model.
    Command,
}

/// Counts items of [`TaskView::told`](crate::TaskView::told): what people, the agent and the model said, and what came
/// of calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compaction {
    /// Stands for what was dropped, and for the earlier tasks of the conversation; an earlier summary is part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// How many items, from the first, the model is not told any more.
    pub dropped: u32,
    /// In how many of the items that remain, from the first, the model sees only the ends of what came of calls.
    pub masked: u32,
    /// Estimated, in tokens.
    pub before: u64,
    pub after: u64,
    /// What the summary took.
    #[serde(default)]
    pub cost: Usage,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProposedCall {
    pub call: CallId,
    pub proposal: Arc<Proposal>,
    /// Must not run beside the calls next to it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alone: bool,
    /// The answers somebody may give, by their ids; empty when nobody has to be asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// What each answer for longer would allow, in a sentence, by the answer's id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub grants: BTreeMap<String, String>,
    /// The rule that decided, for people.
    pub why: String,
}

/// What somebody answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallAnswer {
    /// One of the choices that were offered.
    pub choice: String,
    /// The question that it answers, when the question has an id of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<CallId>,
    pub verdict: Verdict,
    /// What an edit should write instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_content: Option<String>,
    /// Answers to a tool's own questions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Value>,
    /// The message that said so, to recognise it when it is sent again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<(MessageId, Digest)>,
    /// Who said so, for others who would have answered too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl CallAnswer {
    /// It holds for longer than the call it is given to.
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
    /// Not yet: it is asked about again with other content.
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
    /// What was changed, as a unified diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

impl FinishedCall {
    /// What the model is told about `call`, which this is the end of.
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
    /// Under the name that clients know the kind of failure by.
    Failed {
        kind: String,
    },
    Canceled,
    /// It had started when everything stopped: nobody knows how far it came.
    Unknown,
}

/// How a task's turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnOutcome {
    Completed,
    InputRequired,
    /// Waiting for a message that says the credential is there.
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
    /// The same, and a further message makes it go on.
    Reopens,
    /// A finished turn leaves the task waiting for the next message.
    StaysOpen,
}

/// What the caller gets back, fixed when the task opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyShape {
    Task,
    /// A bare message; the task behind it is hidden from get and list.
    Message,
}

/// What clients of plain A2A are shown of a task, fixed when it opens so that every later reading shows the same.
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

/// Where the answer of a turn stands.
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
