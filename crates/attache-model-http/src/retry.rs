//! Counts retries and computes the delay before the next one.
//!
//! Pure: the caller waits and passes a [`Jitter`].

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Spreads delays, so that clients that failed together do not retry together.
#[derive(Clone)]
pub struct Jitter(Arc<dyn Fn() -> f64 + Send + Sync>);

impl Jitter {
    /// `chance` returns numbers from 0 up to but not including 1.
    pub fn new(chance: impl Fn() -> f64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(chance))
    }

    /// No jitter: half of the maximum is the middle.
    pub fn none() -> Self {
        Self::new(|| 0.5)
    }

    pub fn random() -> Self {
        // A random id is random enough for a delay.
        Self::new(|| f64::from(uuid::Uuid::new_v4().as_fields().0) / (f64::from(u32::MAX) + 1.0))
    }

    fn between(&self, lowest: f64, highest: f64) -> f64 {
        lowest + (highest - lowest) * (self.0)().clamp(0.0, 1.0)
    }
}

impl fmt::Debug for Jitter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Jitter")
    }
}

#[derive(Debug, Clone)]
pub struct RetryOptions {
    /// Attempts until an answer begins.
    pub attempts: u32,
    /// A request times out if no answer has begun after this time.
    pub first_byte_timeout: Duration,
    /// Whether network failures are retried.
    pub retry_network_failures: bool,
    pub first_delay: Duration,
    pub jitter: Jitter,
}

/// A wrong address is more likely than a temporary failure.
const MAX_REFUSED_CONNECTIONS: u32 = 3;
/// When the first byte times out.
const MAX_SILENT_ATTEMPTS: u32 = 3;
/// To get a complete answer.
const MAX_INCOMPLETE_ANSWERS: u32 = 4;
const FIRST_DELAY_AFTER_INCOMPLETE_ANSWER: Duration = Duration::from_secs(1);
const MAX_DELAY: Duration = Duration::from_secs(30);
/// A longer requested delay ends the retries.
const MAX_PROVIDER_DELAY: Duration = Duration::from_secs(300);

impl Default for RetryOptions {
    fn default() -> Self {
        Self {
            attempts: 10,
            // A model whose reasoning is hidden may be silent for a minute.
            first_byte_timeout: Duration::from_secs(120),
            retry_network_failures: true,
            first_delay: Duration::from_secs(5),
            jitter: Jitter::random(),
        }
    }
}

/// Why a request is retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RetryReason {
    /// No answer began: a network failure, or an error of the provider.
    NotAnswered { requested: Option<Duration> },
    /// The connection was refused.
    ConnectionRefused,
    /// No answer began in time.
    FirstByteTimeout,
    /// The provider has no capacity for this model. This passes within seconds or not at all.
    NoCapacity,
    /// An answer was incomplete or empty.
    AnswerIncomplete { requested: Option<Duration> },
}

/// The retries of one prompt.
#[derive(Debug)]
pub(crate) struct RetryState {
    options: RetryOptions,
    unanswered: u32,
    refused: u32,
    silent: u32,
    without_capacity: usize,
    unfinished: u32,
    begun: u32,
}

/// The first delays when the provider has no capacity.
const CAPACITY_DELAYS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(3)];

impl RetryState {
    pub(crate) fn new(options: RetryOptions) -> Self {
        Self { options, unanswered: 0, refused: 0, silent: 0, without_capacity: 0, unfinished: 0, begun: 1 }
    }

    /// The number of the current attempt, from one.
    pub(crate) fn attempt(&self) -> u32 {
        self.begun
    }

    /// The delay before the next attempt; `None`: give up.
    pub(crate) fn delay_after(&mut self, retry_reason: RetryReason) -> Option<Duration> {
        let pause = match retry_reason {
            RetryReason::NotAnswered { requested } => {
                self.unanswered += 1;
                (self.unanswered < self.options.attempts).then_some(())?;
                self.at_least(requested, self.doubled(self.options.first_delay, self.unanswered, true))
            }
            RetryReason::ConnectionRefused => {
                self.refused += 1;
                self.unanswered += 1;
                let more = self.refused < MAX_REFUSED_CONNECTIONS;
                (more && self.unanswered < self.options.attempts).then_some(())?;
                Some(self.doubled(self.options.first_delay, self.refused, true))
            }
            RetryReason::FirstByteTimeout => {
                self.silent += 1;
                self.unanswered += 1;
                let more = self.silent < MAX_SILENT_ATTEMPTS;
                (more && self.unanswered < self.options.attempts).then_some(())?;
                Some(self.doubled(self.options.first_delay, self.silent, true))
            }
            RetryReason::NoCapacity => {
                let pause = *CAPACITY_DELAYS.get(self.without_capacity)?;
                self.without_capacity += 1;
                Some(pause)
            }
            RetryReason::AnswerIncomplete { requested } => {
                self.unfinished += 1;
                // The next request has all its attempts again.
                (self.unanswered, self.refused) = (0, 0);
                (self.unfinished < MAX_INCOMPLETE_ANSWERS).then_some(())?;
                self.at_least(
                    requested,
                    self.doubled(FIRST_DELAY_AFTER_INCOMPLETE_ANSWER, self.unfinished, false),
                )
            }
        }?;
        self.begun += 1;
        Some(pause)
    }

