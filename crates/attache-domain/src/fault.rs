//! Refusals that callers see: a closed list. `attache-wire` gives them codes.

use jiff::Timestamp;

use crate::{ContextId, MessageId, PushConfigId, Right, TaskId, TaskState};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Clients look for these words.
    #[error("Task not found: {task}")]
    TaskNotFound { task: TaskId },
    #[error("task {task} has no push configuration{}", config.as_ref().map(|config| format!(" {config:?}")).unwrap_or_default())]
    PushConfigNotFound { task: TaskId, config: Option<PushConfigId> },
    #[error("task {task} is {}", not_cancelable(*state))]
    TaskNotCancelable { task: TaskId, state: TaskState },
    /// A message for, or a subscription to, a task that is over.
    #[error("task {task} is {} and takes no more messages or subscriptions; send a message without a task id to go on in the same context", state.in_words())]
    TaskFinished { task: TaskId, state: TaskState },
    #[error("this agent does not send push notifications")]
    PushNotSupported,
    #[error("{what}")]
    Unsupported { what: String },
    #[error("{what}")]
    ContentTypeNotSupported { what: String },
    #[error("the agent gave no valid answer: {what}")]
    InvalidAgentResponse { what: String },
    #[error("this agent has no extended card")]
    ExtendedCardNotConfigured,
    #[error("this agent requires the extension {uri}")]
    ExtensionRequired { uri: String },
    #[error("protocol version {requested} is not supported here; supported: {}", supported.join(", "))]
    VersionNotSupported { requested: String, supported: Vec<String> },

    #[error("the body is not valid JSON: {what}")]
    Unparsable { what: String },
    #[error("{what}")]
    InvalidRequest { what: String },
    #[error("there is no method {method}")]
    MethodNotFound { method: String },
    #[error("{}", describe(violations))]
    InvalidParams { violations: Vec<Violation> },
    /// A setting that the client asked for is refused. `metadata_key` comes from the settings; `attache-wire` names the member
    /// as the client wrote it.
    #[error("invalid parameters: {metadata_key}.{setting} {what}")]
    SettingRefused { metadata_key: String, setting: &'static str, what: String },
    #[error("the call {call:?} waits for no answer{}", list("; open are: ", open))]
    NothingToAnswer { call: String, open: Vec<String> },
    #[error("the call {call:?} was answered already, with {choice:?}, {}at {at}", by.as_deref().map(|by| format!("by {by}, ")).unwrap_or_default())]
    AlreadyAnswered { call: String, choice: String, by: Option<String>, at: Timestamp },
    #[error("{given:?} is no answer to the call {call:?}{}", list("; it takes: ", choices))]
    NotAChoice { call: String, given: String, choices: Vec<String> },
    /// A prompt of an interface that answers confirmations apart from prompts.
    #[error("task {task} takes no prompt while a confirmation is open ({})", open.join(", "))]
    ConfirmationOpen { task: TaskId, open: Vec<String> },
    #[error("task {task} belongs to the context {context}, not to the one named")]
    ContextMismatch { task: TaskId, context: ContextId },
    #[error("this agent has no tenant {tenant:?}")]
    TenantNotFound { tenant: String },
    #[error(
        "the message id {message:?} was used before, for another message: use a new id, or send the same message again"
    )]
    MessageIdTaken { message: MessageId },
    #[error("the page token is not one that this server gave for these filters; start again without it")]
    BadPageToken,
    #[error("the Last-Event-ID {given:?} is not the id of an event of this task")]
    BadCursor { given: String },
    #[error("internal error")]
    Internal,

    #[error("there is nothing at {path}")]
    RouteNotFound { path: String },
    #[error("{path} does not take {method}; it takes {allowed}")]
    HttpMethodNotAllowed { path: String, method: String, allowed: &'static str },
    /// The request head is ambiguous or incomplete.
    #[error("{what}")]
    BadHead { what: String },
    #[error("the body is larger than {limit} bytes")]
    BodyTooLarge { limit: usize },
    #[error("a JSON content type is needed, not {found}")]
    MediaTypeNotAccepted { found: String },
    #[error(
        "authentication failed: the credentials are missing or wrong; send the server's token as \"Authorization: Bearer TOKEN\""
    )]
    Unauthenticated,
    /// Another user of the operating system calls a server that has no token.
    #[error(
        "authentication failed: this server has no token and serves only the user who runs it; to let others call, start it with --token-file FILE \
         or ATTACHE_TOKEN, and send that token as \"Authorization: Bearer TOKEN\""
    )]
    TokenNeeded,
    #[error("{what}")]
    Forbidden { what: String },
    /// The caller is known, and may not do this.
    #[error("this client may not do that: its token does not have the right {right}")]
    RightMissing { right: Right },
    /// The disk of the store is full. The request can be retried when there is space.
    #[error("{what}")]
    StoreFull { what: String },
    /// The store cannot be read or written now, for another reason. The request can be retried.
    #[error("{what}")]
    StoreUnavailable { what: String },
    #[error("the server is shutting down")]
    Unavailable,
    /// The request can be retried.
    #[error("the server is receiving as many large bodies as it has room for; try again in a moment")]
    Overloaded,
    /// The server is at a limit that all callers share. The request can be retried.
    #[error("{what}; try again in a moment")]
    Busy { what: &'static str },
    /// The caller is at its own limit and has to end some of its open calls.
    #[error("{what}")]
    LimitReached { what: String },
}

impl Fault {
    /// Invalid parameters with one wrong member.
    pub fn invalid(field: impl Into<String>, description: impl Into<String>) -> Self {
        Self::InvalidParams {
            violations: vec![Violation { field: field.into(), description: description.into() }],
        }
    }
}

/// What is wrong with one member of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Path of the member as the caller spelled it, e.g. `message.parts[0].kind`.
    pub field: String,
    pub description: String,
}

/// The items after `open`, or nothing when there are none.
fn list(open: &str, items: &[String]) -> String {
    if items.is_empty() { String::new() } else { format!("{open}{}", items.join(", ")) }
}

fn describe(violations: &[Violation]) -> String {
    let mut text = String::from("invalid parameters");
    for (index, violation) in violations.iter().enumerate() {
        text.push_str(if index == 0 { ": " } else { "; " });
        if !violation.field.is_empty() {
            text.push_str(&violation.field);
            text.push(' ');
        }
        text.push_str(&violation.description);
    }
    text
}

fn not_cancelable(state: TaskState) -> String {
    match state.is_terminal() {
        true => format!("already {}", state.in_words()),
        false => format!("{}, and nothing is being worked on that a cancel could stop", state.in_words()),
    }
}
