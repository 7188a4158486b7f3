//! What differs between providers: the request, and the meaning of an answer's events.

use attache_domain::{ModelPart, Usage};
use attache_model::{AnswerPiece, LanguageError, Prompt, StopReason};
use attache_net::sse::SseEvent;
use attache_net::{HttpClient, HttpRequest, HttpResponse};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::failed_attempt::FailedAttempt;
use crate::retry::RetryOptions;
use crate::token::TokenRenewal;

/// One provider's API.
pub(crate) trait Provider: Send + Sync + 'static {
    type Assembly: Assembly;

    fn client(&self) -> &HttpClient;
    fn retry(&self) -> &RetryOptions;
    /// The server's name for people.
    fn server_name(&self) -> String;
    /// `text` without what is secret, should a server repeat it.
    fn redacted(&self, text: &str) -> String;
    /// Whether a refused credential can be renewed.
    fn renews(&self) -> bool;

    fn body(&self, prompt: &Prompt, circumstances: &RequestVariation) -> Result<Bytes, LanguageError>;
    /// The request for an answer, with a credential on it.
    fn request(&self, body: Bytes, renew: TokenRenewal) -> BoxFuture<'_, Result<HttpRequest, LanguageError>>;
    fn assembly(&self, prompt: &Prompt) -> Self::Assembly;

    /// An answer that is an error. `body` is redacted.
    fn classify_response(&self, head: &ResponseHead, body: &str) -> FailedAttempt;
    /// An error where the next piece of an answer should be.
    fn classify_event(&self, error: &Value) -> FailedAttempt;
}

/// An answer in progress.
pub(crate) trait Assembly: Send + 'static {
    /// Adds an event and reports the new pieces. An error is the provider's own.
    fn take(&mut self, event: &SseEvent, tell: &mut dyn FnMut(AnswerPiece)) -> Result<(), Value>;

    /// How it ends has been said; only what it cost may still come.
    fn has_finished(&self) -> bool;

    /// Nothing more can come, even if the connection stays open.
    fn is_over(&self) -> bool {
        false
    }

    fn verdict(&self, end: StreamEnd, after_results: bool) -> AnswerVerdict;

    /// Goes on with the answer to the next request.
    fn continue_answer(&mut self);

    /// How much there is, to see whether a continuation gets anywhere.
    fn extent(&self) -> usize;
    fn usage(&self) -> Usage;
    fn into_parts(self, stop: &StopReason) -> Vec<ModelPart>;
}

/// The state of an answer when its stream has ended.
#[derive(Debug, PartialEq)]
pub(crate) enum AnswerVerdict {
    Whole(StopReason),
    /// There is more, by the next request.
    Continues(Value),
    /// Worth another try; `silent` when it just held no words.
    Invalid {
        why: String,
        silent: bool,
    },
}

/// How the stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamEnd {
    Closed,
    Broken,
}

/// What differs between the requests for one prompt.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct RequestVariation {
    /// The answer before held no words.
    pub(crate) nudged: bool,
    /// Where the answer before stopped, in the provider's own words.
    pub(crate) continuation: Option<Value>,
}

/// Added to the instructions after an empty answer.
pub(crate) const NUDGE: &str = "Your last answer held no text for the user and no tool call. \
    Answer now with text, or call a tool.";

/// The headers of an answer that matter for retries.
#[derive(Debug, Clone, Default)]
pub(crate) struct ResponseHead {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<String>,
    pub(crate) retry_after_ms: Option<String>,
    pub(crate) should_retry: Option<String>,
    pub(crate) date: Option<String>,
}

impl ResponseHead {
    pub(super) fn of(answer: &HttpResponse) -> Self {
        let header = |name: &str| answer.header(name).map(str::to_owned);
        Self {
            status: answer.status(),
            retry_after: header("retry-after"),
            retry_after_ms: header("retry-after-ms"),
            should_retry: header("x-should-retry"),
            date: header("date"),
        }
    }
}
