//! What differs between providers: what is sent, and what the events of an answer mean.

use attache_domain::{Said, Usage};
use attache_model::{LanguageError, Piece, Prompt, Stop};
use attache_net::{Answer, Client, Request};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::fault::Fault;
use crate::retry::RetryOptions;
use crate::sse::SseEvent;
use crate::token::Renew;

/// One way of being asked.
pub(crate) trait Provider: Send + Sync + 'static {
    type Assembly: Assembly;

    fn client(&self) -> &Client;
    fn retry(&self) -> &RetryOptions;
    /// Which server it is, for people.
    fn place(&self) -> String;
    /// `text` without what is secret, should a server repeat it.
    fn redacted(&self, text: &str) -> String;
    /// Can another credential be had when one is refused?
    fn renews(&self) -> bool;

    fn body(&self, prompt: &Prompt, circumstances: &Circumstances) -> Result<Bytes, LanguageError>;
    /// The request for an answer, with a credential on it.
    fn request(&self, body: Bytes, renew: Renew) -> BoxFuture<'_, Result<Request, LanguageError>>;
    fn assembly(&self, prompt: &Prompt) -> Self::Assembly;

    /// An answer that is an error. `body` is redacted.
    fn fault_of_answer(&self, head: &Head, body: &str) -> Fault;
    /// An error where the next piece of an answer should be.
    fn fault_within(&self, error: &Value) -> Fault;
}

/// An answer as far as it has come.
pub(crate) trait Assembly: Send + 'static {
    /// Takes an event in and tells what is new. An error is one that the provider reports.
    fn take(&mut self, event: &SseEvent, tell: &mut dyn FnMut(Piece)) -> Result<(), Value>;

    /// How it ends has been said; only what it cost may still come.
    fn has_finished(&self) -> bool;

    /// Nothing more can come, even if the connection stays open.
    fn is_over(&self) -> bool {
        false
    }

    fn verdict(&self, end: StreamEnd, after_results: bool) -> Verdict;

    /// Goes on with the answer to the next request.
    fn carry_on(&mut self);

    /// How much there is, to see whether a continuation gets anywhere.
    fn extent(&self) -> usize;
    fn usage(&self) -> Usage;
    fn into_said(self, stop: &Stop) -> Vec<Said>;
}

/// What has become of an answer once its stream is over.
#[derive(Debug, PartialEq)]
pub(crate) enum Verdict {
    Whole(Stop),
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
pub(crate) struct Circumstances {
    /// The answer before held no words.
    pub(crate) nudged: bool,
    /// Where the answer before stopped, in the provider's own words.
    pub(crate) continuation: Option<Value>,
}

/// Added to the instructions when an answer had no words in it.
pub(crate) const NUDGE: &str = "Your last answer held no text for the user and no tool call. \
    Answer now with text, or call a tool.";

/// What the head of an answer says about trying again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<String>,
    pub(crate) retry_after_ms: Option<String>,
    pub(crate) should_retry: Option<String>,
    pub(crate) date: Option<String>,
}

impl Head {
    pub(super) fn of(answer: &Answer) -> Self {
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