    fn doubled(&self, first: Duration, times: u32, spread: bool) -> Duration {
        let factor = 2_u32.saturating_pow(times.saturating_sub(1));
        let pause = first.saturating_mul(factor).min(MAX_DELAY);
        if spread { pause.mul_f64(self.options.jitter.between(0.7, 1.3)) } else { pause }
    }

    fn at_least(&self, requested: Option<Duration>, otherwise: Duration) -> Option<Duration> {
        match requested {
            Some(requested) if requested > MAX_PROVIDER_DELAY => None,
            // Never earlier than requested.
            Some(requested) => Some(requested.mul_f64(self.options.jitter.between(1.0, 1.2))),
            None => Some(otherwise),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pauses(jitter: Jitter, retry_reason: RetryReason) -> Vec<f64> {
        let mut tries = RetryState::new(RetryOptions { jitter, ..RetryOptions::default() });
        std::iter::from_fn(|| tries.delay_after(retry_reason)).map(|pause| pause.as_secs_f64()).collect()
    }

    #[track_caller]
    fn check(retry_reason: RetryReason, expected: &[f64]) {
        assert_eq!(pauses(Jitter::none(), retry_reason), expected);
    }

    const NO_WISH: Option<Duration> = None;

    #[test]
    fn pauses_grow_up_to_a_bound() {
        let expected = [5.0, 10.0, 20.0, 30.0, 30.0, 30.0, 30.0, 30.0, 30.0];
        check(RetryReason::NotAnswered { requested: NO_WISH }, &expected);
        check(RetryReason::AnswerIncomplete { requested: NO_WISH }, &[1.0, 2.0, 4.0]);
        check(RetryReason::NoCapacity, &[1.0, 3.0]);
        check(RetryReason::ConnectionRefused, &[5.0, 10.0]);
        check(RetryReason::FirstByteTimeout, &[5.0, 10.0]);
    }

    #[test]
    fn a_requested_pause_is_a_minimum_and_too_long_a_pause_is_the_end() {
        let requested = Some(Duration::from_secs(100));
        check(RetryReason::NotAnswered { requested }, &[110.0; 9]);
        assert_eq!(pauses(Jitter::new(|| 0.0), RetryReason::NotAnswered { requested }), [100.0; 9]);
        check(RetryReason::AnswerIncomplete { requested }, &[110.0; 3]);
        check(RetryReason::NotAnswered { requested: Some(Duration::from_secs(301)) }, &[]);
    }

    #[test]
    fn jitter_spreads_by_less_than_a_third() {
        let retry_reason = RetryReason::NotAnswered { requested: NO_WISH };
        assert_eq!(pauses(Jitter::new(|| 0.0), retry_reason)[0], 3.5);
        assert_eq!(pauses(Jitter::new(|| 1.0), retry_reason)[0], 6.5);
        let random = pauses(Jitter::random(), retry_reason);
        assert!((3.5..=6.5).contains(&random[0]), "{random:?}");
    }

    #[test]
    fn an_answer_that_broke_off_gives_its_request_all_its_tries_again() {
        let mut tries = RetryState::new(RetryOptions { attempts: 2, ..RetryOptions::default() });
        assert!(tries.delay_after(RetryReason::NotAnswered { requested: NO_WISH }).is_some());
        assert!(tries.delay_after(RetryReason::AnswerIncomplete { requested: NO_WISH }).is_some());
        assert!(tries.delay_after(RetryReason::NotAnswered { requested: NO_WISH }).is_some());
        assert_eq!(tries.attempt(), 4);
        assert!(tries.delay_after(RetryReason::NotAnswered { requested: NO_WISH }).is_none());
    }
}
