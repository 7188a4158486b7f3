//! Keeps requests with large bodies from delaying others.
//!
//! There are few workers, and one that parses ten megabytes of JSON serves no other request meanwhile. So a worker hands
//! its other requests to another thread before it handles a large body, and one core is always left without any.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};
use std::task::ready;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;
use tokio_util::sync::PollSemaphore;

/// From this size on, parsing takes longer than the hand-over to another thread.
const LARGE_BYTES: usize = 64 * 1024;

/// One for each large body that may be handled at the same time in this process.
static LARGE_REQUEST_PERMITS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Arc::new(Semaphore::new((cores / 2).max(1)))
});

/// Runs the work for a body of so many bytes. Work that waits holds no permit.
///
/// Takes the future pinned in place, because moving such a large one for every small request is costly.
pub(crate) async fn run<F: Future>(bytes: usize, mut work: Pin<&mut F>) -> F::Output {
    // A single-threaded runtime, as in tests, has no thread to hand over to.
    let has_workers = |runtime: Handle| runtime.runtime_flavor() == RuntimeFlavor::MultiThread;
    if bytes <= LARGE_BYTES || !Handle::try_current().is_ok_and(has_workers) {
        return work.await;
    }
    let mut core = PollSemaphore::new(LARGE_REQUEST_PERMITS.clone());
    poll_fn(|context| {
        let _core = ready!(core.poll_acquire(context));
        tokio::task::block_in_place(|| work.as_mut().poll(context))
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::mpsc;
    use std::time::Duration;

    use tokio::task::JoinSet;

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn others_are_served_meanwhile() {
        let mut tasks = JoinSet::new();
        let (say, heard) = mpsc::channel();
        let (begin, begun) = tokio::sync::oneshot::channel();
        tasks.spawn(async move {
            let holds_up = pin!(async move {
                begin.send(()).unwrap();
                heard.recv_timeout(Duration::from_secs(20)).is_ok()
            });
            run(LARGE_BYTES + 1, holds_up).await
        });
        // This is no worker: it goes on while the only one is held up.
        begun.await.unwrap();
        tasks.spawn(async move { say.send(()).is_ok() });
        assert_eq!(tasks.join_all().await, [true, true]);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn a_request_that_waits_lets_the_next_be_read() {
        let mut tasks = JoinSet::new();
        let count = LARGE_REQUEST_PERMITS.available_permits() + 1;
        let all = Arc::new(tokio::sync::Barrier::new(count));
        for _ in 0..count {
            let all = all.clone();
            tasks.spawn(
                async move { run(LARGE_BYTES + 1, pin!(async { all.wait().await.is_leader() })).await },
            );
        }
        assert_eq!(tasks.join_all().await.into_iter().filter(|leads| *leads).count(), 1);
    }

    #[tokio::test]
    async fn without_workers_it_is_done_on_the_spot() {
        assert_eq!(run(LARGE_BYTES + 1, pin!(async { 1 })).await, 1);
    }
}
