//! The trait for language models: a prompt in, a streamed answer out.
//!
//! The agent runs turns and tools.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use attache_domain::{Exchange, ModelPart, Usage};
use futures_util::stream::BoxStream;
use serde_json::Value;

/// The input of a model for one answer.
#[derive(Debug, Clone, Default)]
pub struct Prompt {
    pub instructions: Option<String>,
    /// Oldest first. The builder of a prompt pairs calls with results. Shared, because a conversation is long and is sent
    /// with every request.
    pub exchanges: Arc<Vec<Arc<Exchange>>>,
    /// Prompts with the same key only grow; see [`PromptKey`].
    pub key: Option<PromptKey>,
    pub tools: Arc<[ToolDeclaration]>,
    pub temperature: Option<f64>,
}

/// Names a prompt that grows: of two prompts with the same key, the longer one begins with the exchanges of the shorter
/// one. A model may keep what it encoded for the shorter one. Unique in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PromptKey(u64);

impl PromptKey {
    pub fn unique() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct ToolDeclaration {
    pub name: String,
    pub description: String,
    /// JSON Schema of the input, an object.
    pub parameters: Value,
}

/// Any number of pieces, then one end.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerEvent {
    Piece(AnswerPiece),
    End {
        stop: StopReason,
        usage: Usage,
        /// The whole answer, with the opaque data that the provider expects back.
        parts: Vec<ModelPart>,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub enum AnswerPiece {
    /// The answer begins, with the provider's id.
    Begun { id: String },
    /// The next piece of the answer.
    Text(String),
    /// The next piece of the visible reasoning.
    Thought(String),
    /// No data has arrived for `silent`. The request times out after `timeout`.
    Waiting { silent: Duration, timeout: Duration },
    /// A temporary failure. The pieces so far are withdrawn; the answer begins again after `pause`.
    Retrying { attempt: u32, pause: Duration, why: String },
    /// A fallback model answers. The pieces so far are withdrawn.
    Switched { model: String, why: String },
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// The answer is complete, calls included.
    Done,
    /// The limit for the answer was reached.
    Length,
    /// The model or its provider refuses to answer. A retry of the same prompt is useless.
    Refused { why: String },
}

/// Lazy: nothing is sent before the stream is polled. Dropping it cancels the request.
pub type LanguageStream = BoxStream<'static, Result<AnswerEvent, LanguageError>>;

/// Why there is no answer. The variants differ in what the caller can do. Temporary failures have already been
/// retried.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LanguageError {
    /// The credential is missing, wrong, or lacks a permission.
    #[error("the model's provider refuses the credential: {what}")]
    Credential { what: String },
    /// No credential is configured, so no request was sent.
    #[error("no credential can be given to the model's provider: {what}")]
    NoCredential { what: String },
    /// The request or its history is invalid.
    #[error("the model's provider refuses the request: {what}")]
    Request { what: String },
    #[error("there is no model {model}: {what}")]
    NoSuchModel { model: String, what: String },
    #[error("the prompt is larger than the model takes: {what}")]
    TooLong { what: String },
    /// A wait of some minutes does not help: the limit is per day, or a payment is missing.
    #[error("the quota is used up: {what}")]
    QuotaExhausted { what: String, retry_after: Option<Duration> },
    /// All retries failed.
    #[error("the model cannot be reached: {what}")]
    Unavailable { what: String },
    /// The connection or TLS failed. Another model of the same server would fail too.
    #[error("the model's server cannot be reached: {what}")]
    Unreachable { what: String },
    /// Every answer was incomplete or empty.
    #[error("the model gave no usable answer: {what}")]
    Unusable { what: String },
}

pub trait LanguageModel: Send + Sync + 'static {
    /// The provider's name of the model; an alias is resolved.
    fn name(&self) -> &str;

    /// How many tokens a prompt may have.
    fn window(&self) -> u64;

    fn stream(&self, prompt: Prompt) -> LanguageStream;
}
