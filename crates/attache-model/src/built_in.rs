//! The trait of built-in models: a conversation in, a stream of items out.

use std::sync::Arc;

use attache_domain::{Artifact, Message, Part, ReplyShape, ToolCall, ToolResult};
use futures_util::stream::BoxStream;

/// One turn's worth of conversation.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// The conversation so far, oldest first; the last message is the one to answer.
    pub history: Vec<Arc<Message>>,
    /// Counted from one within the task.
    pub turn: u32,
    /// How many chunks of this turn are already recorded, from before a restart. A provider that can
    /// continues after them; one that cannot starts again with [`ModelChunk::Withdrawn`].
    pub emitted: u32,
    /// The results of this turn's calls so far: one entry for each [`TurnFinish::Calls`], in order.
    pub results: Vec<Vec<ToolResult>>,
}

/// A piece of an answer. Every variant but `Withdrawn` counts as one chunk towards [`ModelRequest::emitted`].
#[derive(Debug, Clone, PartialEq)]
pub enum ModelChunk {
    Thought(String),
    /// The next piece of the answer.
    Text(String),
    /// The text so far does not count.
    Withdrawn,
    /// An artifact or the next piece of one.
    Artifact {
        artifact: Artifact,
        append: bool,
        last: bool,
    },
    /// A credential is needed; the stream goes on by itself with `Resumed` once it is there.
    CredentialNeeded(String),
    Resumed,
}

/// How a turn ends. The text, where there is one, becomes the message of the final status.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnFinish {
    Completed {
        status: Option<String>,
    },
    /// The turn ends with a question, or just waits for the next message.
    InputRequired {
        question: Option<String>,
    },
    /// A credential is needed, and a message that says it is there.
    AuthRequired {
        explanation: String,
    },
    Failed {
        reason: String,
    },
    Rejected {
        reason: String,
    },
    /// The turn is not over: it goes on, with the same request and one more entry in `results`, once these calls are.
    /// Their ids are unique within the task.
    Calls(Vec<ToolCall>),
    /// The whole answer is one bare message. Only after [`BuiltInModel::reply_shape`] said so.
    Replied {
        parts: Vec<Part>,
    },
}

/// Any number of chunks, then one finish and nothing more.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelStreamItem {
    Chunk(ModelChunk),
    Finish(TurnFinish),
}

/// Lazy: nothing happens before the stream is polled, and dropping it cancels the work.
pub type ModelStream = BoxStream<'static, Result<ModelStreamItem, ModelError>>;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    #[error("the reply stream broke off: {what}")]
    Interrupted { what: String },
}

pub trait BuiltInModel: Send + Sync + 'static {
    /// The name that people use.
    fn name(&self) -> &str;

    /// Answers the last message of the request.
    fn stream(&self, request: ModelRequest) -> ModelStream;

    /// Will `message`, opening a task, be answered with a task or with a bare message? Asked before the
    /// task opens, because what the caller gets back is fixed then. Quick, and the same every time.
    fn reply_shape(&self, message: &Message) -> ReplyShape;
}
