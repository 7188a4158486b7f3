//! Delays between tries to get a lost connection back.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

const INITIAL_RETRY_DELAY: Duration = Duration::from_millis(50);
pub(super) const MAX_RETRY_DELAY: Duration = Duration::from_secs(3);

/// The delay after so many tries.
pub(super) fn retry_delay(tries: u32) -> Duration {
    jittered(INITIAL_RETRY_DELAY.saturating_mul(1 << tries.min(10)).min(MAX_RETRY_DELAY))
}

/// A delay from three quarters of `delay` up to all of it, so that clients that were cut together do not return together.
pub(super) fn jittered(delay: Duration) -> Duration {
    let random = RandomState::new().build_hasher().finish();
    delay.mul_f64(0.75 + (random >> 32) as f64 / f64::from(u32::MAX) / 4.0)
}
