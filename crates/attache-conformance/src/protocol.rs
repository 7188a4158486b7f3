//! The types of the protocol, independent of version and binding.

use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    V0_3,
    V1_0,
}

impl Version {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V0_3 => "0.3",
            Self::V1_0 => "1.0",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Binding {
    JsonRpc,
    Rest,
    Grpc,
}

impl Binding {
    pub const ALL: [Self; 3] = [Self::JsonRpc, Self::Rest, Self::Grpc];

    /// The name on cards.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::JsonRpc => "JSONRPC",
            Self::Rest => "HTTP+JSON",
            Self::Grpc => "GRPC",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Unspecified,
    Submitted,
    Working,
    Completed,
    Failed,
    Canceled,
    InputRequired,
    Rejected,
    AuthRequired,
}

impl State {
    pub(crate) const ALL: [Self; 9] = [
        Self::Unspecified,
        Self::Submitted,
        Self::Working,
        Self::Completed,
        Self::Failed,
        Self::Canceled,
        Self::InputRequired,
        Self::Rejected,
        Self::AuthRequired,
    ];

    pub(crate) fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Canceled | Self::Rejected)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    User,
    Agent,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    Text(String),
    /// Base64 as sent.
    Bytes(String),
    Url(String),
    Data(Value),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Message {
    pub(crate) id: String,
    pub(crate) role: Role,
    pub(crate) context: Option<String>,
    pub(crate) task: Option<String>,
    pub(crate) parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Artifact {
    pub(crate) id: String,
    pub(crate) name: Option<String>,
    pub(crate) parts: Vec<Part>,
}

impl Artifact {
    pub(crate) fn text(&self) -> String {
        text_of(&self.parts)
    }
}

pub(crate) fn text_of(parts: &[Part]) -> String {
    parts
        .iter()
        .filter_map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None })
        .collect()
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Status {
    pub(crate) state: State,
    pub(crate) message: Option<Message>,
    pub(crate) timestamp: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Task {
    pub(crate) id: String,
    pub(crate) context: String,
    pub(crate) status: Status,
    /// `None` if the member is missing.
    pub(crate) artifacts: Option<Vec<Artifact>>,
    pub(crate) history: Option<Vec<Message>>,
    /// As sent.
    pub(crate) raw: Value,
}

impl Task {
    pub(crate) fn state(&self) -> State {
        self.status.state
    }

    pub(crate) fn artifacts(&self) -> &[Artifact] {
        self.artifacts.as_deref().unwrap_or_default()
    }

    pub(crate) fn history(&self) -> &[Message] {
        self.history.as_deref().unwrap_or_default()
    }

    /// The content of a task that must be equal in all versions and bindings.
    pub(crate) fn meaning(&self) -> impl PartialEq + std::fmt::Debug + use<'_> {
        let history: Vec<_> = self.history().iter().map(|message| (&message.id, &message.parts)).collect();
        (&self.id, &self.context, self.state(), self.artifacts(), history)
    }
}

/// The result of a send.
#[derive(Debug, Clone)]
pub(crate) enum SendResult {
    Task(Task),
    Message(Message),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum StreamItem {
    Task(Task),
    Message(Message),
    Status { task: String, context: String, status: Status, last: Option<bool> },
    Artifact { task: String, context: String, artifact: Artifact, append: bool, last_chunk: bool },
}

impl StreamItem {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Task(_) => "a task",
            Self::Message(_) => "a message",
            Self::Status { .. } => "a status event",
            Self::Artifact { .. } => "an artifact event",
        }
    }

    pub(crate) fn state(&self) -> Option<State> {
        match self {
            Self::Task(task) => Some(task.state()),
            Self::Status { status, .. } => Some(status.state),
            Self::Message(_) | Self::Artifact { .. } => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct PushConfig {
    pub(crate) id: Option<String>,
    pub(crate) task: Option<String>,
    pub(crate) url: String,
    pub(crate) token: Option<String>,
    /// Scheme and credentials.
    pub(crate) authentication: Option<(String, String)>,
}

#[derive(Debug, Clone)]
pub(crate) struct TaskPage {
    pub(crate) tasks: Vec<Task>,
    pub(crate) raw: Value,
}

impl TaskPage {
    pub(crate) fn next(&self) -> &str {
        self.raw["nextPageToken"].as_str().unwrap_or_default()
    }

    pub(crate) fn number(&self, member: &str) -> Option<i64> {
        self.raw[member].as_i64()
    }

    pub(crate) fn ids(&self) -> Vec<&str> {
        self.tasks.iter().map(|task| task.id.as_str()).collect()
    }
}
