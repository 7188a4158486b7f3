//! Watches one connection for clients that hold on to it without using it.
//!
//! Three clocks: how long nobody has asked anything, how long bytes have been waiting to be taken by the other side, and
//! how long a part of an answer has. Work of ours is never timed here: an answer that takes long, or a stream with
//! nothing to say, may. Nothing is written per byte; the clocks are looked at when they could have run out.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use attache_domain::IgnorePoison;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::Limits;

/// What the connection is closed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CloseReason {
    /// No call for too long, or none at all.
    Idle,
    /// What was sent is not taken.
    Stalled,
}

/// How long a client may take for what.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConnectionTimeouts {
    /// From the connection's beginning to its first call.
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

    /// For connections that others wait for.
    pub(super) fn shortened(self) -> Self {
        const BRIEF: Duration = Duration::from_secs(1);
        Self { first_call: self.first_call.min(2 * BRIEF), between_calls: BRIEF, ..self }
    }
}

/// Shared by a connection's socket, its calls and whoever watches it.
#[derive(Debug)]
pub(super) struct ConnectionWatch {
    began: Instant,
    timeouts: ConnectionTimeouts,
    calls: AtomicUsize,
    /// When the last call ended; never is before the first.
    last_call: AtomicMoment,
    /// Since when the socket takes no more bytes.
    socket: AtomicMoment,
    /// Since when each answer waits to be taken. Those that are gone are swept out at the next look.
    answers: Mutex<Vec<Weak<AtomicMoment>>>,
    /// When a part of any answer was taken last. A connection may be that of many clients behind a proxy: one that takes
    /// nothing must not cost the others theirs, and holds no more than its part.
    taken: AtomicMoment,
    /// The last request was answered before all of it had come.
    request_unread: AtomicBool,
    /// The client has said something that is not, or not yet, a call.
    heard: AtomicBool,
    /// The client sent too many frames that ask for nothing.
    flooded: AtomicBool,
    /// The client takes a large answer slowly, and others need the room.
    evicted: CancellationToken,
}

