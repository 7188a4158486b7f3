//! Why a call failed.

use attache_net::NetError;
use attache_net::sse::EventTooLarge;
use attache_wire::client::{DecodeError, RemoteError, UnsupportedOperation};

/// Variants differ by what a caller can do. Texts of servers are bounded, but not to be trusted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The address cannot be used, nothing listens there, or the connection broke.
    #[error(transparent)]
    Net(#[from] NetError),
    #[error("the server wants a credential, or another one: {message}")]
    Unauthenticated { message: String },
    /// The agent refused the request.
    #[error("{0}")]
    Refused(RemoteError),
    /// An HTTP status without an A2A error.
    #[error("the server answered with the HTTP status {status}{}", excerpt(text))]
    Status { status: u16, text: String },
    #[error("what the server sent is no A2A 1.0: {what}")]
    Malformed { what: String },
    #[error(transparent)]
    Unsupported(#[from] UnsupportedOperation),
    #[error(
        "the agent offers no interface that this client speaks (JSONRPC or HTTP+JSON, version 1.0); it offers {offered}"
    )]
    NoInterface { offered: String },
    #[error("the stream broke off and did not come back after {tries} tries: {why}")]
    StreamLost { tries: u32, why: String },
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

    /// The same call may succeed a moment later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Net(error) => error.is_transient(),
            Self::Status { status, .. } => matches!(status, 429 | 502..=504),
            Self::Refused(RemoteError { code, reason, .. }) => {
                matches!(code, 429 | 502..=504) || reason.as_deref() == Some("UNAVAILABLE")
            }
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

fn excerpt(text: &str) -> String {
    let line: String = text.lines().next().unwrap_or_default().chars().take(200).collect();
    if line.is_empty() { line } else { format!(": {line}") }
}
