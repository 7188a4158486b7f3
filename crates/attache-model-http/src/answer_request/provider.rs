//! The trait of providers: encodes the request, and decodes the events of an answer.

use attache_domain::{ModelPart, Usage};
use attache_model::{AnswerPiece, LanguageError, Prompt, StopReason};
use attache_net::sse::SseEvent;
use attache_net::{HttpClient, HttpRequest, HttpResponse};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::failed_attempt::FailedAttempt;
use crate::request_error::RequestError;
use crate::retry::RetryOptions;
use crate::token::TokenRenewal;

/// One provider's API.
pub(crate) trait Provider: Send + Sync + 'static {
    type Assembler: AnswerAssembler;

    fn model_id(&self) -> &str;
    /// The size of the context window.
    fn window(&self) -> u64;
    fn client(&self) -> &HttpClient;
    fn retry(&self) -> &RetryOptions;
    /// The display name of the server.
    fn server_name(&self) -> String;
    /// Removes secrets from `text`, in case a server repeats them.
    fn redacted(&self, text: &str) -> String;
    /// Whether a new credential can be requested after a refusal.
    fn renews(&self) -> bool {
        false
    }

    fn body(&self, prompt: &Prompt, variation: &RequestVariation) -> Result<Bytes, LanguageError>;
    /// The request for an answer, with the credential.
    fn request(&self, body: Bytes, renew: TokenRenewal) -> BoxFuture<'_, Result<HttpRequest, LanguageError>>;
    fn assembler(&self, prompt: &Prompt) -> Self::Assembler;

    /// Decodes an error response. `body` is redacted.
    fn classify_response(&self, head: &ResponseHead, body: &str) -> FailedAttempt {
        RequestError::of_answer(head, body).failed_attempt(self.model_id())
    }
    /// Decodes an error that arrived instead of the next event.
    fn classify_event(&self, error: &Value) -> FailedAttempt {
        RequestError::of_event(error).failed_attempt(self.model_id())
    }
}

/// An answer that is being received.
pub(crate) trait AnswerAssembler: Send + 'static {
    /// Adds an event and reports the new pieces. The error of the result is one that the provider sent.
    fn take(&mut self, event: &SseEvent, emit: &mut dyn FnMut(AnswerPiece)) -> Result<(), Value>;

    /// Whether the answer has ended; only the usage may follow.
    fn has_finished(&self) -> bool;

    /// Whether the stream can be closed, even if the connection stays open.
    fn is_over(&self) -> bool {
        false
    }

    fn verdict(&self, end: StreamEnd, after_results: bool) -> AnswerVerdict;

    /// Continues the answer with the next request.
    fn continue_answer(&mut self);

    /// The length of the answer, to detect continuations that add nothing.
    fn extent(&self) -> usize;
    fn usage(&self) -> Usage;
    fn into_parts(self, stop: &StopReason) -> Vec<ModelPart>;
}

/// The state of an answer at the end of its stream.
#[derive(Debug, PartialEq)]
pub(crate) enum AnswerVerdict {
    Whole(StopReason),
    /// The next request gets the rest.
    Continues(Value),
    /// A retry may help; `silent` if the answer only lacked text.
    Invalid {
        why: String,
        silent: bool,
    },
}

/// How a stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamEnd {
    Closed,
    Broken,
}

/// The variations of the request for one prompt.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct RequestVariation {
    /// The previous answer had no text.
    pub(crate) nudged: bool,
    /// The position where the previous answer stopped, in the provider's format.
    pub(crate) continuation: Option<Value>,
}

/// Added to the instructions after an empty answer.
pub(crate) const NUDGE: &str = "Your last answer held no text for the user and no tool call. \
    Answer now with text, or call a tool.";

/// The headers of a response that retries use.
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
