//! Asks, reads the answer, and tries again where that may help: the same for every provider.
//!
//! One state machine that a stream pulls along: nothing happens unless somebody wants the next piece, and
//! dropping it drops the request. What is sent and what the events of an answer mean is a [`Provider`]'s.

mod provider;
mod reading;
mod silence;

use std::collections::VecDeque;
use std::sync::Arc;

use attache_domain::Exchange;
use attache_model::{LanguageError, Piece, Prompt, Stop, Streamed};
use attache_net::{Answer, NetError};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{Stream, stream};
use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use crate::fault::{Again, Fault};
use crate::retry::{Setback, Tries};
use crate::sse::SseEvent;
use crate::token::Renew;
pub(crate) use provider::{Assembly, Circumstances, Head, NUDGE, Provider, StreamEnd, Verdict};
use reading::{Reading, Step};
use silence::{Heard, Silence};

/// So many continuations in a row that add nothing are the end of an answer.
const BARREN_CONTINUATIONS: u32 = 3;

/// An error's body is read so far.
const MOST_OF_AN_ERROR: usize = 256 * 1024;

pub(crate) fn answer<P: Provider>(
    provider: Arc<P>,
    prompt: Prompt,
) -> impl Stream<Item = Result<Streamed, LanguageError>> + Send {
    stream::unfold(Asking::new(provider, prompt), |mut asking| async move {
        let next = asking.next().await?;
        Some((next, asking))
    })
}

/// One prompt on its way to an answer.
struct Asking<P: Provider> {
    provider: Arc<P>,
    prompt: Prompt,
    /// The request as it is sent, as long as nothing changes in it.
    body: Option<Bytes>,
    circumstances: Circumstances,
    tries: Tries,
    renew: Renew,
    assembly: P::Assembly,
    /// How far the answer had come when it was last continued, and how often that led nowhere.
    extent: usize,
    barren: u32,
    told: VecDeque<Result<Streamed, LanguageError>>,
    /// Since the request was sent, or since the last piece of its answer came.
    silence: Option<Silence>,
    /// Something of the answer to the latest request has come.
    has_begun: bool,
    phase: Phase,
}

enum Phase {
    Send,
    Wait { sending: BoxFuture<'static, Result<Answer, NetError>>, renew: Renew },
    Read(Box<Reading>),
    Pause(Instant),
    Over,
}

impl<P: Provider> Asking<P> {
    fn new(provider: Arc<P>, prompt: Prompt) -> Self {
        Self {
            assembly: provider.assembly(&prompt),
            tries: Tries::new(provider.retry().clone()),
            body: None,
            circumstances: Circumstances::default(),
            renew: Renew::IfNeeded,
            extent: 0,
            barren: 0,
            told: VecDeque::new(),
            silence: None,
            has_begun: false,
            phase: Phase::Send,
            provider,
            prompt,
        }
    }

