//! Limits a log line that clients can cause: one per interval, with the number of occurrences since the last.

use std::sync::Mutex;
use std::time::Duration;

use attache_domain::IgnorePoison;
use tokio::time::Instant;

#[derive(Debug)]
pub(crate) struct LogLimit {
    interval: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    last_line: Option<Instant>,
    since: u64,
}

impl LogLimit {
    pub(crate) fn new(interval: Duration) -> Self {
        Self { interval, state: Mutex::default() }
    }

    /// Counts one occurrence. `Some` when a line is due: the count since the last line.
    pub(crate) fn record(&self) -> Option<u64> {
        let mut state = self.state.lock().ignore_poison();
        state.since += 1;
        if state.last_line.is_some_and(|last| last.elapsed() < self.interval) {
            return None;
        }
        state.last_line = Some(Instant::now());
        Some(std::mem::take(&mut state.since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn there_is_one_line_per_interval_and_nothing_goes_uncounted() {
        let limit = LogLimit::new(Duration::from_secs(10));
        assert_eq!(limit.record(), Some(1));
        for _ in 0..100 {
            assert_eq!(limit.record(), None);
        }
        tokio::time::advance(Duration::from_secs(10)).await;
        assert_eq!(limit.record(), Some(101));
        assert_eq!(limit.record(), None);
    }
}
