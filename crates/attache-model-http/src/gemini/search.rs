//! Asks a Gemini model to search the web.
//!
//! A separate request: models refuse their own search tool beside function declarations.

use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

use attache_model::LanguageError;
use attache_net::HttpClient;
use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};

use super::chain::chain_of;
use super::endpoint::GeminiEndpoint;
use super::models::Model;
use super::request_error;
use super::{BadOptions, GeminiOptions, TokenRenewal};
use crate::failed_attempt::{FailedAttempt, RetryDecision};
use crate::retry::{RetryOptions, RetryReason, RetryState};

/// Searches with one model or its fallback models.
#[derive(Debug)]
pub struct GeminiSearch {
    /// Tried in this order, as for answers.
    links: Vec<SearchModel>,
    /// The number of models at the start of the chain that do not exist; they are not tried again.
    first: AtomicUsize,
    retry: RetryOptions,
    client: HttpClient,
}

#[derive(Debug)]
struct SearchModel {
    model: Model,
    endpoint: GeminiEndpoint,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchAnswer {
    pub text: String,
    pub sources: Vec<SearchSource>,
    pub supports: Vec<SearchSupport>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchSource {
    pub title: String,
    pub url: String,
}

/// The sources of a piece of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchSupport {
    /// The end of the piece, in bytes of the text.
    pub end: usize,
    /// Indexes into the list of sources.
    pub sources: Vec<usize>,
}

/// The maximum size of a response, far above that of a usual one.
const MAX_ANSWER_BYTES: usize = 4 * 1024 * 1024;
const MAX_ERROR_BYTES: usize = 64 * 1024;
/// The turn waits for the result.
const MAX_ATTEMPTS: u32 = 3;

impl GeminiSearch {
    /// `options`: those of the conversation's model, perhaps with a smaller model; `flash` is sufficient.
    pub fn new(options: GeminiOptions, client: HttpClient) -> Result<Self, BadOptions> {
        let mut retry = options.retry.clone();
        retry.attempts = retry.attempts.min(MAX_ATTEMPTS);
        let link = |name: &str| {
            let model = Model::named(name);
            let endpoint = GeminiEndpoint::whole(options.clone(), &model)?;
            Ok(SearchModel { model, endpoint })
        };
        let links = chain_of(&options.model).into_iter().map(link).collect::<Result<_, BadOptions>>()?;
        Ok(Self { links, first: AtomicUsize::new(0), retry, client })
    }

    pub async fn search(&self, query: &str) -> Result<SearchAnswer, LanguageError> {
        let mut place = self.first.load(Ordering::Relaxed);
        loop {
            let error = match self.search_by(&self.links[place], query).await {
                Ok(searched) => return Ok(searched),
                Err(error) => error,
            };
            place += 1;
            let others_may = matches!(
                error,
                LanguageError::NoSuchModel { .. }
                    | LanguageError::QuotaExhausted { .. }
                    | LanguageError::Unavailable { .. }
            );
            if !others_may || place == self.links.len() {
                return Err(error);
            }
            if matches!(error, LanguageError::NoSuchModel { .. }) {
                self.first.fetch_max(place, Ordering::Relaxed);
            }
            tracing::debug!(%error, "another model is asked to search");
        }
    }

    async fn search_by(&self, link: &SearchModel, query: &str) -> Result<SearchAnswer, LanguageError> {
        let body = json!({
            "contents": [{ "role": "user", "parts": [{ "text": query }] }],
            "tools": [{ "googleSearch": {} }],
        });
        let body = Bytes::from(body.to_string());
        let (mut tries, mut renew) = (RetryState::new(self.retry.clone()), TokenRenewal::IfNeeded);
        loop {
            let fault = match self.ask(link, body.clone(), renew).await {
                Ok(searched) => return searched,
                Err(fault) => fault,
            };
            let pause = match fault.retry {
                Some(RetryDecision::After(requested)) => {
                    tries.delay_after(RetryReason::NotAnswered { requested })
                }
                Some(RetryDecision::FirstByteTimeout) => tries.delay_after(RetryReason::FirstByteTimeout),
                Some(RetryDecision::NoCapacity) => tries.delay_after(RetryReason::NoCapacity),
                Some(RetryDecision::WithNewCredential)
                    if renew == TokenRenewal::IfNeeded && link.endpoint.renews() =>
                {
                    renew = TokenRenewal::Now;
                    continue;
                }
                Some(RetryDecision::WithNewCredential | RetryDecision::ConnectionRefused) | None => None,
            };
            let Some(pause) = pause else { return Err(fault.error) };
            tracing::debug!(why = fault.why, ?pause, "a search is tried again");
            tokio::time::sleep(pause).await;
        }
    }

