//! Limits connections: per address, in total, and in a reserve.
//!
//! Beyond the total, clients wait in the system's queue, except for a few reserve slots: these serve short calls and
//! answers to approvals. A silent or old reserve connection is closed as soon as another needs its slot, so that held
//! connections cannot block health checks and approvals.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use attache_domain::IgnorePoison;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::connection_watch::ConnectionWatch;
use crate::Limits;
use crate::connection_origin::{Admission, ConnectionOrigin, PeerNetwork};
use crate::keyed_counts::{KeyedCount, KeyedCounts};

/// One in so many connections is reserve, up to a maximum.
const RESERVE_SHARE: usize = 8;
const MAX_RESERVE: usize = 64;
/// A reserve connection may be silent, and may stay, this long while another needs its slot.
const SILENCE_TIMEOUT: Duration = Duration::from_millis(100);
const RESERVE_TIMEOUT: Duration = Duration::from_secs(5);
/// The full reserve is checked this often.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

pub(super) struct ConnectionSlots {
    open: Arc<Semaphore>,
    reserve: Arc<Semaphore>,
    /// For connections over the limit of their address, while they get their refusal.
    refusals: Arc<Semaphore>,
    per_address: usize,
    addresses: KeyedCounts<PeerNetwork>,
    in_reserve: Mutex<Vec<ReservedConnection>>,
}

struct ReservedConnection {
    since: Instant,
    watch: Weak<ConnectionWatch>,
    end: CancellationToken,
}

/// A slot for the next connection, before its address is known.
pub(super) struct SlotPermit {
    permit: OwnedSemaphorePermit,
    in_reserve: bool,
}

/// A connection's slot, until it is dropped.
pub(super) struct ConnectionSlot {
    pub(super) origin: ConnectionOrigin,
    /// Cancelled when another connection needs the slot.
    pub(super) end: CancellationToken,
    _permit: OwnedSemaphorePermit,
    _address: Option<KeyedCount<PeerNetwork>>,
}

impl ConnectionSlots {
    pub(super) fn new(limits: &Limits) -> Self {
        let reserve = (limits.connections / RESERVE_SHARE).min(MAX_RESERVE);
        Self {
            open: Arc::new(Semaphore::new(limits.connections - reserve)),
            reserve: Arc::new(Semaphore::new(reserve)),
            refusals: Arc::new(Semaphore::new(reserve.max(1))),
            per_address: limits.connections_per_address,
            addresses: KeyedCounts::default(),
            in_reserve: Mutex::default(),
        }
    }

    /// Waits for a free slot.
    pub(super) async fn acquire(&self) -> SlotPermit {
        loop {
            let open = self.open.clone().acquire_owned();
            let reserve = self.reserve.clone().acquire_owned();
            let (permit, in_reserve) = tokio::select! {
                biased;
                permit = open => (permit, false),
                permit = reserve => (permit, true),
                () = tokio::time::sleep(CHECK_INTERVAL) => {
                    self.evict_from_reserve();
                    continue;
                }
            };
            // The semaphores are never closed.
            if let Ok(permit) = permit {
                return SlotPermit { permit, in_reserve };
            }
        }
    }

    /// The slot of a connection from `address`; `None` when there is not even one for a refusal.
    pub(super) fn assign(&self, permit: SlotPermit, address: IpAddr) -> Option<ConnectionSlot> {
        let network = PeerNetwork::of(address);
        let slot = |admission, permit, counted| ConnectionSlot {
            origin: ConnectionOrigin { network, admission },
            end: CancellationToken::new(),
            _permit: permit,
            _address: counted,
        };
        let counted = match network {
            PeerNetwork::Loopback => None,
            PeerNetwork::Other(_) => match self.addresses.take(network, self.per_address) {
                Some(counted) => Some(counted),
                None => {
                    let permit = self.refusals.clone().try_acquire_owned().ok()?;
                    return Some(slot(Admission::OverLimit, permit, None));
                }
            },
        };
        if !permit.in_reserve {
            return Some(slot(Admission::Open, permit.permit, counted));
        }
        // A slot may have become free while waiting for the connection.
        Some(match self.open.clone().try_acquire_owned() {
            Ok(permit) => slot(Admission::Open, permit, counted),
            Err(_) => slot(Admission::Reserve, permit.permit, counted),
        })
    }

