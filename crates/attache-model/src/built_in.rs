//! The trait of built-in models: a conversation in, a stream of items out.

use std::sync::Arc;

use attache_domain::{Artifact, Message, Part, ReplyShape, ToolCall, ToolResult};
use futures_util::stream::BoxStream;

/// The part of a conversation that one turn needs.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// The conversation so far, oldest first; the last message is the one to answer.
    pub history: Vec<Arc<Message>>,
    /// Counted from one within the task.
    pub turn: u32,
    /// How many chunks of this turn were recorded before a restart. The model continues after them.
    pub emitted: u32,
    /// The results of this turn's calls so far: one entry for each [`TurnFinish::Calls`], in order.
    pub results: Vec<Vec<ToolResult>>,
}

/// A piece of an answer. Each counts as one chunk towards [`ModelRequest::emitted`].
#[derive(Debug, Clone, PartialEq)]
pub enum ModelChunk {
    Thought(String),
    /// The next piece of the answer.
    Text(String),
    /// An artifact or the next piece of one.
    Artifact {
        artifact: Artifact,
        append: bool,
        last: bool,
    },
    /// A credential is needed; the stream continues with `Resumed` once the credential was given.
    CredentialNeeded(String),
    Resumed,
}

/// The end of a turn. Its text, if any, becomes the message of the final status.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnFinish {
    Completed {
        status: Option<String>,
    },
    /// The turn ends with a question or waits for the next message.
    InputRequired {
        question: Option<String>,
    },
    /// A credential was needed. The message is sent once it was given.
    AuthRequired {
        explanation: String,
    },
    Failed {
        reason: String,
    },
    Rejected {
        reason: String,
    },
    /// The turn pauses until these calls have finished. Then the model gets the same request with one more entry in
    /// `results`. Ids are unique within the task.
    Calls(Vec<ToolCall>),
    /// The whole answer is one message without a task. Allowed only after [`BuiltInModel::reply_shape`] announced it.
    Replied {
        parts: Vec<Part>,
    },
}

/// Any number of chunks, then one finish.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelStreamItem {
    Chunk(ModelChunk),
    Finish(TurnFinish),
}

/// Lazy: nothing happens before the stream is polled. Dropping it cancels the work.
pub type ModelStream = BoxStream<'static, Result<ModelStreamItem, ModelError>>;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    #[error("the reply stream broke off: {what}")]
    Interrupted { what: String },
}

pub trait BuiltInModel: Send + Sync + 'static {
    /// The display name.
    fn name(&self) -> &str;

    /// Answers the last message of the request.
    fn stream(&self, request: ModelRequest) -> ModelStream;

    /// Whether the answer to `message`, which opens a task, is a task or one message. Called before the task opens,
    /// because the reply to the caller is fixed then. Must be fast and deterministic.
    fn reply_shape(&self, message: &Message) -> ReplyShape;
}