/// A moment in milliseconds since the connection's beginning, or never.
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
    pub(super) fn new(patience: ConnectionTimeouts) -> Arc<Self> {
        Arc::new(Self {
            began: Instant::now(),
            timeouts: patience,
            calls: AtomicUsize::new(0),
            last_call: AtomicMoment::default(),
            socket: AtomicMoment::default(),
            answers: Mutex::default(),
            taken: AtomicMoment::default(),
            request_unread: AtomicBool::new(false),
            heard: AtomicBool::new(false),
            flooded: AtomicBool::new(false),
            evicted: CancellationToken::new(),
        })
    }

    pub(super) fn has_calls(&self) -> bool {
        self.calls.load(Ordering::Relaxed) > 0
    }

    /// A call has come in; it is under way until what is returned is dropped.
    pub(super) fn call(self: &Arc<Self>) -> ActiveCall {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.heard.store(false, Ordering::Relaxed);
        ActiveCall { watch: self.clone(), waiting: None }
    }

    /// The client is told that the connection ends, while it may still be sending.
    pub(super) fn set_request_unread(&self) {
        self.request_unread.store(true, Ordering::Relaxed);
    }

    pub(super) fn socket_gave_bytes(&self) {
        if !self.heard.load(Ordering::Relaxed) {
            self.heard.store(true, Ordering::Relaxed);
        }
    }

    /// Cancelled when the connection is to end at once.
    pub(super) fn evicted(&self) -> &CancellationToken {
        &self.evicted
    }

    pub(super) fn set_flooded(&self) {
        self.flooded.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_flooded(&self) -> bool {
        self.flooded.load(Ordering::Relaxed)
    }

    /// Whether the client may be in the middle of saying something that nobody waits for.
    pub(super) fn is_request_unread(&self) -> bool {
        self.request_unread.load(Ordering::Relaxed) || self.heard.load(Ordering::Relaxed)
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

    /// Returns when the client has taken too long for something.
    pub(super) async fn closed(&self) -> CloseReason {
        loop {
            match self.check() {
                Ok(next_look) => tokio::select! {
                    () = tokio::time::sleep(next_look) => {}
                    () = self.evicted.cancelled() => return CloseReason::Stalled,
                },
                Err(tired) => return tired,
            }
        }
    }

    /// How long nothing can run out that is known now, and nothing that begins now runs out much too late.
    fn check(&self) -> Result<Duration, CloseReason> {
        let now = self.began.elapsed();
        let taking = self.timeouts.taking;
        let mut next_look = taking;
        for since in self.socket.get().into_iter().chain(self.answers_wait()) {
            let waited = now.saturating_sub(since);
            next_look = next_look
                .min(taking.checked_sub(waited).filter(|rest| !rest.is_zero()).ok_or(CloseReason::Stalled)?);
        }
        if self.calls.load(Ordering::Relaxed) == 0 {
            let (since, most) = match self.last_call.get() {
                None => (Duration::ZERO, self.timeouts.first_call),
                Some(since) => (since, self.timeouts.between_calls),
            };
            let quiet = now.saturating_sub(since);
            next_look = next_look
                .min(most.checked_sub(quiet).filter(|rest| !rest.is_zero()).ok_or(CloseReason::Idle)?);
        } else {
            next_look = next_look.min(self.timeouts.between_calls);
        }
        Ok(next_look)
    }

    /// Since when answers wait and none is taken.
    fn answers_wait(&self) -> Option<Duration> {
        let mut answers = self.answers.lock().ignore_poison();
        answers.retain(|answer| answer.strong_count() > 0);
        let oldest = answers.iter().filter_map(|answer| answer.upgrade()?.get()).min()?;
        Some(self.taken.get().map_or(oldest, |taken| taken.max(oldest)))
    }
}

/// A call under way, to its answer's last byte.
#[derive(Debug)]
pub(super) struct ActiveCall {
    watch: Arc<ConnectionWatch>,
    /// Only of answers that are given in several parts.
    waiting: Option<Arc<AtomicMoment>>,
}

impl ActiveCall {
    /// A part of the answer was handed out and has to be taken before the next is asked for.
    pub(super) fn chunk_handed_out(&mut self) {
        let waiting = self.waiting.get_or_insert_with(|| {
            let waiting = Arc::new(AtomicMoment::default());
            let mut answers = self.watch.answers.lock().ignore_poison();
            // A busy connection is looked at seldom; it must not gather those that are gone until then.
            if answers.len() == answers.capacity() {
                answers.retain(|answer| answer.strong_count() > 0);
            }
            answers.push(Arc::downgrade(&waiting));
            waiting
        });
        waiting.set(self.watch.began.elapsed());
    }

    /// The next part was asked for, and it is on us.
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
        self.watch.heard.store(false, Ordering::Relaxed);
        self.watch.calls.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vigil() -> Arc<ConnectionWatch> {
        ConnectionWatch::new(ConnectionTimeouts {
            first_call: Duration::from_secs(10),
            between_calls: Duration::from_secs(100),
            taking: Duration::from_secs(30),
        })
    }

    async fn ends_after(vigil: &ConnectionWatch) -> (CloseReason, u64) {
        let began = Instant::now();
        (vigil.closed().await, began.elapsed().as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_a_call_ends_early_and_one_that_had_some_later() {
        assert_eq!(ends_after(&vigil()).await, (CloseReason::Idle, 10));
        let vigil = vigil();
        tokio::time::advance(Duration::from_secs(5)).await;
        drop(vigil.call());
        assert_eq!(ends_after(&vigil).await, (CloseReason::Idle, 100));
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_under_way_may_take_as_long_as_it_likes() {
        let vigil = vigil();
        let mut call = vigil.call();
        call.chunk_handed_out();
        call.chunk_requested();
        let week = Duration::from_secs(7 * 24 * 3600);
        assert!(tokio::time::timeout(week, vigil.closed()).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn answers_that_nobody_takes_end_the_connection_unless_others_are_taken() {
        let vigil = vigil();
        let mut stuck = vigil.call();
        stuck.chunk_handed_out();
        let mut lively = vigil.call();
        for _ in 0..100 {
            lively.chunk_handed_out();
            assert!(tokio::time::timeout(Duration::from_secs(1), vigil.closed()).await.is_err());
            lively.chunk_requested();
        }
        assert_eq!(ends_after(&vigil).await, (CloseReason::Stalled, 30));
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_socket_ends_the_connection_unless_it_moves() {
        let vigil = vigil();
        let _call = vigil.call();
        for _ in 0..10 {
            vigil.socket_is_full();
            assert!(tokio::time::timeout(Duration::from_secs(20), vigil.closed()).await.is_err());
            vigil.socket_takes_more();
        }
        vigil.socket_is_full();
        assert_eq!(ends_after(&vigil).await, (CloseReason::Stalled, 30));
    }
}
