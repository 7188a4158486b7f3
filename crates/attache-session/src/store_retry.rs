//! Tries again while the store is not available, ever more slowly, until the server stops; and at once when another write
//! has succeeded.

use std::time::Duration;

use attache_store::StoreError;

use crate::TurnStopped;
use crate::counters::StoreWaitGuard;
use crate::runner::{Runner, chain};

const FIRST_DELAY: Duration = Duration::from_millis(50);
/// Callers that are refused meanwhile get the same delay.
const MAX_DELAY: Duration = Duration::from_secs(5);

pub(crate) struct StoreRetry<'a> {
    runner: &'a Runner,
    pause: Duration,
    /// Held from the first failure on.
    waits: Option<StoreWaitGuard<'a>>,
}

impl<'a> StoreRetry<'a> {
    pub(crate) fn of(runner: &'a Runner) -> Self {
        Self { runner, pause: FIRST_DELAY, waits: None }
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.waits.is_some()
    }

    /// An attempt failed: reports it and waits until the next one. [`TurnStopped`] if the server stops.
    pub(crate) async fn wait(&mut self, error: &StoreError) -> Result<(), TurnStopped> {
        let Runner { live, counters, stop, .. } = self.runner;
        self.waits.get_or_insert_with(|| counters.waits_for_store());
        counters.store_failed();
        live.store_failed();
        tracing::error!(task = %live.key.task, error = %chain(error), "the log is not available; trying again");
        let pause = self.pause;
        self.pause = (self.pause * 2).min(MAX_DELAY);
        tokio::select! {
            biased;
            () = stop.cancelled() => Err(TurnStopped),
            () = counters.store.recovered.notified() => Ok(()),
            () = tokio::time::sleep(pause) => Ok(()),
        }
    }
}
