//! Room for the larger bodies that are being received or read, and another for those that are being sent; each shared by
//! all connections.
//!
//! A body takes room as it grows, so that only bytes that were sent keep others waiting. And not for long: while a body
//! waits for room, the slowest one that is arriving gives up its own, if it is slower than the largest body may be; and
//! bodies that wait for each other give up theirs. So a client that stalls on purpose costs the others a second.

use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use attache_domain::IgnorePoison;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// What room is counted in.
pub(super) const UNIT_BYTES: usize = 4 * 1024;
/// How long a body waits for room before others have to give up theirs, and how long a body may arrive at any pace.
const GRACE_DELAY: Duration = Duration::from_secs(1);
/// How far back the pace of a body is looked at.
const RATE_INTERVAL: Duration = Duration::from_secs(2);

#[derive(Debug, Clone)]
pub struct BodyBudget {
    units: Arc<Semaphore>,
    total: usize,
    /// The bodies that hold room.
    uploads: Arc<Mutex<Vec<Weak<BodyTransfer>>>>,
}

/// A body that arrives; or, the other way round, one that is taken by a client.
#[derive(Debug)]
pub(crate) struct BodyTransfer {
    progress: Mutex<TransferProgress>,
    /// Others need the room more.
    pub(super) evicted: CancellationToken,
    /// The connection, where the body cannot end by itself.
    connection: Mutex<Option<CancellationToken>>,
}

#[derive(Debug, Default)]
struct TransferProgress {
    /// Bytes of room that it holds.
    held: usize,
    /// What came lately, and how long its client was waited for meanwhile.
    received: usize,
    spent: Duration,
    awaits: WaitReason,
}

#[derive(Debug, Default, Clone, Copy)]
enum WaitReason {
    #[default]
    Nothing,
    /// Bytes, since then.
    Client(Instant),
    Budget,
}

impl BodyBudget {
    pub fn new(bytes: usize) -> Self {
        // One more, so that a body of just so many bytes and its frame find room when nobody else is there.
        let units = (bytes.div_ceil(UNIT_BYTES) + 1).min(Semaphore::MAX_PERMITS);
        Self { units: Arc::new(Semaphore::new(units)), total: units * UNIT_BYTES, uploads: Arc::default() }
    }

    /// Counts a body among those that hold room while they arrive.
    pub(crate) fn register(&self, upload: &Arc<BodyTransfer>) {
        let mut uploads = locked(&self.uploads);
        uploads.retain(|upload| upload.strong_count() > 0);
        uploads.push(Arc::downgrade(upload));
    }

    /// Waits until there is room for so many bytes. A body may arrive as slowly as `slowest` bytes per second while
    /// others wait. `None` when it cannot be waited for: the bodies that hold the room wait for each other.
    pub(crate) async fn take(
        &self,
        bytes: usize,
        slowest: usize,
        upload: Option<&BodyTransfer>,
    ) -> Option<OwnedSemaphorePermit> {
        // One that is larger than all the room has it for itself.
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

    /// Room for so many bytes, if there is some now.
    pub(crate) fn try_take(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let units = u32::try_from(bytes.min(self.total).div_ceil(UNIT_BYTES)).ok()?;
        self.units.clone().try_acquire_many_owned(units).ok()
    }

    /// Lets the slowest body that arrives give up its room, if one is slower than it may be.
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

    /// Whether bodies that wait for room hold half of it, or all that is held, and none of them more than `own`: those
    /// that hold most give up first.
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

    /// Ends `connection` with it.
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
        // Only the latest counts: much at the beginning is no reason to hold room for long.
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

    /// Bytes per second, lately; `None` where that cannot be told yet, or the client is not waited for.
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
    /// Half of the room.
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

    /// What comes of an upload of that pace when somebody else needs all the room, and how long that one waits.
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
