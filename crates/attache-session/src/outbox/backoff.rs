//! How long to wait after a failure.

use std::time::Duration;

use super::sender::PushOptions;

/// A receiver that asks for more than this is tried again after this.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(3600);

/// Doubles with every failure, up to a bound; somewhere in its upper half, so that not all come back at once. What the
/// receiver asks for counts when it is longer.
pub(super) fn retry_delay(
    options: &PushOptions,
    failures: u32,
    retry_after: Option<Duration>,
    chance: f64,
) -> Duration {
    let doubled = options.first_delay.saturating_mul(1 << failures.saturating_sub(1).min(30));
    let own = doubled.min(options.max_delay).mul_f64(0.5 + chance / 2.0);
    own.max(retry_after.unwrap_or_default().min(MAX_RETRY_AFTER))
}

/// Between zero and one.
pub(super) fn random_fraction() -> f64 {
    let [a, b, ..] = *uuid::Uuid::new_v4().as_bytes();
    f64::from(u16::from_le_bytes([a, b])) / f64::from(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(failures: u32, retry_after: Option<u64>, chance: f64, expected: f64) {
        let options = PushOptions {
            first_delay: Duration::from_secs(1),
            max_delay: Duration::from_secs(60),
            ..PushOptions::default()
        };
        let found = retry_delay(&options, failures, retry_after.map(Duration::from_secs), chance);
        assert!((found.as_secs_f64() - expected).abs() < 0.001, "{found:?}");
    }

    #[test]
    fn pauses_double_up_to_a_bound() {
        check(1, None, 1.0, 1.0);
        check(1, None, 0.0, 0.5);
        check(4, None, 1.0, 8.0);
        check(7, None, 1.0, 60.0);
        check(u32::MAX, None, 1.0, 60.0);
    }

    #[test]
    fn a_receiver_may_ask_for_more_but_not_for_everything() {
        check(1, Some(0), 1.0, 1.0);
        check(1, Some(30), 1.0, 30.0);
        check(7, Some(30), 1.0, 60.0);
        check(1, Some(100_000), 1.0, 3600.0);
    }

    #[test]
    fn chance_is_a_share() {
        for _ in 0..100 {
            assert!((0.0..=1.0).contains(&random_fraction()));
        }
    }
}
