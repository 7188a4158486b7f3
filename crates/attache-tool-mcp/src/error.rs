//! Why a server cannot be used, and why a call failed.

use std::time::Duration;

/// There is no connection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error("its settings are wrong: {0}")]
    Settings(String),
    #[error("`{program}` cannot be started: {why}")]
    Start { program: String, why: String },
    #[error("it did not answer within {} s", after.as_secs())]
    Silent { after: Duration },
    #[error("it answers {status}: credentials are missing or wrong; give them in its `headers` setting")]
    SignIn { status: u16 },
    #[error("it answers {status}{}", answer_text(what))]
    Refused { status: u16, what: String },
    #[error("{0}")]
    Unreachable(String),
    #[error("it does not speak MCP: {0}")]
    NotUnderstood(String),
    #[error("connecting to it was not approved")]
    Unapproved,
    #[error("the servers have been closed")]
    Closed,
}

/// Why a sent call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CallError {
    #[error("cancelled")]
    Cancelled,
    #[error("no answer within {} s; the server was told to stop", after.as_secs())]
    TimedOut { after: Duration },
    /// The error response of the server.
    #[error("the server answers with error {code}: {message}")]
    Refused { code: i32, message: String },
    #[error("the connection was lost: {0}")]
    Lost(String),
    /// The request never reached the server.
    #[error("the server cannot be reached: {0}")]
    Unsent(String),
}

fn answer_text(what: &str) -> String {
    if what.is_empty() { String::new() } else { format!(": {what}") }
}
