//! Keeps what comes in quick succession from being written one by one.
//!
//! Each append is a commit and a wake-up for every reader, and a fast model says a piece every millisecond. So after an
//! append that ended with a piece, further pieces wait a moment for company. The start of a task, a whole answer and what
//! becomes of its calls are mostly followed by something else at once, and wait as long for it. The first piece waits far
//! shorter, for those that came with it. Everything else goes at once and takes with it what has gathered, and so does a
//! crowd of pieces: a model that is slower than the pause is hardly delayed at all.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

use crate::Journal;

/// The longest anything waits for company: less than a screen takes to show anything new.
const FLUSH_DELAY: Duration = Duration::from_millis(10);

/// The longest that the first piece waits: as long as it takes to read what arrived with it.
const FIRST_PIECE_DELAY: Duration = Duration::from_millis(1);

#[derive(Default)]
pub(crate) struct FlushTimer {
    /// The last append ended with a piece, at this time.
    piece_written: Option<Instant>,
    /// Something waits that follows no piece, since this time.
    waiting_since: Option<Instant>,
    /// The first piece waits, since this time.
    first_since: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

/// How much time what has gathered has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FlushDelay {
    /// None, or there is nothing.
    None,
    /// Pieces of an answer are among it.
    ForPieces,
    /// Only what is followed by something else at once.
    ForFollowers,
}

impl FlushTimer {
    /// Ready: what has gathered should be written now.
    pub(crate) fn poll_due(&mut self, journal: &Journal, context: &mut Context<'_>) -> Poll<()> {
        let due = match (journal.flush_delay(), self.piece_written) {
            (FlushDelay::None, _) => return Poll::Ready(()),
            (FlushDelay::ForPieces, Some(written)) => written + FLUSH_DELAY,
            (FlushDelay::ForPieces, None) => {
                let first = *self.first_since.get_or_insert_with(Instant::now) + FIRST_PIECE_DELAY;
                self.waiting_since.map_or(first, |since| first.min(since + FLUSH_DELAY))
            }
            (FlushDelay::ForFollowers, _) => {
                *self.waiting_since.get_or_insert_with(Instant::now) + FLUSH_DELAY
            }
        };
        let timer = match &mut self.timer {
            Some(timer) => timer,
            none => none.insert(Box::pin(tokio::time::sleep_until(due))),
        };
        if timer.deadline() != due {
            timer.as_mut().reset(due);
        }
        timer.as_mut().poll(context)
    }

    /// An append has ended.
    pub(crate) fn wrote(&mut self, ends_in_piece: bool) {
        self.piece_written = ends_in_piece.then(Instant::now);
        (self.waiting_since, self.first_since) = (None, None);
    }
}
