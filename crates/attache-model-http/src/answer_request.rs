//! Sends a request, reads the answer and retries: the same for every provider.
//!
//! A state machine behind a stream. It runs only while the stream is polled; dropping the stream cancels the request.
//! A [`Provider`] encodes requests and decodes the events of an answer.

mod answer_reader;
mod provider;
mod silence_timer;

use std::collections::VecDeque;
use std::sync::Arc;

use attache_domain::Exchange;
use attache_model::{AnswerEvent, AnswerPiece, LanguageError, Prompt, StopReason};
use attache_net::sse::SseEvent;
use attache_net::{HttpResponse, NetError};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{Stream, stream};
use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use crate::failed_attempt::{FailedAttempt, RetryDecision};
use crate::retry::{RetryReason, RetryState};
use crate::token::TokenRenewal;
use answer_reader::{AnswerReader, ReadStep};
pub(crate) use provider::{
    AnswerAssembler, AnswerVerdict, NUDGE, Provider, RequestVariation, ResponseHead, StreamEnd,
};
use silence_timer::{SilenceTimer, TimedOutcome};

/// The answer ends after this many empty continuations in a row.
const MAX_EMPTY_CONTINUATIONS: u32 = 3;

/// The number of bytes read from the body of an error.
const MAX_ERROR_BYTES: usize = 256 * 1024;

pub(crate) fn answer<P: Provider>(
    provider: Arc<P>,
    prompt: Prompt,
) -> impl Stream<Item = Result<AnswerEvent, LanguageError>> + Send {
    stream::unfold(AnswerRequest::new(provider, prompt), |mut asking| async move {
        let next = asking.next().await?;
        Some((next, asking))
    })
}

/// The request for the answer to one prompt, with its retries.
struct AnswerRequest<P: Provider> {
    provider: Arc<P>,
    prompt: Prompt,
    /// The encoded request; encoded again when the variation changes.
    body: Option<Bytes>,
    variation: RequestVariation,
    retry_state: RetryState,
    renew: TokenRenewal,
    assembler: P::Assembler,
    /// The length of the answer at the last continuation, and the number of continuations that added nothing.
    extent: usize,
    empty_continuations: u32,
    queued: VecDeque<Result<AnswerEvent, LanguageError>>,
    /// The time since the request was sent, or since the latest piece of the answer.
    silence: Option<SilenceTimer>,
    /// Whether the latest request has delivered a piece of the answer.
    has_begun: bool,
    phase: Phase,
}

enum Phase {
    Send,
    Wait { sending: BoxFuture<'static, Result<HttpResponse, NetError>>, renew: TokenRenewal },
    Read(Box<AnswerReader>),
    Pause(Instant),
    Over,
}

impl<P: Provider> AnswerRequest<P> {
    fn new(provider: Arc<P>, prompt: Prompt) -> Self {
        Self {
            assembler: provider.assembler(&prompt),
            retry_state: RetryState::new(provider.retry().clone()),
            body: None,
            variation: RequestVariation::default(),
            renew: TokenRenewal::IfNeeded,
            extent: 0,
            empty_continuations: 0,
            queued: VecDeque::new(),
            silence: None,
            has_begun: false,
            phase: Phase::Send,
            provider,
            prompt,
        }
    }

    async fn next(&mut self) -> Option<Result<AnswerEvent, LanguageError>> {
        loop {
            if let Some(queued) = self.queued.pop_front() {
                return Some(queued);
            }
            match &mut self.phase {
                Phase::Send => self.send().await,
                Phase::Wait { .. } => self.wait().await,
                Phase::Read(_) => self.read().await,
                Phase::Pause(until) => {
                    sleep_until(*until).await;
                    self.phase = Phase::Send;
                }
                Phase::Over => return None,
            }
        }
    }

    async fn send(&mut self) {
        let body = match self.body() {
            Ok(body) => body,
            Err(error) => return self.give_up(error),
        };
        let renew = std::mem::replace(&mut self.renew, TokenRenewal::IfNeeded);
        let request = match self.provider.request(body, renew).await {
            Ok(request) => request,
            Err(error) => return self.give_up(error),
        };
        let client = self.provider.client().clone();
        self.silence = Some(SilenceTimer::before_answer(self.provider.retry()));
        self.has_begun = false;
        self.phase = Phase::Wait { sending: Box::pin(async move { client.send(request).await }), renew };
    }

