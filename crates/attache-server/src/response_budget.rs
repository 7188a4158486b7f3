//! Room for the large answers that are being sent.
//!
//! A large answer is held until its client has taken all of it. So the bytes of all of them together are limited: an
//! answer waits a little for room, the client that takes its own most slowly loses its connection, and where that does
//! not help the caller is told to come again.

use std::sync::Arc;
use std::time::Duration;

use attache_domain::Fault;
use tokio::sync::OwnedSemaphorePermit;

use crate::body::BodyBudget;
use crate::body::budget::BodyTransfer;

/// Answers up to this need no room.
const SMALL_BYTES: usize = 64 << 10;
/// How slowly a client may take its answer while others wait for room, in bytes per second.
const MIN_BYTES_PER_SECOND: usize = 256 << 10;
const WAIT_TIMEOUT: Duration = Duration::from_secs(10);

/// What one answer holds of the room, until it is dropped.
#[derive(Debug)]
pub(crate) struct ResponseReservation {
    pub(crate) taking: Arc<BodyTransfer>,
    _permit: OwnedSemaphorePermit,
}

/// Room for so many bytes if there is some now, or if none is needed. Whoever gets none should let go of what it would
/// write before it waits for room, and read it again: those who wait must not hold what there is no room for.
pub(crate) fn try_reserve(
    room: &BodyBudget,
    bytes: usize,
) -> Result<Option<Arc<ResponseReservation>>, BudgetFull> {
    if bytes <= SMALL_BYTES {
        return Ok(None);
    }
    match room.try_take(bytes) {
        Some(permit) => Ok(Some(ResponseReservation::new(room, bytes, permit))),
        None => Err(BudgetFull),
    }
}

/// There is no room now.
#[derive(Debug)]
pub(crate) struct BudgetFull;

/// Waits for room for so many bytes; none is needed for little.
pub(crate) async fn reserve(
    room: &BodyBudget,
    bytes: usize,
) -> Result<Option<Arc<ResponseReservation>>, Fault> {
    if bytes <= SMALL_BYTES {
        return Ok(None);
    }
    let busy = Fault::Busy { what: "as many large answers are being sent as there is room for" };
    let waiting = tokio::time::timeout(WAIT_TIMEOUT, room.take(bytes, MIN_BYTES_PER_SECOND, None)).await;
    let Ok(Some(permit)) = waiting else { return Err(busy) };
    Ok(Some(ResponseReservation::new(room, bytes, permit)))
}

impl ResponseReservation {
    fn new(room: &BodyBudget, bytes: usize, permit: OwnedSemaphorePermit) -> Arc<Self> {
        let taking = BodyTransfer::new();
        taking.holds(bytes);
        room.register(&taking);
        Arc::new(Self { taking, _permit: permit })
    }
}
