//! Watches one connection for clients that hold it without using it.
//!
//! Three timeouts: no request, bytes that the client does not read, and a chunk of a response that it does not read. The
//! server's own work is not timed: slow responses and silent streams are fine. Nothing is recorded per byte; the clocks
//! are checked when one could have run out.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use attache_domain::IgnorePoison;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::Limits;

/// Why the connection is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CloseReason {
    /// No call for too long.
    Idle,
    /// The client does not read.
    Stalled,
}

/// How long a client may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConnectionTimeouts {
    /// From the accept to the first call.
    first_call: Duration,
    between_calls: Duration,
    taking: Duration,
}

impl ConnectionTimeouts {
    pub(super) fn of(limits: &Limits) -> Self {
        Self {
            first_call: limits.header_timeout,
            between_calls: limits.idle_timeout,
            taking: limits.stall_timeout,
        }
    }

    /// For connections whose slot others wait for.
    pub(super) fn shortened(self) -> Self {
        const SHORT_TIMEOUT: Duration = Duration::from_secs(1);
        Self { first_call: self.first_call.min(2 * SHORT_TIMEOUT), between_calls: SHORT_TIMEOUT, ..self }
    }
}

/// Shared by a connection's socket, its calls and its task in `listen`.
#[derive(Debug)]
pub(super) struct ConnectionWatch {
    began: Instant,
    timeouts: ConnectionTimeouts,
    calls: AtomicUsize,
    /// When the last call ended; never before the first.
    last_call: AtomicMoment,
    /// Since when the socket accepts no more bytes.
    socket: AtomicMoment,
    /// Since when each response waits for its client. Dropped ones are removed at the next check.
    answers: Mutex<Vec<Weak<AtomicMoment>>>,
    /// When the client last read a chunk of any response. Behind a proxy many clients share a connection: one that does not
    /// read must not close it for the others, and holds no more than its chunk.
    taken: AtomicMoment,
    /// The last request was answered before all of it had arrived.
    request_unread: AtomicBool,
    /// The client has sent bytes that are not, or not yet, a call.
    has_received: AtomicBool,
    /// The client sent too many control frames.
    flooded: AtomicBool,
    /// The connection speaks another protocol than HTTP from now on.
    upgraded: AtomicBool,
    /// The client reads a large response slowly, and others need the budget.
    evicted: CancellationToken,
}

/// A time in milliseconds since the accept, or never.
#[derive(Debug, Default)]
pub(super) struct AtomicMoment(AtomicU64);

impl AtomicMoment {
    fn set(&self, since_beginning: Duration) {
        let millis = u64::try_from(since_beginning.as_millis()).unwrap_or(u64::MAX - 1);
        self.0.store(millis + 1, Ordering::Relaxed);
    }

    fn clear(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    fn get(&self) -> Option<Duration> {
        self.0.load(Ordering::Relaxed).checked_sub(1).map(Duration::from_millis)
    }
}

impl ConnectionWatch {
    pub(super) fn new(timeouts: ConnectionTimeouts) -> Arc<Self> {
        Arc::new(Self {
            began: Instant::now(),
            timeouts,
            calls: AtomicUsize::new(0),
            last_call: AtomicMoment::default(),
            socket: AtomicMoment::default(),
            answers: Mutex::default(),
            taken: AtomicMoment::default(),
            request_unread: AtomicBool::new(false),
            has_received: AtomicBool::new(false),
            flooded: AtomicBool::new(false),
            upgraded: AtomicBool::new(false),
            evicted: CancellationToken::new(),
        })
    }

    pub(super) fn has_calls(&self) -> bool {
        self.calls.load(Ordering::Relaxed) > 0
    }

    /// Counts a call until the returned value is dropped.
    pub(super) fn call(self: &Arc<Self>) -> ActiveCall {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.has_received.store(false, Ordering::Relaxed);
        ActiveCall { watch: self.clone(), waiting: None }
    }

    /// The response says that the connection closes while the client may still be sending.
    pub(super) fn set_request_unread(&self) {
        self.request_unread.store(true, Ordering::Relaxed);
    }

    pub(super) fn socket_gave_bytes(&self) {
        if !self.has_received.load(Ordering::Relaxed) {
            self.has_received.store(true, Ordering::Relaxed);
        }
    }

    /// Cancelled when the connection has to close at once.
    pub(super) fn evicted(&self) -> &CancellationToken {
        &self.evicted
    }

