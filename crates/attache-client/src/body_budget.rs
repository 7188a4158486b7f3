//! The memory that large responses may take at once.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::ClientError;

/// For all clients of the process. Two responses of the greatest length fit in.
const TOTAL: usize = 128 << 20;
/// What a response takes is counted in steps of this size; a response below it is not counted.
const STEP: usize = 1 << 20;
/// How long a response waits until others are done.
const ROOM_TIMEOUT: Duration = Duration::from_secs(30);

static STEPS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(TOTAL / STEP)));

/// The part of the budget that one response takes, until it is dropped.
#[derive(Debug, Default)]
pub(crate) struct BodyShare {
    held: Vec<OwnedSemaphorePermit>,
}

impl BodyShare {
    /// Makes room for a body that has grown to `length` bytes.
    pub(crate) async fn grow(&mut self, length: usize) -> Result<(), ClientError> {
        self.grow_in(&STEPS, length, ROOM_TIMEOUT).await
    }

    async fn grow_in(
        &mut self,
        steps: &Arc<Semaphore>,
        length: usize,
        wait: Duration,
    ) -> Result<(), ClientError> {
        while self.held.len() < length / STEP {
            match timeout(wait, Arc::clone(steps).acquire_owned()).await {
                Ok(Ok(permit)) => self.held.push(permit),
                _ => {
                    let what = "too many large responses are read at once".into();
                    return Err(ClientError::Malformed { what });
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn large_responses_wait_for_each_other_and_small_ones_do_not() {
        let steps = Arc::new(Semaphore::new(3));
        let mut first = BodyShare::default();
        first.grow_in(&steps, 3 * STEP + 5, ROOM_TIMEOUT).await.unwrap();
        BodyShare::default().grow_in(&steps, STEP - 1, ROOM_TIMEOUT).await.unwrap();
        let mut second = BodyShare::default();
        second.grow_in(&steps, STEP, ROOM_TIMEOUT).await.unwrap_err();
        drop(first);
        second.grow_in(&steps, STEP, ROOM_TIMEOUT).await.unwrap();
    }
}
