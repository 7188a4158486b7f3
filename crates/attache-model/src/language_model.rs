//! The seam to language models: one prompt in, one answer out, piece by piece.
//!
//! Not here: turns, tools being run, and what becomes of the answer; that is the agent's.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use attache_domain::{Exchange, ModelPart, ToolCall, Usage};
use futures_util::stream::BoxStream;
use serde_json::Value;

/// All that a model is told for one answer.
#[derive(Debug, Clone, Default)]
pub struct Prompt {
    pub instructions: Option<String>,
    /// Oldest first. Calls and results are paired; whoever builds a prompt sees to that. Shared, because a conversation
    /// is told again and again, and long.
    pub exchanges: Arc<Vec<Arc<Exchange>>>,
    /// Prompts with the same key only grow; see [`PromptKey`].
    pub key: Option<PromptKey>,
    pub tools: Arc<[ToolDeclaration]>,
    pub thinking: Option<Thinking>,
    pub temperature: Option<f64>,
    pub top_p: Option<f64>,
    pub max_output_tokens: Option<u64>,
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

/// How much a model should think before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thinking {
    Off,
    Low,
    Medium,
    High,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ToolDeclaration {
    pub name: String,
    pub description: String,
    /// JSON Schema of the input, an object.
    pub parameters: Value,
}

/// Pieces, then one end and nothing more.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerEvent {
    Piece(AnswerPiece),
    End {
        stop: StopReason,
        usage: Usage,
        /// The whole answer, with everything that the provider wants to see again.
        said: Vec<ModelPart>,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub enum AnswerPiece {
    /// The answer begins; its provider calls it this.
    Begun { id: String },
    /// The next stretch of the answer.
    Text(String),
    /// The next stretch of what the model lets be seen of its reasoning.
    Thought(String),
    /// A call whose input has begun to arrive.
    CallBegun { name: String },
    /// A whole call.
    Call(ToolCall),
    /// Nothing has come for so long, before the answer or in the middle of it; it is waited for until so much time has passed.
    Waiting { silent: Duration, most: Duration },
    /// Something went wrong that may pass. What came so far does not count; the answer begins again after `pause`.
    Retrying { attempt: u32, pause: Duration, why: String },
    /// Another model goes on in place of the one that was asked. What came so far does not count.
    Switched { model: String, why: String },
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// It has said what it wanted, calls included.
    Done,
    /// It was not allowed to say more.
    Length,
    /// It, or its provider, will not answer this. Not worth another try as it is.
    Refused { why: String },
}

/// Lazy: nothing is sent before it is polled, and dropping it ends the request.
pub type LanguageStream = BoxStream<'static, Result<AnswerEvent, LanguageError>>;

/// Why there is no answer, by what can be done about it. Faults that pass are tried again before they come here.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LanguageError {
    /// The credential is missing, wrong, or not good for this.
    #[error("the model's provider refuses the credential: {what}")]
    Credential { what: String },
    /// There is none to begin with, so nobody was asked.
    #[error("no credential can be given to the model's provider: {what}")]
    NoCredential { what: String },
    /// The request itself is at fault, or the history in it.
    #[error("the model's provider refuses the request: {what}")]
    Request { what: String },
    #[error("there is no model {model}: {what}")]
    NoSuchModel { model: String, what: String },
    #[error("the prompt is larger than the model takes: {what}")]
    TooLong { what: String },
    /// Not before a day, or money, has passed.
    #[error("the quota is used up: {what}")]
    QuotaExhausted { what: String, retry_after: Option<Duration> },
    /// It did not pass within the tries there are.
    #[error("the model cannot be reached: {what}")]
    Unavailable { what: String },
    /// Nobody is where the model should be, or nobody to be trusted; no other model is there either.
    #[error("the model's server cannot be reached: {what}")]
    Unreachable { what: String },
    /// Answers came, but none that is whole and says something.
    #[error("the model gave no usable answer: {what}")]
    Unusable { what: String },
}

pub trait LanguageModel: Send + Sync + 'static {
    /// The name that its provider knows it by: an alias is told as what it stands for.
    fn name(&self) -> &str;

    /// How many tokens a prompt may have.
    fn window(&self) -> u64;

    fn stream(&self, prompt: Prompt) -> LanguageStream;
}
