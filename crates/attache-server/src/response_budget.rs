//! The budget for large responses being sent.
//!
//! A large response stays in memory until its client has read all of it, so their total is limited. A response waits a
//! little, the slowest reader loses its connection, and if that does not help, the caller gets a fault it can retry.

use std::sync::Arc;
use std::time::Duration;

use attache_domain::Fault;
use tokio::sync::OwnedSemaphorePermit;

use crate::body::BodyBudget;
use crate::body::budget::BodyTransfer;

/// Responses up to this size need no budget.
const SMALL_BYTES: usize = 64 << 10;
/// A client that reads more slowly is evicted while others wait.
const MIN_BYTES_PER_SECOND: usize = 256 << 10;
const WAIT_TIMEOUT: Duration = Duration::from_secs(10);

/// The share of one response, until it is dropped.
#[derive(Debug)]
pub(crate) struct ResponseReservation {
    pub(crate) taking: Arc<BodyTransfer>,
    _permit: OwnedSemaphorePermit,
}

/// Reserves without waiting. On [`BudgetFull`] the caller drops what it would write, waits with [`reserve`] and reads it
/// again: a waiting call must not hold the memory that it waits for.
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

/// The budget has no room now.
#[derive(Debug)]
pub(crate) struct BudgetFull;

/// Waits for room in the budget; small responses need none.
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