    /// One request. An error in a response is final; a failed connection may be temporary.
    async fn ask(
        &self,
        SearchModel { model, endpoint }: &SearchModel,
        body: Bytes,
        renew: TokenRenewal,
    ) -> Result<Result<SearchAnswer, LanguageError>, FailedAttempt> {
        let request = match endpoint.request(body, renew).await {
            Ok(request) => request,
            Err(error) => return Ok(Err(error)),
        };
        let network = |error| FailedAttempt::of_network(&error, &endpoint.place(), &self.retry);
        let answer = self.client.send(request).await.map_err(network)?;
        let status = answer.status();
        if status != 200 {
            let retry_after = answer.header("retry-after").map(str::to_owned);
            let body = answer.read_prefix(MAX_ERROR_BYTES).await;
            let body = endpoint.redacted(&String::from_utf8_lossy(&body));
            return Err(request_error::of_status(status, retry_after.as_deref(), body.as_bytes(), &model.id));
        }
        let body = answer.read(MAX_ANSWER_BYTES).await.map_err(network)?;
        Ok(read(&body))
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Reply {
    candidates: Option<Vec<Candidate>>,
    prompt_feedback: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Candidate {
    content: Option<Content>,
    finish_reason: Option<String>,
    grounding_metadata: Option<Grounding>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Content {
    parts: Option<Vec<Part>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Part {
    text: Option<String>,
    thought: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Grounding {
    grounding_chunks: Option<Vec<Chunk>>,
    grounding_supports: Option<Vec<Support>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Chunk {
    web: Option<Web>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Web {
    uri: Option<String>,
    title: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Support {
    segment: Option<Segment>,
    grounding_chunk_indices: Option<Vec<usize>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Segment {
    part_index: Option<usize>,
    end_index: Option<usize>,
}

fn read(body: &[u8]) -> Result<SearchAnswer, LanguageError> {
    let unusable = |what: String| LanguageError::Unusable { what };
    let reply: Reply = serde_json::from_slice(body)
        .map_err(|error| unusable(format!("the answer to a search is not what was expected: {error}")))?;
    let Some(candidate) = reply.candidates.unwrap_or_default().into_iter().next() else {
        let why = reply.prompt_feedback.map_or_else(String::new, |feedback| format!(": {feedback}"));
        return Err(unusable(format!("the search was not answered{why}")));
    };
    let mut text = String::new();
    // The start of each part in the whole text.
    let mut starts = Vec::new();
    for part in candidate.content.unwrap_or_default().parts.unwrap_or_default() {
        starts.push(text.len());
        if part.thought != Some(true) {
            text.push_str(&part.text.unwrap_or_default());
        }
    }
    if let Some(reason) = candidate.finish_reason.filter(|reason| reason != "STOP" && reason != "MAX_TOKENS")
    {
        if text.is_empty() {
            return Err(unusable(format!("the search was not answered: {reason}")));
        }
        let _ = write!(text, "\n(The answer broke off: {reason}.)");
    }
    let grounding = candidate.grounding_metadata.unwrap_or_default();
    let source = |chunk: Chunk| {
        let Web { uri, title } = chunk.web.unwrap_or_default();
        SearchSource { title: title.unwrap_or_default(), url: uri.unwrap_or_default() }
    };
    let support = |support: Support| {
        let segment = support.segment.unwrap_or_default();
        let start = starts.get(segment.part_index.unwrap_or(0)).copied()?;
        let end = start.saturating_add(segment.end_index.unwrap_or(0)).min(text.len());
        Some(SearchSupport { end, sources: support.grounding_chunk_indices.unwrap_or_default() })
    };
    let sources = grounding.grounding_chunks.unwrap_or_default().into_iter().map(source).collect();
    let supports = grounding.grounding_supports.unwrap_or_default().into_iter().filter_map(support).collect();
    Ok(SearchAnswer { text, sources, supports })
}
