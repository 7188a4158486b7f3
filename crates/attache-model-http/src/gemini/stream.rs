//! Asks, reads the answer, and tries again where that may help.
//!
//! One state machine that a stream pulls along: nothing happens unless somebody wants the next piece, and
//! dropping it drops the request.

mod reading;

use std::collections::VecDeque;
use std::sync::Arc;

use attache_domain::Usage;
use attache_model::{LanguageError, Piece, Prompt, Stop, Streamed};
use bytes::Bytes;
use futures_util::{Stream, stream};
use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use super::answer::{Assembly, StreamEnd, Verdict};
use super::contents::ends_with_results;
use super::error::{self, Again, Fault};
use super::request::{self, Circumstances};
use super::{Renew, Shared};
use crate::retry::{Setback, Tries};
use reading::{Reading, Step};

/// So many continuations in a row that add nothing are the end of an answer.
const BARREN_CONTINUATIONS: u32 = 3;

/// An error's body is read so far.
const MOST_OF_AN_ERROR: usize = 256 * 1024;

pub(super) fn answer(
    shared: Arc<Shared>,
    prompt: Prompt,
) -> impl Stream<Item = Result<Streamed, LanguageError>> + Send {
    stream::unfold(Asking::new(shared, prompt), |mut asking| async move {
        let next = asking.next().await?;
        Some((next, asking))
    })
}

/// One prompt on its way to an answer.
struct Asking {
    shared: Arc<Shared>,
    prompt: Prompt,
    /// The request as it is sent, as long as nothing changes in it.
    body: Option<Bytes>,
    circumstances: Circumstances,
    tries: Tries,
    renew: Renew,
    assembly: Assembly,
    /// How far the answer had come when it was last continued, and how often that led nowhere.
    extent: usize,
    barren: u32,
    told: VecDeque<Result<Streamed, LanguageError>>,
    phase: Phase,
}

enum Phase {
    Send,
    Read(Box<Reading>),
    Pause(Instant),
    Over,
}

impl Asking {
    fn new(shared: Arc<Shared>, prompt: Prompt) -> Self {
        Self {
            assembly: Assembly::new(&shared, &prompt),
            tries: Tries::new(shared.retry.clone()),
            body: None,
            circumstances: Circumstances::default(),
            renew: Renew::IfNeeded,
            extent: 0,
            barren: 0,
            told: VecDeque::new(),
            phase: Phase::Send,
            shared,
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
        let request = match self.shared.endpoint.request(body, renew).await {
            Ok(request) => request,
            Err(error) => return self.give_up(error),
        };
        let answer = match self.shared.client.send(request).await {
            Ok(answer) => answer,
            Err(error) => {
                return self.not_answered(error::of_network(&error, &self.shared.endpoint.place()), renew);
            }
        };
        let status = answer.status();
        if status == 200 {
            self.phase = Phase::Read(Box::new(Reading::new(answer)));
            return;
        }
        let retry_after = answer.header("retry-after").map(str::to_owned);
        let body = answer.beginning(MOST_OF_AN_ERROR).await;
        let body = self.shared.endpoint.redacted(&String::from_utf8_lossy(&body));
        let fault =
            error::of_status(status, retry_after.as_deref(), body.as_bytes(), &self.shared.model.name);
        self.not_answered(fault, renew);
    }

    fn body(&mut self) -> Result<Bytes, LanguageError> {
        if let Some(body) = &self.body {
            return Ok(body.clone());
        }
        let body = Bytes::from(request::body(&self.shared, &self.prompt, &self.circumstances)?);
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
        match reading.step(self.assembly.has_finished()).await {
            Step::Chunks(chunks) => {
                for chunk in chunks {
                    if let Some(error) = &chunk.error {
                        return self.failed_within(error);
                    }
                    let told = &mut self.told;
                    self.assembly.take(chunk, &mut |piece| told.push_back(Ok(Streamed::Piece(piece))));
                }
            }
            Step::Closed => self.judge(StreamEnd::Closed),
            Step::Broken { .. } if self.assembly.has_finished() => self.judge(StreamEnd::Broken),
            Step::Broken { why } => {
                let end = LanguageError::Unusable { what: why.clone() };
                self.not_whole(Fault { why, again: Some(Again::After(None)), end });
            }
            Step::TooLarge { what } => self.give_up(LanguageError::Unusable { what }),
        }
    }

    /// The provider reports an error where the next piece of its answer should be.
    fn failed_within(&mut self, error: &Value) {
        let shown = self.shared.endpoint.redacted(&error.to_string());
        let error = serde_json::from_str(&shown).unwrap_or(Value::String(shown));
        self.not_whole(error::of_event(&error, &self.shared.model.name));
    }

    /// The stream is over: is it an answer?
    fn judge(&mut self, end: StreamEnd) {
        match self.assembly.verdict(end, ends_with_results(&self.prompt.exchanges)) {
            Verdict::Whole(stop) => self.conclude(stop),
            Verdict::Continues(token) => self.carry_on(token),
            Verdict::Invalid { why, silent } => {
                let nudged = silent || self.circumstances.nudged;
                self.change(Circumstances { nudged, ..self.circumstances.clone() });
                let end =
                    LanguageError::Unusable { what: format!("{why}, in {} tries", self.tries.attempt()) };
                self.not_whole(Fault { why, again: Some(Again::After(None)), end });
            }
        }
    }

    fn conclude(&mut self, stop: Stop) {
        let assembly = std::mem::replace(&mut self.assembly, Assembly::new(&self.shared, &Prompt::default()));
        let usage: Usage = assembly.usage();
        let said = assembly.into_said(&stop);
        self.told.push_back(Ok(Streamed::End { stop, usage, said }));
        self.phase = Phase::Over;
    }

    fn carry_on(&mut self, token: String) {
        let extent = self.assembly.extent();
        self.barren = if extent > self.extent { 0 } else { self.barren + 1 };
        self.extent = extent;
        if self.barren >= BARREN_CONTINUATIONS {
            let what = "the answer is continued again and again, and nothing is added".into();
            return self.give_up(LanguageError::Unusable { what });
        }
        self.assembly.carry_on();
        self.change(Circumstances { continuation: Some(token), ..self.circumstances.clone() });
        self.phase = Phase::Send;
    }

    fn not_answered(&mut self, fault: Fault, renew: Renew) {
        let setback = match fault.again {
            Some(Again::After(wanted)) => Setback::NotAnswered { wanted },
            Some(Again::NoCapacity) => Setback::NoCapacity,
            Some(Again::Renewed) if self.shared.endpoint.renews() && renew == Renew::IfNeeded => {
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
            Some(Again::Renewed) | None => self.give_up(fault.end),
        }
    }

    /// From the beginning, after a pause; or not at all.
    fn again(&mut self, setback: Setback, fault: Fault) {
        let Some(pause) = self.tries.after(setback) else { return self.give_up(fault.end) };
        tracing::debug!(why = fault.why, ?pause, "the model is asked again");
        self.assembly = Assembly::new(&self.shared, &self.prompt);
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
