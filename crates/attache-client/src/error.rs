//! Why a call came to nothing.

use attache_net::NetError;
use serde_json::Value;

/// By what can be done about it. The texts of servers are theirs: bounded, but not to be trusted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The address cannot be used, nobody is there, or the connection broke.
    #[error(transparent)]
    Net(#[from] NetError),
    #[error("the server wants a credential, or another one: {message}")]
    Unauthenticated { message: String },
    /// The agent said no.
    #[error("{message}")]
    Refused {
        /// Of JSON-RPC, or the HTTP status.
        code: i64,
        /// The name that the protocol has for it, such as `TASK_NOT_FOUND`.
        reason: Option<String>,
        message: String,
    },
    /// An answer with an HTTP status that is no A2A answer at all.
    #[error("the server answered with the HTTP status {status}{}", excerpt(text))]
    Status { status: u16, text: String },
    #[error("what the server sent is no A2A 1.0: {what}")]
    Malformed { what: String },
    #[error(
        "the agent offers no interface that this client speaks (JSONRPC or HTTP+JSON, version 1.0); it offers {offered}"
    )]
    NoInterface { offered: String },
    #[error("the stream broke off and did not come back after {tries} tries: {why}")]
    StreamLost { tries: u32, why: String },
}

/// Of a text from outside.
pub(crate) const MAX_TEXT_BYTES: usize = 4096;

impl ClientError {
    /// There is no such task.
    pub fn is_not_found(&self) -> bool {
        self.is_refused_with(-32001, "TASK_NOT_FOUND")
    }

    /// The task cannot be subscribed to because nothing happens to it any more.
    pub fn is_finished(&self) -> bool {
        self.is_refused_with(-32004, "UNSUPPORTED_OPERATION")
    }

    /// May the same call fare better a moment later?
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Net(error) => error.is_transient(),
            Self::Status { status, .. } => matches!(status, 429 | 502..=504),
            Self::Refused { code, reason, .. } => {
                matches!(code, 429 | 502..=504) || reason.as_deref() == Some("UNAVAILABLE")
            }
            _ => false,
        }
    }

    fn is_refused_with(&self, number: i64, name: &str) -> bool {
        match self {
            Self::Refused { reason: Some(reason), .. } => reason == name,
            Self::Refused { code, reason: None, .. } => *code == number,
            _ => false,
        }
    }

    /// Reads the error object of either binding.
    pub(crate) fn of(status: u16, error: &Value) -> Self {
        let text = error.get("message").and_then(Value::as_str).unwrap_or("it gave no reason");
        let message: String = text.chars().take(MAX_TEXT_BYTES).collect();
        if status == 401 {
            return Self::Unauthenticated { message };
        }
        let code = error.get("code").and_then(Value::as_i64).unwrap_or_else(|| i64::from(status));
        let details = error.get("data").or_else(|| error.get("details")).and_then(Value::as_array);
        let reason = details.into_iter().flatten().find_map(|detail| detail.get("reason")?.as_str());
        Self::Refused { code, reason: reason.map(|reason| reason.chars().take(80).collect()), message }
    }
}

fn excerpt(text: &str) -> String {
    let line: String = text.lines().next().unwrap_or_default().chars().take(200).collect();
    if line.is_empty() { line } else { format!(": {line}") }
}
