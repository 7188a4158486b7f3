//! Why a call failed, for the model and for people. The words of agents are marked as data.

use attache_client::ClientError;
use attache_tool::{ToolError, ToolErrorKind, untrusted};

use super::AgentCall;
use crate::agent::ConnectFailure;

impl AgentCall<'_> {
    /// What the agent said and sent until then, and what went wrong in our words.
    pub(super) async fn failure(&mut self, why: &str) -> ToolError {
        self.explained(&format!(" {why}")).await
    }

    /// The same with a text that may hold words of the agent.
    pub(super) async fn quoted_failure(&mut self, why: &str) -> ToolError {
        let why = self.agent.cleaner.clean(why);
        self.explained(&format!("\n{}", untrusted(&why))).await
    }

    pub(super) async fn call_failure(&mut self, error: &ClientError) -> ToolError {
        let why = match self.missing_authentication(error) {
            Some(missing) => format!("{error}; {missing}"),
            None => explain(error),
        };
        if holds_words_of_peer(error) { self.quoted_failure(&why).await } else { self.failure(&why).await }
    }

    /// What a refused call lacks, as far as the card tells.
    fn missing_authentication(&self, error: &ClientError) -> Option<String> {
        let client = self.client.as_ref().filter(|_| error.is_refused_credential())?;
        self.agent.missing_authentication(client)
    }

    pub(super) async fn connect_failure(&mut self, failure: &ConnectFailure) -> ToolError {
        if failure.quotes_peer {
            self.quoted_failure(&failure.why).await
        } else {
            self.failure(&failure.why).await
        }
    }

    async fn explained(&mut self, why: &str) -> ToolError {
        let mut message = self.report().await;
        if !message.is_empty() {
            message.push_str("\n\n");
        }
        message.push_str(&format!("The agent {} failed:{why}", self.agent.name()));
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

/// The agent refuses the context of a message: it does not know it, or not any more. There is no code for that.
pub(super) fn is_about_context(error: &ClientError) -> bool {
    match error {
        ClientError::Refused(refusal) => {
            error.is_not_found() || refusal.message.to_lowercase().contains("context")
        }
        _ => false,
    }
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