    /// Registers a reserve connection for eviction.
    pub(super) fn watch(&self, slot: &ConnectionSlot, watch: &Arc<ConnectionWatch>) {
        if slot.origin.admission == Admission::Reserve {
            let (watch, end) = (Arc::downgrade(watch), slot.end.clone());
            let entry = ReservedConnection { since: Instant::now(), watch, end };
            let mut reserved = self.in_reserve.lock().ignore_poison();
            reserved.retain(|reserved| reserved.watch.strong_count() > 0);
            reserved.push(entry);
        }
    }

    /// Closes the reserve connections that are silent or old.
    fn evict_from_reserve(&self) {
        let mut reserved = self.in_reserve.lock().ignore_poison();
        reserved.retain(|reserved| reserved.watch.strong_count() > 0);
        let now = Instant::now();
        reserved.retain(|reserved| {
            let stayed = now.saturating_duration_since(reserved.since);
            let silent = || reserved.watch.upgrade().is_none_or(|watch| !watch.has_calls());
            let over = stayed > RESERVE_TIMEOUT || stayed > SILENCE_TIMEOUT && silent();
            if over {
                reserved.end.cancel();
            }
            !over
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::connection_watch::ConnectionTimeouts;
    use super::*;

    const HERE: &str = "127.0.0.1";
    const THERE: &str = "192.0.2.1";

    fn limits() -> Limits {
        Limits { connections: 16, connections_per_address: 3, ..Limits::default() }
    }

    async fn connect(slots: &ConnectionSlots, address: &str) -> Option<ConnectionSlot> {
        slots.assign(slots.acquire().await, address.parse().unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_over_its_limit_is_told_so_and_takes_nothing_from_the_others() {
        let slots = ConnectionSlots::new(&limits());
        let mut held = Vec::new();
        for expected in [Admission::Open, Admission::Open, Admission::Open, Admission::OverLimit] {
            let slot = connect(&slots, THERE).await.unwrap();
            assert_eq!(slot.origin.admission, expected);
            held.push(slot);
        }
        // There are as many slots for refusals as in the reserve.
        held.push(connect(&slots, THERE).await.unwrap());
        assert!(connect(&slots, THERE).await.is_none());
        assert_eq!(connect(&slots, "192.0.2.2").await.unwrap().origin.admission, Admission::Open);
        held.remove(0);
        assert_eq!(connect(&slots, THERE).await.unwrap().origin.admission, Admission::Open);
    }

    #[tokio::test(start_paused = true)]
    async fn the_reserve_is_used_last_and_given_to_connections_with_data() {
        let limits = limits();
        let slots = ConnectionSlots::new(&limits);
        let mut held = Vec::new();
        for _ in 0..14 {
            held.push(connect(&slots, HERE).await.unwrap());
        }
        assert!(held.iter().all(|slot| slot.origin.admission == Admission::Open));
        let silent = connect(&slots, HERE).await.unwrap();
        assert_eq!(silent.origin.admission, Admission::Reserve);
        let (silent_watch, busy_watch) = (
            ConnectionWatch::new(ConnectionTimeouts::of(&limits)),
            ConnectionWatch::new(ConnectionTimeouts::of(&limits)),
        );
        slots.watch(&silent, &silent_watch);
        let busy = connect(&slots, HERE).await.unwrap();
        slots.watch(&busy, &busy_watch);
        let _call = busy_watch.call();
        // A third one needs a slot: the silent connection loses its own, the other keeps it for a while.
        let ends = async {
            silent.end.cancelled().await;
            assert!(!busy.end.is_cancelled());
            drop(silent);
        };
        let (third, ()) = tokio::join!(connect(&slots, HERE), ends);
        assert_eq!(third.unwrap().origin.admission, Admission::Reserve);
        // A slot that becomes free while waiting is used before the reserve.
        let permit = slots.acquire().await;
        assert!(permit.in_reserve);
        held.pop();
        let slot = slots.assign(permit, HERE.parse().unwrap()).unwrap();
        assert_eq!(slot.origin.admission, Admission::Open);
    }
}