    /// Waits for the response's head.
    async fn wait(&mut self) {
        let Phase::Wait { sending, renew } = &mut self.phase else { return };
        let renew = *renew;
        let outcome = match &mut self.silence {
            Some(silence) => silence.until(sending).await,
            None => TimedOutcome::This(sending.await),
        };
        let answer = match outcome {
            TimedOutcome::This(Ok(answer)) => answer,
            TimedOutcome::This(Err(error)) => return self.not_reached(&error, renew),
            TimedOutcome::Nothing(piece) => return self.queued.push_back(Ok(AnswerEvent::Piece(piece))),
            TimedOutcome::TooLate(error) => return self.not_reached(&error, renew),
        };
        self.phase = Phase::Send;
        let head = ResponseHead::of(&answer);
        if head.status == 200 {
            self.phase = Phase::Read(Box::new(AnswerReader::new(answer)));
            return;
        }
        let body = answer.read_prefix(MAX_ERROR_BYTES).await;
        let body = self.provider.redacted(&String::from_utf8_lossy(&body));
        self.not_answered(self.provider.classify_response(&head, &body), renew);
    }

    fn not_reached(&mut self, error: &NetError, renew: TokenRenewal) {
        self.phase = Phase::Send;
        let fault = FailedAttempt::of_network(error, &self.provider.server_name(), self.provider.retry());
        self.not_answered(fault, renew);
    }

    fn body(&mut self) -> Result<Bytes, LanguageError> {
        if let Some(body) = &self.body {
            return Ok(body.clone());
        }
        let body = self.provider.body(&self.prompt, &self.variation)?;
        self.body = Some(body.clone());
        Ok(body)
    }

    /// The next request repeats the prompt with another variation.
    fn change(&mut self, variation: RequestVariation) {
        if variation != self.variation {
            self.variation = variation;
            self.body = None;
        }
    }

    async fn read(&mut self) {
        let Phase::Read(reading) = &mut self.phase else { return };
        let step = reading.step(self.assembler.has_finished());
        let step = match &mut self.silence {
            Some(silence) => match silence.until(step).await {
                TimedOutcome::This(step) => step,
                TimedOutcome::Nothing(piece) => return self.queued.push_back(Ok(AnswerEvent::Piece(piece))),
                TimedOutcome::TooLate(error) if self.has_begun => ReadStep::Broken { why: error.to_string() },
                TimedOutcome::TooLate(error) => return self.not_reached(&error, TokenRenewal::IfNeeded),
            },
            None => step.await,
        };
        let idle_timeout = self.provider.client().idle_timeout();
        (self.silence, self.has_begun) =
            (Some(SilenceTimer::within_answer(self.provider.retry(), idle_timeout)), true);
        match step {
            ReadStep::Events(events) => self.take(&events),
            ReadStep::Closed => self.judge(StreamEnd::Closed),
            ReadStep::Broken { .. } if self.assembler.has_finished() => self.judge(StreamEnd::Broken),
            ReadStep::Broken { why } => {
                let end = LanguageError::Unusable { what: why.clone() };
                self.not_whole(FailedAttempt::of_answer(why, end));
            }
            ReadStep::TooLarge { what } | ReadStep::Foreign { what } => {
                self.give_up(LanguageError::Unusable { what })
            }
        }
    }

    fn take(&mut self, events: &[SseEvent]) {
        for event in events {
            let queued = &mut self.queued;
            let outcome =
                self.assembler.take(event, &mut |piece| queued.push_back(Ok(AnswerEvent::Piece(piece))));
            if let Err(error) = outcome {
                return self.failed_within(&error);
            }
            if self.assembler.is_over() {
                return self.judge(StreamEnd::Closed);
            }
        }
    }

    /// The provider reported an error in the middle of the answer.
    fn failed_within(&mut self, error: &Value) {
        let shown = self.provider.redacted(&error.to_string());
        let error = serde_json::from_str(&shown).unwrap_or(Value::String(shown));
        self.not_whole(self.provider.classify_event(&error));
    }