    async fn next(&mut self) -> Option<Result<Streamed, LanguageError>> {
        loop {
            if let Some(told) = self.told.pop_front() {
                return Some(told);
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
        let renew = std::mem::replace(&mut self.renew, Renew::IfNeeded);
        let request = match self.provider.request(body, renew).await {
            Ok(request) => request,
            Err(error) => return self.give_up(error),
        };
        let client = self.provider.client().clone();
        self.silence = Some(Silence::before_answer(self.provider.retry()));
        self.has_begun = false;
        self.phase = Phase::Wait { sending: Box::pin(async move { client.send(request).await }), renew };
    }

    /// Waits for the head of the answer.
    async fn wait(&mut self) {
        let Phase::Wait { sending, renew } = &mut self.phase else { return };
        let renew = *renew;
        let heard = match &mut self.silence {
            Some(silence) => silence.until(sending).await,
            None => Heard::This(sending.await),
        };
        let answer = match heard {
            Heard::This(Ok(answer)) => answer,
            Heard::This(Err(error)) => return self.not_reached(&error, renew),
            Heard::Nothing(piece) => return self.told.push_back(Ok(Streamed::Piece(piece))),
            Heard::TooLate(error) => return self.not_reached(&error, renew),
        };
        self.phase = Phase::Send;
        let head = Head::of(&answer);
        if head.status == 200 {
            self.phase = Phase::Read(Box::new(Reading::new(answer)));
            return;
        }
        let body = answer.beginning(MOST_OF_AN_ERROR).await;
        let body = self.provider.redacted(&String::from_utf8_lossy(&body));
        self.not_answered(self.provider.fault_of_answer(&head, &body), renew);
    }

    fn not_reached(&mut self, error: &NetError, renew: Renew) {
        self.phase = Phase::Send;
        let fault = Fault::of_network(error, &self.provider.place(), self.provider.retry());
        self.not_answered(fault, renew);
    }

    fn body(&mut self) -> Result<Bytes, LanguageError> {
        if let Some(body) = &self.body {
            return Ok(body.clone());
        }
        let body = self.provider.body(&self.prompt, &self.circumstances)?;
        self.body = Some(body.clone());
        Ok(body)
    }

    /// The next request is for the same prompt, but says something else.
    fn change(&mut self, circumstances: Circumstances) {
        if circumstances != self.circumstances {
            self.circumstances = circumstances;
            self.body = None;
        }
    }

    async fn read(&mut self) {
        let Phase::Read(reading) = &mut self.phase else { return };
        let step = reading.step(self.assembly.has_finished());
        let step = match &mut self.silence {
            Some(silence) => match silence.until(step).await {
                Heard::This(step) => step,
                Heard::Nothing(piece) => return self.told.push_back(Ok(Streamed::Piece(piece))),
                Heard::TooLate(error) if self.has_begun => Step::Broken { why: error.to_string() },
                Heard::TooLate(error) => return self.not_reached(&error, Renew::IfNeeded),
            },
            None => step.await,
        };
        let most = self.provider.client().idle_timeout();
        (self.silence, self.has_begun) = (Some(Silence::within_answer(self.provider.retry(), most)), true);
        match step {
            Step::Events(events) => self.take(&events),
            Step::Closed => self.judge(StreamEnd::Closed),
            Step::Broken { .. } if self.assembly.has_finished() => self.judge(StreamEnd::Broken),
            Step::Broken { why } => {
                let end = LanguageError::Unusable { what: why.clone() };
                self.not_whole(Fault::of_answer(why, end));
            }
            Step::TooLarge { what } | Step::Foreign { what } => {
                self.give_up(LanguageError::Unusable { what })
            }
        }
    }

    fn take(&mut self, events: &[SseEvent]) {
        for event in events {
            let told = &mut self.told;
            let taken = self.assembly.take(event, &mut |piece| told.push_back(Ok(Streamed::Piece(piece))));
            if let Err(error) = taken {
                return self.failed_within(&error);
            }
            if self.assembly.is_over() {
                return self.judge(StreamEnd::Closed);
            }
        }
    }

    /// The provider reports an error where the next piece of its answer should be.
    fn failed_within(&mut self, error: &Value) {
        let shown = self.provider.redacted(&error.to_string());
        let error = serde_json::from_str(&shown).unwrap_or(Value::String(shown));
        self.not_whole(self.provider.fault_within(&error));
    }

    /// The stream is over: is it an answer?
    fn judge(&mut self, end: StreamEnd) {
        match self.assembly.verdict(end, ends_with_results(&self.prompt.exchanges)) {
            Verdict::Whole(stop) => self.conclude(stop),
            Verdict::Continues(from) => self.carry_on(from),
            Verdict::Invalid { why, silent } => {
                let nudged = silent || self.circumstances.nudged;
                self.change(Circumstances { nudged, ..self.circumstances.clone() });
                let what = format!("{why}, in {} tries", self.tries.attempt());
                self.not_whole(Fault::of_answer(why, LanguageError::Unusable { what }));
            }
        }
    }

    fn conclude(&mut self, stop: Stop) {
        let assembly = std::mem::replace(&mut self.assembly, self.provider.assembly(&Prompt::default()));
        let usage = assembly.usage();
        let said = assembly.into_said(&stop);
        self.told.push_back(Ok(Streamed::End { stop, usage, said }));
        self.phase = Phase::Over;
    }

    fn carry_on(&mut self, from: Value) {
        let extent = self.assembly.extent();
        self.barren = if extent > self.extent { 0 } else { self.barren + 1 };
        self.extent = extent;
        if self.barren >= BARREN_CONTINUATIONS {
            let what = "the answer is continued again and again, and nothing is added".into();
            return self.give_up(LanguageError::Unusable { what });
        }
        self.assembly.carry_on();
        self.change(Circumstances { continuation: Some(from), ..self.circumstances.clone() });
        self.phase = Phase::Send;
    }

    fn not_answered(&mut self, fault: Fault, renew: Renew) {
        let setback = match fault.again {
            Some(Again::After(wanted)) => Setback::NotAnswered { wanted },
            Some(Again::NobodyThere) => Setback::NobodyThere,
            Some(Again::Silent) => Setback::Silent,
            Some(Again::NoCapacity) => Setback::NoCapacity,
            Some(Again::Renewed) if self.provider.renews() && renew == Renew::IfNeeded => {
                self.renew = Renew::Now;
                return;
            }
            Some(Again::Renewed) | None => return self.give_up(fault.end),
        };
        self.again(setback, fault);
    }

    fn not_whole(&mut self, fault: Fault) {
        match fault.again {
            Some(Again::After(wanted)) => self.again(Setback::NotWhole { wanted }, fault),
            Some(Again::NoCapacity) => self.again(Setback::NoCapacity, fault),
            Some(Again::NobodyThere | Again::Silent | Again::Renewed) | None => self.give_up(fault.end),
        }
    }

    /// From the beginning, after a pause; or not at all.
    fn again(&mut self, setback: Setback, fault: Fault) {
        let Some(pause) = self.tries.after(setback) else { return self.give_up(fault.end) };
        tracing::debug!(why = fault.why, ?pause, "the model is asked again");
        self.assembly = self.provider.assembly(&self.prompt);
        self.change(Circumstances { continuation: None, ..self.circumstances.clone() });
        (self.extent, self.barren) = (0, 0);
        let attempt = self.tries.attempt();
        self.told.push_back(Ok(Streamed::Piece(Piece::Retrying { attempt, pause, why: fault.why })));
        // From now, not from when the notice was taken.
        self.phase = Phase::Pause(Instant::now() + pause);
    }

    fn give_up(&mut self, error: LanguageError) {
        self.told.push_back(Err(error));
        self.phase = Phase::Over;
    }
}

/// Is the model's next answer the one to the results of its calls?
fn ends_with_results(exchanges: &[Arc<Exchange>]) -> bool {
    matches!(exchanges.last().map(|exchange| &**exchange), Some(Exchange::Results(_)))
}
