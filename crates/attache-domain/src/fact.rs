//! What happened to a task. The log holds these and nothing else.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Artifact, ContextId, Digest, Message, Metadata, Scope, Seq, TaskId, TaskState};

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
    TaskOpened(Box<Opened>),
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
    TurnStarted { turn: u32 },
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
    /// The agent needs a credential in the middle of its turn and goes on by itself once it has
    /// arrived another way. (Needing a message for that is [`Outcome::AuthRequired`].)
    CredentialAsked { message: Arc<Message> },
    /// The credential arrived and the turn goes on.
    WorkResumed,
    /// The turn is over.
    TurnEnded {
        outcome: Outcome,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<Arc<Message>>,
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
pub struct Opened {
    pub task: TaskId,
    pub scope: Scope,
    pub context: ContextId,
    pub message: Arc<Message>,
    pub digest: Digest,
    pub ending: Ending,
    pub reply: ReplyShape,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

/// How a task's turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Completed,
    InputRequired,
    /// Waiting for a message that says the credential is there.
    AuthRequired,
    Failed,
    Rejected,
}

/// How a task ends, fixed when it opens so that readers of every dialect see one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// A finished turn completes the task.
    Completes,
}

/// What the caller gets back, fixed when the task opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyShape {
    Task,
    /// A bare message; the task behind it is hidden from get and list.
    Message,
}

impl Outcome {
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
