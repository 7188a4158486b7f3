//! Why there is no decoded response.

use attache_domain::OperationKind;
use serde_json::Value;

use crate::Version;

/// Texts come from the agent: bounded, and not to be trusted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    #[error("{message}")]
    Unauthenticated { message: String },
    #[error("{0}")]
    Remote(RemoteError),
    /// The body is no A2A error.
    #[error("the HTTP status {status}")]
    Status { status: u16, text: String },
    #[error("{what}")]
    Malformed { what: String },
}

/// An error that the agent reported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RemoteError {
    /// Of JSON-RPC, or the HTTP status.
    pub code: i64,
    /// The protocol's name for it, such as `TASK_NOT_FOUND`.
    pub reason: Option<String>,
    pub message: String,
}

/// The version has no such operation, or this client does not send it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("A2A {} has no request for {}", version.as_str(), operation.name())]
pub struct UnsupportedOperation {
    pub version: Version,
    pub operation: OperationKind,
}

/// Characters of a text that an agent sent.
const MAX_TEXT: usize = 4096;
const MAX_REASON: usize = 80;

impl DecodeError {
    /// Reads the error object of either binding.
    pub(super) fn from_object(status: u16, error: &Value) -> Self {
        let text = error.get("message").and_then(Value::as_str).unwrap_or("it gave no reason");
        let message = prefix(text, MAX_TEXT);
        if status == 401 {
            return Self::Unauthenticated { message };
        }
        let code = error.get("code").and_then(Value::as_i64).unwrap_or_else(|| i64::from(status));
        let details = error.get("data").or_else(|| error.get("details")).and_then(Value::as_array);
        let reason = details.into_iter().flatten().find_map(|detail| detail.get("reason")?.as_str());
        let reason = reason.map(|reason| prefix(reason, MAX_REASON));
        Self::Remote(RemoteError { code, reason, message })
    }

    /// For a response without an A2A body.
    pub fn from_status(status: u16, body: &[u8]) -> Self {
        if status == 401 {
            return Self::from_object(status, &Value::Null);
        }
        Self::Status { status, text: prefix(&String::from_utf8_lossy(body), MAX_TEXT) }
    }
}

fn prefix(text: &str, characters: usize) -> String {
    text.chars().take(characters).collect()
}
