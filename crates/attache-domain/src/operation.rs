//! Requests of callers, independent of binding and protocol version.

use jiff::Timestamp;

use crate::{
    AnswerLocation, ContextId, Cursor, DuplicateRule, GapPolicy, Interface, Message, MessageAnswers,
    Metadata, NewPushConfig, PromptState, PushConfigOperation, RequestedSettings, Rights, TaskEnding, TaskId,
    TaskState,
};

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
    /// The settings that the client asks for, if any.
    pub fn requested_settings_mut(&mut self) -> Option<&mut RequestedSettings> {
        match self {
            Self::Send(send) | Self::Stream(send) | Self::Execute(send) => {
                send.message.requested.as_deref_mut()
            }
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
    /// What the message answers about calls.
    pub answers: MessageAnswers,
    pub configuration: SendConfiguration,
    pub metadata: Option<Metadata>,
    pub options: SendOptions,
}

/// What the client of a message expects.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SendOptions {
    /// How the tasks that it opens end. A client with another ending than `Completes` writes to tasks that are over.
    /// `None`: unknown, so the ending of the task that it writes to counts.
    pub ending: Option<TaskEnding>,
    /// When two messages are the same.
    pub duplicate_rule: DuplicateRule,
    /// It may resume what was cut off: a message that came before is a duplicate, however old.
    pub resumes: bool,
    /// The name of the client, shown to other clients.
    pub client: Option<String>,
    /// How the message arrives, shown to other clients.
    pub interface: Option<Interface>,
    /// What the client may do; the surface that took the message says so.
    pub rights: Rights,
    /// Where it reads the answers of the tasks that it opens.
    pub answer: AnswerLocation,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct SendConfiguration {
    /// Empty: anything is accepted.
    pub accepted_output_modes: Vec<String>,
    /// `None`: all of it. `Some(0)`: none of it.
    pub history_length: Option<usize>,
    /// Respond as soon as the task exists instead of waiting until it settles.
    pub return_immediately: bool,
    /// Push notifications for this task, from before any work on it.
    pub push: Option<Box<NewPushConfig>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GetTask {
    pub task: TaskId,
    pub history_length: Option<usize>,
    /// The task at this position instead of the current one.
    pub at: Option<Cursor>,
}

pub const DEFAULT_PAGE_SIZE: usize = 50;
pub const MAX_PAGE_SIZE: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListTasks {
    pub context: Option<ContextId>,
    pub state: Option<TaskState>,
    /// Only tasks whose latest prompt is like this.
    pub prompt: Option<PromptState>,
    /// Only tasks with a status from this time on.
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
            prompt: None,
            status_since: None,
            page_size: DEFAULT_PAGE_SIZE,
            page_token: String::new(),
            history_length: None,
            include_artifacts: false,
        }
    }
}

/// Member of a cancel request's metadata: the id of the one call that is cancelled instead of the task.
pub const CALL_TO_CANCEL: &str = "attache/call";

#[derive(Debug, Clone, PartialEq)]
pub struct CancelTask {
    pub task: TaskId,
    pub metadata: Option<Metadata>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscribeTask {
    pub task: TaskId,
    /// The events after this position; without it, events from now on.
    pub after: Option<Cursor>,
    pub gap_policy: GapPolicy,
}

impl SubscribeTask {
    /// From now on.
    pub fn to(task: TaskId) -> Self {
        Self { task, after: None, gap_policy: GapPolicy::Refuse }
    }
}

/// Lists the commands, of a conversation or a task if one is named.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListCommands {
    pub context: Option<ContextId>,
    pub task: Option<TaskId>,
    pub settings: Option<Box<RequestedSettings>>,
}
