//! Fallback between models.
//!
//! When a model does not exist, cannot be reached or has no quota left, the next model of the chain is asked, and the stream
//! says so. The failed model is skipped for a while, so that later prompts do not wait for it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use attache_domain::IgnorePoison;
use futures_util::{StreamExt, stream};
use tokio::time::Instant;

use crate::{AnswerEvent, AnswerPiece, LanguageError, LanguageModel, LanguageStream, Prompt};

/// A chain of models under the name of its first.
pub struct FallbackModel {
    chain: Arc<Chain>,
    window: u64,
}

struct Chain {
    links: Vec<ChainModel>,
}

struct ChainModel {
    model: Arc<dyn LanguageModel>,
    /// The end of the skip; ignored while every model is skipped.
    skipped_until: Mutex<Option<Instant>>,
}

/// How long a model is skipped that does not exist, or whose quota is exhausted for an unknown time.
const LONG_SKIP_INTERVAL: Duration = Duration::from_secs(3_600);

/// How long a model is skipped that could not be reached.
const SHORT_SKIP_INTERVAL: Duration = Duration::from_secs(300);

impl FallbackModel {
    pub fn new(
        first: Arc<dyn LanguageModel>,
        others: impl IntoIterator<Item = Arc<dyn LanguageModel>>,
    ) -> Self {
        let link = |model| ChainModel { model, skipped_until: Mutex::default() };
        let links: Vec<ChainModel> = [first].into_iter().chain(others).map(link).collect();
        // A prompt must fit into the window of every model.
        let window = links.iter().map(|link| link.model.window()).min().unwrap_or(0);
        Self { chain: Arc::new(Chain { links }), window }
    }
}

impl LanguageModel for FallbackModel {
    fn name(&self) -> &str {
        self.chain.links[0].model.name()
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn stream(&self, prompt: Prompt) -> LanguageStream {
        let asking = FallbackRequest { chain: Arc::clone(&self.chain), prompt, phase: Phase::Begin };
        let next = |mut asking: FallbackRequest| async move { Some((asking.next().await?, asking)) };
        stream::unfold(asking, next).boxed()
    }
}

/// A request that moves along the chain.
struct FallbackRequest {
    chain: Arc<Chain>,
    prompt: Prompt,
    phase: Phase,
}

enum Phase {
    Begin,
    Answer { index: usize, stream: LanguageStream },
    Over,
}

impl FallbackRequest {
    async fn next(&mut self) -> Option<Result<AnswerEvent, LanguageError>> {
        if matches!(self.phase, Phase::Begin) {
            self.ask(self.chain.first());
        }
        let Phase::Answer { index, stream } = &mut self.phase else { return None };
        let index = *index;
        match stream.next().await {
            Some(Ok(AnswerEvent::Piece(piece))) => Some(Ok(AnswerEvent::Piece(piece))),
            Some(Err(error)) => Some(self.failed(index, error)),
            end => {
                self.phase = Phase::Over;
                end
            }
        }
    }

    fn ask(&mut self, index: usize) {
        let stream = self.chain.links[index].model.stream(self.prompt.clone());
        self.phase = Phase::Answer { index, stream };
    }

    fn failed(&mut self, index: usize, error: LanguageError) -> Result<AnswerEvent, LanguageError> {
        let next = skip_for(&error).and_then(|skip_for| {
            self.chain.links[index].skip_for(skip_for);
            self.chain.after(index)
        });
        let Some(next) = next else {
            self.phase = Phase::Over;
            return Err(error);
        };
        self.ask(next);
        let model = self.chain.links[next].model.name().to_owned();
        Ok(AnswerEvent::Piece(AnswerPiece::Switched { model, why: error.to_string() }))
    }
}

impl Chain {
    /// The first model that is not skipped, or else the first of the chain.
    fn first(&self) -> usize {
        self.links.iter().position(|link| !link.is_skipped()).unwrap_or(0)
    }

    fn after(&self, index: usize) -> Option<usize> {
        (index + 1..self.links.len()).find(|index| !self.links[*index].is_skipped())
    }
}

impl ChainModel {
    fn is_skipped(&self) -> bool {
        let until = *self.skipped_until.lock().ignore_poison();
        until.is_some_and(|until| until > Instant::now())
    }

    fn skip_for(&self, pause: Duration) {
        let until = Instant::now() + pause;
        *self.skipped_until.lock().ignore_poison() = Some(until);
    }
}

/// How long a model is skipped after an error that another model may not have; `None` for any other error.
fn skip_for(error: &LanguageError) -> Option<Duration> {
    match error {
        LanguageError::NoSuchModel { .. } => Some(LONG_SKIP_INTERVAL),
        LanguageError::QuotaExhausted { retry_after, .. } => {
            // Bounds the provider's number before it is added to a clock.
            Some(retry_after.map_or(LONG_SKIP_INTERVAL, |pause| pause.min(24 * LONG_SKIP_INTERVAL)))
        }
        LanguageError::Unavailable { .. } => Some(SHORT_SKIP_INTERVAL),
        LanguageError::Credential { .. }
        | LanguageError::NoCredential { .. }
        | LanguageError::Request { .. }
        | LanguageError::TooLong { .. }
        | LanguageError::Unreachable { .. }
        | LanguageError::Unusable { .. } => None,
    }
}

#[cfg(test)]
#[path = "fallback_tests.rs"]
mod tests;
