//! Why a call failed.

use std::time::Duration;

use attache_credentials::CredentialError;
use attache_net::NetError;
use attache_net::sse::EventTooLarge;
use attache_wire::client::{DecodeError, RemoteError, UnsupportedOperation};

use crate::origin;

/// The status of gRPC; UNAUTHENTICATED has a variant of its own.
const GRPC_PERMISSION_DENIED: i64 = 7;

/// Variants differ by what a caller can do. Texts of servers are bounded, but not to be trusted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// Nothing listens at the address, or the connection broke.
    #[error(transparent)]
    Net(#[from] NetError),
    #[error("that address cannot be used: {what}")]
    Address { what: String },
    #[error("there is no card there; looked at {tried}")]
    NoCard { tried: String },
    /// What the card says leads to a place that the caller did not name.
    #[error("{what} {named}, but comes from {came_from}; that is another origin, so it was not followed")]
    OtherOrigin { what: &'static str, named: String, came_from: String },
    #[error("the card names {named}; for a card that was not fetched, this origin has to be allowed")]
    UnnamedOrigin { named: String },
    #[error("{what}, and only signed cards are trusted")]
    Unsigned { what: String },
    #[error("the server wants a credential, or another one: {message}")]
    Unauthenticated { message: String },
    /// There is no credential to send.
    #[error(transparent)]
    Credential(#[from] CredentialError),
    /// The agent refused the request.
    #[error("{0}")]
    Refused(RemoteError),
    /// An HTTP status without an A2A error.
    #[error("the server answered with the HTTP status {status}{}", excerpt(text))]
    Status { status: u16, text: String },
    #[error("the server's response is not valid A2A: {what}")]
    Malformed { what: String },
    /// The request was about one task, and the response is about another.
    #[error("the agent answered about the task {named}, and the request was about {expected}")]
    OtherTask { named: String, expected: String },
    #[error(transparent)]
    Unsupported(#[from] UnsupportedOperation),
    #[error("the agent offers no interface that is spoken here ({wanted}); it offers {offered}")]
    NoInterface { wanted: String, offered: String },
    /// The card offers what is spoken here, at an address that is none.
    #[error("its card names {url} for what is spoken here, and that cannot be called")]
    UnusableInterface { url: String },
    #[error("the stream broke off{}{why}", tries_text(*tries))]
    StreamLost { tries: u32, why: String },
    /// The agent takes no commands, or not in a way that is understood here.
    #[error("{why}")]
    NoCommands { why: String },
    #[error("the command was not started{}", excerpt(why))]
    CommandNotStarted { why: String },
    #[error("no response came within {} s", after.as_secs_f32())]
    Deadline { after: Duration },
}

impl ClientError {
    /// There is no such task.
    pub fn is_not_found(&self) -> bool {
        self.is_refused_with(-32001, "TASK_NOT_FOUND")
    }

    /// The task cannot be subscribed to because it is over.
    pub fn is_finished(&self) -> bool {
        self.is_refused_with(-32004, "UNSUPPORTED_OPERATION")
    }

    /// The task is over, or the agent has no subscriptions; the task itself may tell more.
    pub(crate) fn is_refused_subscription(&self) -> bool {
        match self {
            Self::Refused(_) => !self.is_not_found(),
            Self::Status { status, .. } => matches!(status, 400 | 404 | 405 | 409 | 501),
            Self::Malformed { .. } | Self::Unsupported(_) => true,
            _ => false,
        }
    }

    /// The same call may succeed a moment later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Net(error) => error.is_transient(),
            Self::Status { status, .. } => matches!(status, 429 | 502..=504),
            Self::Refused(RemoteError { code, reason, .. }) => {
                matches!(code, 429 | 502..=504)
                    || matches!(
                        reason.as_deref(),
                        Some("UNAVAILABLE" | "RESOURCE_EXHAUSTED" | "DEADLINE_EXCEEDED")
                    )
            }
            _ => false,
        }
    }

    /// The agent did not answer, or a server before it failed: that says nothing about the task.
    pub fn is_lost_connection(&self) -> bool {
        let is_broken = matches!(
            self,
            Self::StreamLost { .. } | Self::Deadline { .. } | Self::Status { status: 500 | 502..=599, .. }
        );
        is_broken || self.is_transient()
    }

    /// Another credential may be accepted.
    pub fn is_refused_credential(&self) -> bool {
        match self {
            Self::Unauthenticated { .. } | Self::Status { status: 401 | 403, .. } => true,
            Self::Refused(RemoteError { code, .. }) => matches!(*code, 403 | GRPC_PERMISSION_DENIED),
            _ => false,
        }
    }

    fn is_refused_with(&self, number: i64, name: &str) -> bool {
        match self {
            Self::Refused(RemoteError { reason: Some(reason), .. }) => reason == name,
            Self::Refused(RemoteError { code, reason: None, .. }) => *code == number,
            _ => false,
        }
    }

    pub(crate) fn other_task(named: &str, expected: &str) -> Self {
        Self::OtherTask { named: origin::excerpt(named), expected: origin::excerpt(expected) }
    }

    pub(crate) fn from_status(status: u16, body: &[u8]) -> Self {
        DecodeError::from_status(status, body).into()
    }
}

impl From<DecodeError> for ClientError {
    fn from(error: DecodeError) -> Self {
        match error {
            DecodeError::Unauthenticated { message } => Self::Unauthenticated { message },
            DecodeError::Remote(error) => Self::Refused(error),
            DecodeError::Status { status, text } => Self::Status { status, text },
            other => Self::Malformed { what: other.to_string() },
        }
    }
}

impl From<EventTooLarge> for ClientError {
    fn from(error: EventTooLarge) -> Self {
        Self::Malformed { what: error.to_string() }
    }
}

/// Without a try, the reason is part of the sentence.
fn tries_text(tries: u32) -> String {
    match tries {
        0 => " ".to_owned(),
        1 => " and did not come back after a try: ".to_owned(),
        tries => format!(" and did not come back after {tries} tries: "),
    }
}

fn excerpt(text: &str) -> String {
    let line: String = text.lines().next().unwrap_or_default().chars().take(200).collect();
    if line.is_empty() { line } else { format!(": {line}") }
}