    /// The stream has ended: checks whether the answer is complete.
    fn judge(&mut self, end: StreamEnd) {
        match self.assembler.verdict(end, ends_with_results(&self.prompt.exchanges)) {
            AnswerVerdict::Whole(stop) => self.conclude(stop),
            AnswerVerdict::Continues(from) => self.carry_on(from),
            AnswerVerdict::Invalid { why, silent } => {
                let nudged = silent || self.variation.nudged;
                self.change(RequestVariation { nudged, ..self.variation.clone() });
                let what = format!("{why}, in {} tries", self.retry_state.attempt());
                self.not_whole(FailedAttempt::of_answer(why, LanguageError::Unusable { what }));
            }
        }
    }

    fn conclude(&mut self, stop: StopReason) {
        let assembler = std::mem::replace(&mut self.assembler, self.provider.assembler(&Prompt::default()));
        let usage = assembler.usage();
        let parts = assembler.into_parts(&stop);
        self.queued.push_back(Ok(AnswerEvent::End { stop, usage, parts }));
        self.phase = Phase::Over;
    }

    fn carry_on(&mut self, from: Value) {
        let extent = self.assembler.extent();
        self.empty_continuations = if extent > self.extent { 0 } else { self.empty_continuations + 1 };
        self.extent = extent;
        if self.empty_continuations >= MAX_EMPTY_CONTINUATIONS {
            let what = "the answer is continued again and again, and nothing is added".into();
            return self.give_up(LanguageError::Unusable { what });
        }
        self.assembler.continue_answer();
        self.change(RequestVariation { continuation: Some(from), ..self.variation.clone() });
        self.phase = Phase::Send;
    }

    fn not_answered(&mut self, fault: FailedAttempt, renew: TokenRenewal) {
        let retry_reason = match fault.retry {
            Some(RetryDecision::After(requested)) => RetryReason::NotAnswered { requested },
            Some(RetryDecision::ConnectionRefused) => RetryReason::ConnectionRefused,
            Some(RetryDecision::FirstByteTimeout) => RetryReason::FirstByteTimeout,
            Some(RetryDecision::NoCapacity) => RetryReason::NoCapacity,
            Some(RetryDecision::WithNewCredential)
                if self.provider.renews() && renew == TokenRenewal::IfNeeded =>
            {
                self.renew = TokenRenewal::Now;
                return;
            }
            Some(RetryDecision::WithNewCredential) | None => return self.give_up(fault.error),
        };
        self.retry(retry_reason, fault);
    }

    fn not_whole(&mut self, fault: FailedAttempt) {
        match fault.retry {
            Some(RetryDecision::After(requested)) => {
                self.retry(RetryReason::AnswerIncomplete { requested }, fault)
            }
            Some(RetryDecision::NoCapacity) => self.retry(RetryReason::NoCapacity, fault),
            Some(
                RetryDecision::ConnectionRefused
                | RetryDecision::FirstByteTimeout
                | RetryDecision::WithNewCredential,
            )
            | None => self.give_up(fault.error),
        }
    }

    /// Retries the whole prompt after a delay, or gives up.
    fn retry(&mut self, retry_reason: RetryReason, fault: FailedAttempt) {
        let Some(pause) = self.retry_state.delay_after(retry_reason) else {
            return self.give_up(fault.error);
        };
        tracing::debug!(why = fault.why, ?pause, "the model is asked again");
        self.assembler = self.provider.assembler(&self.prompt);
        self.change(RequestVariation { continuation: None, ..self.variation.clone() });
        (self.extent, self.empty_continuations) = (0, 0);
        let attempt = self.retry_state.attempt();
        self.queued.push_back(Ok(AnswerEvent::Piece(AnswerPiece::Retrying {
            attempt,
            pause,
            why: fault.why,
        })));
        // The delay starts now, not when the notice is read.
        self.phase = Phase::Pause(Instant::now() + pause);
    }

    fn give_up(&mut self, error: LanguageError) {
        self.queued.push_back(Err(error));
        self.phase = Phase::Over;
    }
}

/// Whether the model's next answer is the one to the results of its calls.
fn ends_with_results(exchanges: &[Arc<Exchange>]) -> bool {
    matches!(exchanges.last().map(|exchange| &**exchange), Some(Exchange::Results(_)))
}
