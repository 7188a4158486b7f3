//! How many connections there may be: of one address, of all together, and in reserve.
//!
//! Beyond the limit of all, clients wait in the system's queue, but for a few places kept in reserve: connections there
//! are served what is over at once, and answers to approvals. One that says nothing, or stays long, is ended as soon as
//! another wants its place, so that held connections cannot keep health checks and approvals out.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use attache_domain::IgnorePoison;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::connection_watch::ConnectionWatch;
use crate::Limits;
use crate::connection_origin::{Admission, ConnectionOrigin, Network};
use crate::keyed_counts::{KeyedCount, KeyedCounts};

/// The share of all connections that is kept in reserve, and how many that is at most.
const RESERVE_SHARE: usize = 8;
const MAX_RESERVE: usize = 64;
/// How long a connection in reserve may say nothing, and how long it may stay, when another wants its place.
const SILENCE_TIMEOUT: Duration = Duration::from_millis(100);
const RESERVE_TIMEOUT: Duration = Duration::from_secs(5);
/// How often the reserve is looked through while all of it is taken.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

pub(super) struct ConnectionSlots {
    open: Arc<Semaphore>,
    reserve: Arc<Semaphore>,
    /// For connections over the limit of their address, while they are told so.
    refusals: Arc<Semaphore>,
    per_address: usize,
    addresses: KeyedCounts<Network>,
    in_reserve: Mutex<Vec<ReservedConnection>>,
}

struct ReservedConnection {
    since: Instant,
    vigil: Weak<ConnectionWatch>,
    end: CancellationToken,
}

/// Room for the next connection, before it is known from where it comes.
pub(super) struct SlotPermit {
    permit: OwnedSemaphorePermit,
    in_reserve: bool,
}

/// A connection's place, until it is dropped.
pub(super) struct ConnectionSlot {
    pub(super) origin: ConnectionOrigin,
    /// Another connection wants the place.
    pub(super) end: CancellationToken,
    _permit: OwnedSemaphorePermit,
    _address: Option<KeyedCount<Network>>,
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

    /// Waits until there is room for another connection.
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
            // Neither is ever closed.
            if let Ok(permit) = permit {
                return SlotPermit { permit, in_reserve };
            }
        }
    }

    /// The place of a connection from `address`; `None` when even refusing it in words is too much.
    pub(super) fn assign(&self, room: SlotPermit, address: IpAddr) -> Option<ConnectionSlot> {
        let network = Network::of(address);
        let place = |admission, permit, counted| ConnectionSlot {
            origin: ConnectionOrigin { network, admission },
            end: CancellationToken::new(),
            _permit: permit,
            _address: counted,
        };
        let counted = match network {
            Network::Loopback => None,
            Network::Other(_) => match self.addresses.take(network, self.per_address) {
                Some(counted) => Some(counted),
                None => {
                    let permit = self.refusals.clone().try_acquire_owned().ok()?;
                    return Some(place(Admission::OverLimit, permit, None));
                }
            },
        };
        if !room.in_reserve {
            return Some(place(Admission::Open, room.permit, counted));
        }
        // A place may have become free while the connection was awaited.
        Some(match self.open.clone().try_acquire_owned() {
            Ok(permit) => place(Admission::Open, permit, counted),
            Err(_) => place(Admission::Reserve, room.permit, counted),
        })
    }

    /// To be told of each connection in reserve.
    pub(super) fn watch(&self, place: &ConnectionSlot, vigil: &Arc<ConnectionWatch>) {
        if place.origin.admission == Admission::Reserve {
            let (vigil, end) = (Arc::downgrade(vigil), place.end.clone());
            let entry = ReservedConnection { since: Instant::now(), vigil, end };
            let mut reserved = self.in_reserve.lock().ignore_poison();
            reserved.retain(|reserved| reserved.vigil.strong_count() > 0);
            reserved.push(entry);
        }
    }

    /// Ends the connections in reserve that say nothing or have stayed long.
    fn evict_from_reserve(&self) {
        let mut reserved = self.in_reserve.lock().ignore_poison();
        reserved.retain(|reserved| reserved.vigil.strong_count() > 0);
        let now = Instant::now();
        reserved.retain(|reserved| {
            let stayed = now.saturating_duration_since(reserved.since);
            let silent = || reserved.vigil.upgrade().is_none_or(|vigil| !vigil.has_calls());
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

    async fn connect(places: &ConnectionSlots, address: &str) -> Option<ConnectionSlot> {
        places.assign(places.acquire().await, address.parse().unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_over_its_limit_is_told_so_and_takes_nothing_from_the_others() {
        let places = ConnectionSlots::new(&limits());
        let mut held = Vec::new();
        for expected in [Admission::Open, Admission::Open, Admission::Open, Admission::OverLimit] {
            let place = connect(&places, THERE).await.unwrap();
            assert_eq!(place.origin.admission, expected);
            held.push(place);
        }
        // There are as many refusals in words as places in reserve.
        held.push(connect(&places, THERE).await.unwrap());
        assert!(connect(&places, THERE).await.is_none());
        assert_eq!(connect(&places, "192.0.2.2").await.unwrap().origin.admission, Admission::Open);
        held.remove(0);
        assert_eq!(connect(&places, THERE).await.unwrap().origin.admission, Admission::Open);
    }

    #[tokio::test(start_paused = true)]
    async fn the_reserve_is_used_last_and_given_to_whoever_says_something() {
        let limits = limits();
        let places = ConnectionSlots::new(&limits);
        let mut held = Vec::new();
        for _ in 0..14 {
            held.push(connect(&places, HERE).await.unwrap());
        }
        assert!(held.iter().all(|place| place.origin.admission == Admission::Open));
        let silent = connect(&places, HERE).await.unwrap();
        assert_eq!(silent.origin.admission, Admission::Reserve);
        let (silent_vigil, busy_vigil) = (
            ConnectionWatch::new(ConnectionTimeouts::of(&limits)),
            ConnectionWatch::new(ConnectionTimeouts::of(&limits)),
        );
        places.watch(&silent, &silent_vigil);
        let busy = connect(&places, HERE).await.unwrap();
        places.watch(&busy, &busy_vigil);
        let _call = busy_vigil.call();
        // A third wants a place: the connection that says nothing loses its own, and the other keeps it for a while.
        let ends = async {
            silent.end.cancelled().await;
            assert!(!busy.end.is_cancelled());
            drop(silent);
        };
        let (third, ()) = tokio::join!(connect(&places, HERE), ends);
        assert_eq!(third.unwrap().origin.admission, Admission::Reserve);
        // A place that becomes free while a connection is awaited is used rather than the reserve.
        let room = places.acquire().await;
        assert!(room.in_reserve);
        held.pop();
        let place = places.assign(room, HERE.parse().unwrap()).unwrap();
        assert_eq!(place.origin.admission, Admission::Open);
    }
}
