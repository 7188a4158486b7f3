//! Tasks and events of a remote agent.

use attache_domain::{Artifact, ContextId, Message, Metadata, Part, TaskId, TaskState};

use crate::{JsonForm, enum_names};

#[derive(Debug, Clone, PartialEq)]
pub struct RemoteTask {
    pub id: TaskId,
    /// Empty if the agent names none.
    pub context: ContextId,
    pub status: RemoteStatus,
    pub artifacts: Vec<Artifact>,
    pub history: Vec<Message>,
    pub metadata: Option<Metadata>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RemoteStatus {
    /// `None` for a state that this version of the client does not know.
    pub state: Option<TaskState>,
    pub message: Option<Message>,
    /// As the agent wrote it, in RFC 3339.
    pub timestamp: Option<String>,
}

impl RemoteStatus {
    pub fn is_terminal(&self) -> bool {
        self.state.is_some_and(TaskState::is_terminal)
    }

    /// The task waits for input or a credential.
    pub fn is_interrupted(&self) -> bool {
        self.state.is_some_and(TaskState::is_interrupted)
    }

    /// A word for people, such as `input-required`.
    pub fn state_name(&self) -> &'static str {
        self.state.map_or("unknown", state_name)
    }
}

/// A word for people, such as `input-required`.
pub fn state_name(state: TaskState) -> &'static str {
    enum_names::state_name(JsonForm::V0_3Rpc, state)
}

/// One page of a listing.
#[derive(Debug, Clone, PartialEq)]
pub struct RemoteTaskPage {
    pub tasks: Vec<RemoteTask>,
    /// Empty on the last page.
    pub next_page_token: String,
    pub total_size: u64,
}

/// The response to a send, or one event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamEvent {
    /// The whole current task.
    Task(Box<RemoteTask>),
    /// The whole response is one bare message.
    Message(Box<Message>),
    StatusUpdate(Box<StatusUpdate>),
    ArtifactUpdate(Box<ArtifactUpdate>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct StatusUpdate {
    pub task: TaskId,
    pub context: ContextId,
    pub status: RemoteStatus,
    /// Agents of 0.3 say so in the last event of a stream.
    pub is_final: bool,
    pub metadata: Option<Metadata>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ArtifactUpdate {
    pub task: TaskId,
    pub context: ContextId,
    pub artifact: Artifact,
    /// Append to the artifact instead of replacing it.
    pub append: bool,
    pub last_chunk: bool,
    pub metadata: Option<Metadata>,
}

impl StreamEvent {
    /// The status that this event reports.
    pub fn status(&self) -> Option<&RemoteStatus> {
        match self {
            Self::Task(task) => Some(&task.status),
            Self::StatusUpdate(update) => Some(&update.status),
            Self::Message(_) | Self::ArtifactUpdate(_) => None,
        }
    }

    pub fn task_id(&self) -> Option<&TaskId> {
        match self {
            Self::Task(task) => Some(&task.id),
            Self::StatusUpdate(update) => Some(&update.task),
            Self::ArtifactUpdate(update) => Some(&update.task),
            Self::Message(message) => message.task.as_ref(),
        }
    }

    pub(super) fn metadata(&self) -> Option<&Metadata> {
        match self {
            Self::Task(task) => task.metadata.as_ref(),
            Self::StatusUpdate(update) => update.metadata.as_ref(),
            Self::ArtifactUpdate(update) => update.metadata.as_ref(),
            Self::Message(message) => message.metadata.as_ref(),
        }
    }
}

/// All text parts of an artifact, without separators: an artifact may arrive in pieces.
pub fn artifact_text(artifact: &Artifact) -> String {
    artifact.parts.iter().filter_map(Part::as_text).collect()
}
