//! Delays pieces of an answer so that they share an append.
//!
//! Each append is a commit and a wake-up for every reader, and a fast model sends a piece every millisecond. After an
//! append that ended with a piece, further pieces wait up to 10 ms for more. The first piece of an answer waits 1 ms for
//! the pieces that arrived with it. Every other fact is written at once, together with the pieces that wait.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

use crate::Journal;

/// Less than a screen takes to show anything new.
const PIECE_DELAY: Duration = Duration::from_millis(10);

/// As long as it takes to read the pieces that arrived with the first one.
const FIRST_PIECE_DELAY: Duration = Duration::from_millis(1);

#[derive(Default)]
pub(crate) struct FlushTimer {
    /// When the last append ended, if it ended with a piece.
    piece_written: Option<Instant>,
    /// Since when the first piece waits.
    first_since: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl FlushTimer {
    /// Ready when the pending facts should be written.
    pub(crate) fn poll_due(&mut self, journal: &Journal, context: &mut Context<'_>) -> Poll<()> {
        if !journal.may_delay() {
            return Poll::Ready(());
        }
        let due = match self.piece_written {
            Some(written) => written + PIECE_DELAY,
            None => *self.first_since.get_or_insert_with(Instant::now) + FIRST_PIECE_DELAY,
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
        self.first_since = None;
    }
}
