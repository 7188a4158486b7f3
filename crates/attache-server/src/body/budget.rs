//! A memory budget for large bodies, shared by all connections: one for those received, one for those sent.
//!
//! A body reserves as it grows, so only bytes that arrived keep others waiting. While a body waits, the slowest holder is
//! evicted if it is slower than the largest body may be; bodies that wait for each other are evicted too. A client that
//! stalls on purpose delays the others by a second.

use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use attache_domain::IgnorePoison;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The unit of the budget.
pub(super) const UNIT_BYTES: usize = 4 * 1024;
/// A body waits this long before others are evicted, and may arrive at any pace for as long.
const GRACE_DELAY: Duration = Duration::from_secs(1);
/// The pace of a body is measured over this time.
const RATE_INTERVAL: Duration = Duration::from_secs(2);

#[derive(Debug, Clone)]
pub struct BodyBudget {
    units: Arc<Semaphore>,
    total: usize,
    /// The bodies that hold a share.
    uploads: Arc<Mutex<Vec<Weak<BodyTransfer>>>>,
}

/// A body on its way in or out.
#[derive(Debug)]
pub(crate) struct BodyTransfer {
    progress: Mutex<TransferProgress>,
    /// Cancelled when the body has to give up its share.
    pub(super) evicted: CancellationToken,
    /// The connection to close with it, for a body that cannot end by itself.
    connection: Mutex<Option<CancellationToken>>,
}

#[derive(Debug, Default)]
struct TransferProgress {
    /// Bytes of the budget that it holds.
    held: usize,
    /// Bytes moved within [`RATE_INTERVAL`], and the time spent waiting for the client.
    received: usize,
    spent: Duration,
    awaits: WaitReason,
}

#[derive(Debug, Default, Clone, Copy)]
enum WaitReason {
    #[default]
    Nothing,
    /// Waits for bytes since then.
    Client(Instant),
    Budget,
}

impl BodyBudget {
    pub fn new(bytes: usize) -> Self {
        // One unit more, so that a body of exactly `bytes` fits together with its frame.
        let units = (bytes.div_ceil(UNIT_BYTES) + 1).min(Semaphore::MAX_PERMITS);
        Self { units: Arc::new(Semaphore::new(units)), total: units * UNIT_BYTES, uploads: Arc::default() }
    }

    /// Registers a holder.
    pub(crate) fn register(&self, upload: &Arc<BodyTransfer>) {
        let mut uploads = locked(&self.uploads);
        uploads.retain(|upload| upload.strong_count() > 0);
        uploads.push(Arc::downgrade(upload));
    }

    /// Waits for `bytes`. Holders slower than `slowest` bytes per second are evicted. `None` on a deadlock: the holders wait
    /// for each other.
    pub(crate) async fn take(
        &self,
        bytes: usize,
        slowest: usize,
        upload: Option<&BodyTransfer>,
    ) -> Option<OwnedSemaphorePermit> {
        // A body larger than the whole budget gets all of it.
        let units = u32::try_from(bytes.min(self.total).div_ceil(UNIT_BYTES)).ok()?;
        let mut acquiring = std::pin::pin!(self.units.clone().acquire_many_owned(units));
        loop {
            tokio::select! {
                biased;
                permit = acquiring.as_mut() => return permit.ok(),
                () = tokio::time::sleep(GRACE_DELAY) => {
                    let held = upload.map_or(0, |upload| upload.progress().held);
                    if !self.end_slowest(slowest) && held > 0 && self.is_stuck(held) {
                        return None;
                    }
                }
            }
        }
    }

    /// Reserves without waiting.
    pub(crate) fn try_take(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let units = u32::try_from(bytes.min(self.total).div_ceil(UNIT_BYTES)).ok()?;
        self.units.clone().try_acquire_many_owned(units).ok()
    }

    /// Evicts the slowest holder, if one is slower than `slowest`.
    fn end_slowest(&self, slowest: usize) -> bool {
        let uploads = self.holders();
        let rates = uploads.iter().filter_map(|upload| Some((upload.rate()?, upload)));
        match rates.filter(|(rate, _)| *rate < slowest).min_by_key(|(rate, _)| *rate) {
            Some((_, upload)) => {
                upload.end();
                true
            }
            None => false,
        }
    }

    /// Whether waiting bodies hold half of the budget, or all that is held, and none of them more than `own`: those that
    /// hold most give up first.
    fn is_stuck(&self, own: usize) -> bool {
        let (mut waiting, mut held, mut most) = (0, 0, 0);
        for upload in self.holders() {
            let progress = upload.progress();
            held += progress.held;
            if matches!(progress.awaits, WaitReason::Budget) {
                waiting += progress.held;
                most = most.max(progress.held);
            }
        }
        waiting >= held.min(self.total / 2) && own >= most
    }

