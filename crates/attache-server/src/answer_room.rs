//! Room for the large answers that are being sent.
//!
//! A large answer is held until its client has taken all of it. So the bytes of all of them together are limited: an
//! answer waits a little for room, the client that takes its own most slowly loses its connection, and where that does
//! not help the caller is told to come again.

use std::sync::Arc;
use std::time::Duration;

use attache_domain::Fault;
use tokio::sync::OwnedSemaphorePermit;

use crate::body::BodyRoom;
use crate::body::room::Upload;

/// Answers up to this need no room.
const SMALL_BYTES: usize = 64 << 10;
/// How slowly a client may take its answer while others wait for room, in bytes per second.
const SLOWEST: usize = 256 << 10;
const WAIT_TIMEOUT: Duration = Duration::from_secs(10);

/// What one answer holds of the room, until it is dropped.
#[derive(Debug)]
pub(crate) struct AnswerShare {
    pub(crate) taking: Arc<Upload>,
    _permit: OwnedSemaphorePermit,
}

/// Room for so many bytes if there is some now, or if none is needed. Whoever gets none should let go of what it would
/// write before it waits for room, and read it again: those who wait must not hold what there is no room for.
pub(crate) fn room_now(room: &BodyRoom, bytes: usize) -> Result<Option<Arc<AnswerShare>>, NoRoom> {
    if bytes <= SMALL_BYTES {
        return Ok(None);
    }
    match room.try_take(bytes) {
        Some(permit) => Ok(Some(AnswerShare::new(room, bytes, permit))),
        None => Err(NoRoom),
    }
}

/// There is no room now.
#[derive(Debug)]
pub(crate) struct NoRoom;

/// Waits for room for so many bytes; none is needed for little.
pub(crate) async fn wait_for_room(room: &BodyRoom, bytes: usize) -> Result<Option<Arc<AnswerShare>>, Fault> {
    if bytes <= SMALL_BYTES {
        return Ok(None);
    }
    let busy = Fault::Busy { what: "as many large answers are being sent as there is room for" };
    let waiting = tokio::time::timeout(WAIT_TIMEOUT, room.take(bytes, SLOWEST, None)).await;
    let Ok(Some(permit)) = waiting else { return Err(busy) };
    Ok(Some(AnswerShare::new(room, bytes, permit)))
}

impl AnswerShare {
    fn new(room: &BodyRoom, bytes: usize, permit: OwnedSemaphorePermit) -> Arc<Self> {
        let taking = Upload::new();
        taking.holds(bytes);
        room.register(&taking);
        Arc::new(Self { taking, _permit: permit })
    }
}
