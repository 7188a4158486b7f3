//! What a caller asks for, free of binding and protocol version.

use jiff::Timestamp;

use crate::{
    AnswerLocation, ContextId, Cursor, DuplicateRule, GapPolicy, Message, Metadata, NewPushConfig,
    PushConfigOperation, RequestedSettings, Scope, TaskEnding, TaskId, TaskState,
};

/// One request: who asks, and for what.
#[derive(Debug, Clone, PartialEq)]
pub struct ScopedOperation {
    pub scope: Scope,
    pub operation: Operation,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    Send(SendMessage),
    Stream(SendMessage),
    Get(GetTask),
    List(ListTasks),
    Cancel(CancelTask),
    Subscribe(SubscribeTask),
    PushConfig(PushConfigOperation),
    ExtendedCard,
    Commands(ListCommands),
    /// The message carries the command.
    Execute(SendMessage),
}

impl Operation {
    /// What the client asks for besides, if it says anything about that.
    pub fn requested_settings_mut(&mut self) -> Option<&mut RequestedSettings> {
        match self {
            Self::Send(send) | Self::Stream(send) | Self::Execute(send) => send.message.wishes.as_deref_mut(),
            Self::Commands(list) => list.settings.as_deref_mut(),
            Self::Get(_)
            | Self::List(_)
            | Self::Cancel(_)
            | Self::Subscribe(_)
            | Self::PushConfig(_)
            | Self::ExtendedCard => None,
        }
    }
}

/// The name of an operation, before its parameters are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OperationKind {
    Send,
    Stream,
    Get,
    List,
    Cancel,
    Subscribe,
    PushCreate,
    PushGet,
    PushList,
    PushDelete,
    ExtendedCard,
    Commands,
    Execute,
}

impl OperationKind {
    pub const ALL: [OperationKind; 13] = [
        OperationKind::Send,
        OperationKind::Stream,
        OperationKind::Get,
        OperationKind::List,
        OperationKind::Cancel,
        OperationKind::Subscribe,
        OperationKind::PushCreate,
        OperationKind::PushGet,
        OperationKind::PushList,
        OperationKind::PushDelete,
        OperationKind::ExtendedCard,
        OperationKind::Commands,
        OperationKind::Execute,
    ];

    /// Stable name for logs and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Stream => "stream",
            Self::Get => "get",
            Self::List => "list",
            Self::Cancel => "cancel",
            Self::Subscribe => "subscribe",
            Self::PushCreate => "push_create",
            Self::PushGet => "push_get",
            Self::PushList => "push_list",
            Self::PushDelete => "push_delete",
            Self::ExtendedCard => "extended_card",
            Self::Commands => "commands",
            Self::Execute => "execute",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct SendMessage {
    pub message: Message,
    pub configuration: SendConfiguration,
    pub metadata: Option<Metadata>,
    pub options: SendOptions,
}

/// How the client that sends a message works.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SendOptions {
    /// How a task ends that it opens. One whose tasks do not simply complete writes to them again when they are over.
    /// None: it does not say, so it is taken for whoever opened the task that it writes to.
    pub ending: Option<TaskEnding>,
    /// When a message counts as one that came before.
    pub duplicate_rule: DuplicateRule,
    /// It comes back to a stream that was cut off, so its message came before, whenever that was.
    pub resumes: bool,
    /// What the client calls itself, for others to be told who it was.
    pub client: Option<String>,
    /// Where it reads the answers of a task that it opens.
    pub answer: AnswerLocation,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct SendConfiguration {
    /// Empty: anything is accepted.
    pub accepted_output_modes: Vec<String>,
    /// `None`: all of it. `Some(0)`: none of it.
    pub history_length: Option<usize>,
    /// Answer as soon as the task exists instead of waiting for it to settle.
    pub return_immediately: bool,
    /// Where the caller wants to be told about this task, from before any work on it.
    pub push: Option<Box<NewPushConfig>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GetTask {
    pub task: TaskId,
    pub history_length: Option<usize>,
    /// The task as it was there, instead of as it is.
    pub at: Option<Cursor>,
}

pub const DEFAULT_PAGE_SIZE: usize = 50;
pub const MAX_PAGE_SIZE: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListTasks {
    pub context: Option<ContextId>,
    pub state: Option<TaskState>,
    /// Keeps tasks whose status is this old or newer.
    pub status_since: Option<Timestamp>,
    /// Between 1 and [`MAX_PAGE_SIZE`].
    pub page_size: usize,
    /// Opaque; empty for the first page.
    pub page_token: String,
    pub history_length: Option<usize>,
    pub include_artifacts: bool,
}

impl Default for ListTasks {
    fn default() -> Self {
        Self {
            context: None,
            state: None,
            status_since: None,
            page_size: DEFAULT_PAGE_SIZE,
            page_token: String::new(),
            history_length: None,
            include_artifacts: false,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct CancelTask {
    pub task: TaskId,
    pub metadata: Option<Metadata>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscribeTask {
    pub task: TaskId,
    /// Show everything after this place; without it, everything from now on.
    pub after: Option<Cursor>,
    pub gap_policy: GapPolicy,
}

impl SubscribeTask {
    /// From now on.
    pub fn to(task: TaskId) -> Self {
        Self { task, after: None, gap_policy: GapPolicy::Refuse }
    }
}

/// Which commands are there? In a conversation or a task if one is named.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListCommands {
    pub context: Option<ContextId>,
    pub task: Option<TaskId>,
    pub settings: Option<Box<RequestedSettings>>,
}