    fn holders(&self) -> Vec<Arc<BodyTransfer>> {
        locked(&self.uploads).iter().filter_map(Weak::upgrade).collect()
    }
}

impl BodyTransfer {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            progress: Mutex::default(),
            evicted: CancellationToken::new(),
            connection: Mutex::default(),
        })
    }

    /// An eviction also closes `connection`.
    pub(crate) fn set_connection(&self, connection: CancellationToken) {
        *locked(&self.connection) = Some(connection);
    }

    fn end(&self) {
        self.evicted.cancel();
        if let Some(connection) = &*locked(&self.connection) {
            connection.cancel();
        }
    }

    pub(crate) fn awaits_client(&self) {
        self.progress().awaits = WaitReason::Client(Instant::now());
    }

    pub(crate) fn received(&self, length: usize) {
        let mut progress = self.progress();
        if let WaitReason::Client(since) = progress.awaits {
            progress.spent += since.elapsed();
        }
        // Only the last interval counts: a fast start does not justify a long hold.
        if progress.spent > RATE_INTERVAL {
            (progress.received, progress.spent) = (0, Duration::ZERO);
        }
        progress.received += length;
        progress.awaits = WaitReason::Nothing;
    }

    pub(crate) fn awaits_room(&self) {
        self.progress().awaits = WaitReason::Budget;
    }

    pub(crate) fn holds(&self, bytes: usize) {
        self.progress().held = bytes;
    }

    /// Bytes per second in the last interval; `None` before there is a measurement, or while not waiting for the client.
    fn rate(&self) -> Option<usize> {
        let progress = self.progress();
        let WaitReason::Client(since) = progress.awaits else { return None };
        let (waited, spent) = (since.elapsed(), progress.spent + since.elapsed());
        if progress.held == 0 || spent < GRACE_DELAY || self.evicted.is_cancelled() {
            return None;
        }
        if waited >= GRACE_DELAY {
            return Some(0);
        }
        let rate = progress.received as u128 * 1000 / spent.as_millis().max(1);
        Some(usize::try_from(rate).unwrap_or(usize::MAX))
    }

    fn progress(&self) -> MutexGuard<'_, TransferProgress> {
        locked(&self.progress)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().ignore_poison()
}

#[cfg(test)]
mod tests {
    use attache_domain::Fault;
    use bytes::Bytes;
    use http_body::{Body, Frame};
    use http_body_util::{BodyExt, Full, StreamBody};

    use super::super::collect;
    use super::*;
    use crate::Limits;

    const KILOBYTE: usize = 1 << 10;
    const LARGE: usize = 600 * KILOBYTE;
    /// More than half of the budget.
    const TOTAL: usize = 1000 * KILOBYTE;

    /// A large piece at once, then `pace` bytes every quarter of a second until there are `total`.
    fn upload(pace: usize, total: usize) -> impl Body<Data = Bytes, Error: std::fmt::Debug> {
        let frames = futures_util::stream::unfold(0_usize, move |sent| async move {
            if sent >= total {
                return None;
            }
            if sent > 0 {
                tokio::time::sleep(Duration::from_millis(250)).await;
            }
            let length = if sent == 0 { LARGE } else { pace };
            let piece = Frame::data(Bytes::from(vec![b' '; length]));
            Some((Ok::<_, std::io::Error>(piece), sent + length))
        });
        StreamBody::new(frames)
    }

    /// The result of an upload of that pace while another body needs the whole budget, and how long that one waits.
    async fn beside_another(pace: usize) -> (Result<usize, Fault>, Duration) {
        let limits =
            Limits { body_bytes: 2 << 20, body_budget: BodyBudget::new(2 << 20), ..Limits::default() };
        let other = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let begun = Instant::now();
            let other = Full::new(Bytes::from(vec![b' '; 2 * LARGE]));
            assert_eq!(collect(other, &limits, 2 << 20).await.map(|body| body.len()), Ok(2 * LARGE));
            begun.elapsed()
        };
        let first = async {
            let body = collect(upload(pace, TOTAL).boxed(), &limits, 2 << 20).await;
            body.map(|body| body.len())
        };
        tokio::join!(first, other)
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_stalls_or_drips_gives_up_its_room_when_another_waits() {
        for pace in [1, 10, KILOBYTE] {
            let (first, waited) = beside_another(pace).await;
            assert_eq!(first, Err(Fault::Overloaded), "{pace}");
            assert!(waited < Duration::from_secs(5), "{pace}: {waited:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_is_fast_enough_keeps_its_room() {
        let (first, waited) = beside_another(25 * KILOBYTE).await;
        assert!(first.is_ok_and(|length| length >= TOTAL));
        assert!(waited > Duration::from_secs(2), "{waited:?}");
    }
}
