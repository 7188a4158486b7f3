//! Calls that outlive the process that started them, or ask a person while they run.
//!
//! All state of such a call is in facts of its task: saved values, questions and answers.

use async_trait::async_trait;
use attache_domain::{CallId, ContextId, QuestionKind, TaskId};
use serde_json::Value;

use crate::{Proposal, ToolContext, ToolError, ToolErrorKind, ToolOutput};

/// A tool whose calls continue after a restart of the server.
#[async_trait]
pub trait ResumableTool: Send + Sync {
    /// Runs the call from the state in the log. Replaces [`Tool::run`](crate::Tool::run).
    ///
    /// When `context.cancel` is cancelled while this runs, a person cancelled the call: the tool tells its peer and returns
    /// within [`CANCEL_TIMEOUT`]; the call is recorded as cancelled, whatever is returned. The future is dropped when the server
    /// stops or the whole task is cancelled.
    async fn run_from(
        &self,
        proposal: Proposal,
        start: CallStart,
        context: &ToolContext,
    ) -> Result<CallEnd, ToolError>;

    /// The call may not run on, because of `refused`. Notifies the peer, and adds what the call knows to the error.
    async fn end(
        &self,
        proposal: &Proposal,
        start: CallStart,
        refused: ToolError,
        context: &ToolContext,
    ) -> ToolError {
        self.cancel(proposal, start.saved, context).await;
        refused
    }

    /// Notifies the peer that the call is over. Called when no run is active that could do it: the call waited for an
    /// answer, or its task was cancelled. Has [`CANCEL_TIMEOUT`]. After a cancel of the whole task this is retried
    /// until it succeeds.
    async fn cancel(
        &self,
        _proposal: &Proposal,
        _saved: Option<Value>,
        _context: &ToolContext,
    ) -> PeerNotice {
        PeerNotice::Told
    }
}

/// Whether the peer of a call was notified that the call is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeerNotice {
    /// The peer was notified, or there is no peer.
    Told,
    /// The peer could not be reached, or does not know the call yet.
    NotYet,
    /// There is no way to reach it. A sentence for people says which peer that is, and why.
    Never(String),
}

/// The time limit of a notification of the peer.
pub const CANCEL_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);

/// The state of a call when a run of it starts.
#[derive(Debug, Clone, PartialEq)]
pub struct CallStart {
    /// Names what this run does: the call's id, or the id of the question whose answer started it. A run that continues after
    /// a restart has the same name as the run that was interrupted, so ids for the peer can be derived from it.
    pub run: CallId,
    /// The value that the call saved last.
    pub saved: Option<Value>,
    /// The person's answer to the question that ended the previous run. After a restart it is passed again.
    pub answer: Option<QuestionAnswer>,
    /// The server stopped during the last run.
    pub restarted: bool,
    /// What that run had shown.
    pub shown: String,
}

impl CallStart {
    /// The first run of `call`.
    pub fn first(call: CallId) -> Self {
        Self { run: call, saved: None, answer: None, restarted: false, shown: String::new() }
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum CallEnd {
    Finished(ToolOutput),
    /// A person must answer first. The call then runs again with the answer.
    Asks(CallQuestion),
    /// The previous run was interrupted, and its effect is unknown. A person decides about the call.
    Unknown,
}

/// A question to a person. Its text is untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallQuestion {
    pub kind: QuestionKind,
    pub text: String,
    /// The page to open, for example to sign in.
    pub url: Option<String>,
}

/// A person's answer to a question of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionAnswer {
    /// The id of the question.
    pub question: CallId,
    pub text: String,
}

impl QuestionAnswer {
    /// The text of an answer: a text, or one text in a list or an object. Any other value as JSON.
    pub fn new(question: CallId, answers: &Value) -> Self {
        let items: Vec<&Value> = match answers {
            Value::Array(items) => items.iter().collect(),
            Value::Object(members) => members.values().collect(),
            other => vec![other],
        };
        let text = match items.as_slice() {
            [Value::String(text)] => text.clone(),
            _ => answers.to_string(),
        };
        Self { question, text }
    }
}

/// Names a call; the same after a restart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallKey {
    pub task: TaskId,
    pub context: ContextId,
    pub call: CallId,
}

impl CallKey {
    /// For work that belongs to no call of a task.
    pub fn none() -> Self {
        Self { task: "".into(), context: "".into(), call: CallId(String::new()) }
    }
}

/// Saves the state that a call needs after a restart.
#[async_trait]
pub trait CallState: Send + Sync {
    /// Replaces what the call saved before. Durable when it returns. At most [`MAX_STATE_BYTES`] as JSON, and no secrets: it
    /// becomes part of the task's log.
    async fn save(&self, value: Value) -> Result<(), ToolError>;

    /// The value that earlier calls of the conversation saved under `key`, in this task or an earlier one.
    fn kept(&self, key: &str) -> Option<Value>;

    /// Saves a value for later calls of the conversation, with the limits of [`Self::save`]; `null` removes it. It is
    /// durable once the call is over or has saved something.
    async fn keep(&self, key: &str, value: Value) -> Result<(), ToolError>;
}

/// The size limit of a saved value, as JSON.
pub const MAX_STATE_BYTES: usize = 16 << 10;

/// For calls that are not running, and for tests.
#[derive(Debug, Default)]
pub struct NoCallState;

#[async_trait]
impl CallState for NoCallState {
    async fn save(&self, _value: Value) -> Result<(), ToolError> {
        Err(ToolError::new(ToolErrorKind::ExecutionFailed, "only a running call can save its state"))
    }

    fn kept(&self, _key: &str) -> Option<Value> {
        None
    }

    async fn keep(&self, _key: &str, value: Value) -> Result<(), ToolError> {
        self.save(value).await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_is_read_from_whatever_clients_send() {
        for (given, expected) in [
            (json!("Berlin"), "Berlin"),
            (json!(["Berlin"]), "Berlin"),
            (json!({"0": "Berlin"}), "Berlin"),
            (json!(["a", "b"]), r#"["a","b"]"#),
            (json!(7), "7"),
            (json!({}), "{}"),
        ] {
            let answer = QuestionAnswer::new(CallId("ask-1-1".into()), &given);
            assert_eq!(answer.text, expected, "{given}");
        }
    }
}
