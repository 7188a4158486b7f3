//! Why a call failed, for the model and for people. The words of agents are marked as data.

use attache_client::ClientError;
use attache_tool::{ToolError, ToolErrorKind, untrusted};

use super::AgentCall;
use crate::agent::ConnectFailure;

impl AgentCall<'_> {
    /// What the agent said until then, and what went wrong in our words.
    pub(super) fn failure(&self, why: &str) -> ToolError {
        self.explained(&format!(" {}", attache_domain::visible_again(why)))
    }

    /// The same with a text that may hold words of the agent.
    pub(super) fn quoted_failure(&self, why: &str) -> ToolError {
        self.explained(&format!("\n{}", untrusted(&attache_domain::visible_again(why))))
    }

    pub(super) fn call_failure(&self, error: &ClientError) -> ToolError {
        let why = explain(error);
        if holds_words_of_peer(error) { self.quoted_failure(&why) } else { self.failure(&why) }
    }

    pub(super) fn connect_failure(&self, failure: &ConnectFailure) -> ToolError {
        if failure.quotes_peer { self.quoted_failure(&failure.why) } else { self.failure(&failure.why) }
    }

    fn explained(&self, why: &str) -> ToolError {
        let name = self.agent.name();
        let mut message = String::new();
        if !self.output.is_empty() {
            message = format!("{}\n\n", untrusted(&bounded(self.output.text())));
        }
        message.push_str(&format!("The agent {name} failed:{why}"));
        ToolError::new(ToolErrorKind::ExecutionFailed, message)
    }
}

/// A failure of a call, in a sentence.
fn explain(error: &ClientError) -> String {
    match error {
        error if error.is_refused_credential() => format!("{error}; check the auth block of its file"),
        error if may_have_arrived(error) => {
            format!("{error}; it is not known whether the agent received the message")
        }
        error => error.to_string(),
    }
}

/// The request was sent, and the error does not say whether it arrived.
pub(super) fn may_have_arrived(error: &ClientError) -> bool {
    error.is_transient() || matches!(error, ClientError::StreamLost { .. } | ClientError::Deadline { .. })
}

/// Errors of the network are ours. All others may quote what the agent sent.
pub(crate) fn holds_words_of_peer(error: &ClientError) -> bool {
    !matches!(
        error,
        ClientError::Net(_)
            | ClientError::Address { .. }
            | ClientError::NoCard { .. }
            | ClientError::Credential(_)
            | ClientError::Unsupported(_)
            | ClientError::Deadline { .. }
    )
}

/// What a model gets of a text in an error.
fn bounded(mut text: String) -> String {
    const MAX_BYTES: usize = 20_000;
    let cut = text.ceil_char_boundary(text.len().saturating_sub(MAX_BYTES));
    if cut > 0 {
        text = format!("[... {cut} bytes are left out ...]\n{}", &text[cut..]);
    }
    text
}