    pub(super) fn set_flooded(&self) {
        self.flooded.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_flooded(&self) -> bool {
        self.flooded.load(Ordering::Relaxed)
    }

    pub(super) fn set_upgraded(&self) {
        self.upgraded.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_upgraded(&self) -> bool {
        self.upgraded.load(Ordering::Relaxed)
    }

    /// Whether the client may still be sending a body that is not read.
    pub(super) fn is_request_unread(&self) -> bool {
        self.request_unread.load(Ordering::Relaxed) || self.has_received.load(Ordering::Relaxed)
    }

    pub(super) fn socket_is_full(&self) {
        if self.socket.get().is_none() {
            self.socket.set(self.began.elapsed());
        }
    }

    pub(super) fn socket_takes_more(&self) {
        if self.socket.get().is_some() {
            self.socket.clear();
        }
    }

    /// Resolves when a timeout has run out.
    pub(super) async fn closed(&self) -> CloseReason {
        loop {
            match self.check() {
                Ok(next_check) => tokio::select! {
                    () = tokio::time::sleep(next_check) => {}
                    () = self.evicted.cancelled() => return CloseReason::Stalled,
                },
                Err(reason) => return reason,
            }
        }
    }

    /// How long until the next check: no known timeout runs out before, and one that begins now is not noticed much too
    /// late.
    fn check(&self) -> Result<Duration, CloseReason> {
        let now = self.began.elapsed();
        let taking = self.timeouts.taking;
        let mut next_check = taking;
        for since in self.socket.get().into_iter().chain(self.answers_wait()) {
            let waited = now.saturating_sub(since);
            next_check = next_check
                .min(taking.checked_sub(waited).filter(|rest| !rest.is_zero()).ok_or(CloseReason::Stalled)?);
        }
        if self.calls.load(Ordering::Relaxed) == 0 {
            let (since, most) = match self.last_call.get() {
                None => (Duration::ZERO, self.timeouts.first_call),
                Some(since) => (since, self.timeouts.between_calls),
            };
            let quiet = now.saturating_sub(since);
            next_check = next_check
                .min(most.checked_sub(quiet).filter(|rest| !rest.is_zero()).ok_or(CloseReason::Idle)?);
        } else {
            next_check = next_check.min(self.timeouts.between_calls);
        }
        Ok(next_check)
    }

    /// Since when responses wait and the client reads none of them.
    fn answers_wait(&self) -> Option<Duration> {
        let mut answers = self.answers.lock().ignore_poison();
        answers.retain(|answer| answer.strong_count() > 0);
        let oldest = answers.iter().filter_map(|answer| answer.upgrade()?.get()).min()?;
        Some(self.taken.get().map_or(oldest, |taken| taken.max(oldest)))
    }
}

/// A running call, up to the last byte of its response.
#[derive(Debug)]
pub(super) struct ActiveCall {
    watch: Arc<ConnectionWatch>,
    /// Only for responses of several chunks.
    waiting: Option<Arc<AtomicMoment>>,
}

impl ActiveCall {
    /// A chunk was handed out; the next is requested once the client has read it.
    pub(super) fn chunk_handed_out(&mut self) {
        let waiting = self.waiting.get_or_insert_with(|| {
            let waiting = Arc::new(AtomicMoment::default());
            let mut answers = self.watch.answers.lock().ignore_poison();
            // A busy connection is checked seldom, so dropped entries are removed here too.
            if answers.len() == answers.capacity() {
                answers.retain(|answer| answer.strong_count() > 0);
            }
            answers.push(Arc::downgrade(&waiting));
            waiting
        });
        waiting.set(self.watch.began.elapsed());
    }

    /// The next chunk was requested, so the client has read the last one.
    pub(super) fn chunk_requested(&self) {
        if let Some(waiting) = &self.waiting
            && waiting.get().is_some()
        {
            waiting.clear();
            self.watch.taken.set(self.watch.began.elapsed());
        }
    }
}

impl Drop for ActiveCall {
    fn drop(&mut self) {
        self.chunk_requested();
        self.watch.last_call.set(self.watch.began.elapsed());
        self.watch.has_received.store(false, Ordering::Relaxed);
        self.watch.calls.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch() -> Arc<ConnectionWatch> {
        ConnectionWatch::new(ConnectionTimeouts {
            first_call: Duration::from_secs(10),
            between_calls: Duration::from_secs(100),
            taking: Duration::from_secs(30),
        })
    }

    async fn ends_after(watch: &ConnectionWatch) -> (CloseReason, u64) {
        let began = Instant::now();
        (watch.closed().await, began.elapsed().as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_a_call_ends_early_and_one_that_had_some_later() {
        assert_eq!(ends_after(&watch()).await, (CloseReason::Idle, 10));
        let watch = watch();
        tokio::time::advance(Duration::from_secs(5)).await;
        drop(watch.call());
        assert_eq!(ends_after(&watch).await, (CloseReason::Idle, 100));
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_under_way_may_take_as_long_as_it_likes() {
        let watch = watch();
        let mut call = watch.call();
        call.chunk_handed_out();
        call.chunk_requested();
        let week = Duration::from_secs(7 * 24 * 3600);
        assert!(tokio::time::timeout(week, watch.closed()).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn answers_that_are_not_read_end_the_connection_unless_others_are_read() {
        let watch = watch();
        let mut stuck = watch.call();
        stuck.chunk_handed_out();
        let mut lively = watch.call();
        for _ in 0..100 {
            lively.chunk_handed_out();
            assert!(tokio::time::timeout(Duration::from_secs(1), watch.closed()).await.is_err());
            lively.chunk_requested();
        }
        assert_eq!(ends_after(&watch).await, (CloseReason::Stalled, 30));
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_socket_ends_the_connection_unless_it_moves() {
        let watch = watch();
        let _call = watch.call();
        for _ in 0..10 {
            watch.socket_is_full();
            assert!(tokio::time::timeout(Duration::from_secs(20), watch.closed()).await.is_err());
            watch.socket_takes_more();
        }
        watch.socket_is_full();
        assert_eq!(ends_after(&watch).await, (CloseReason::Stalled, 30));
    }
}
