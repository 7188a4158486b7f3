//! Keeps the pieces of an answer from being written one by one.
//!
//! A fast model says a piece every millisecond, and each append is a commit and a wake-up for every reader. So after an
//! append that ended with a piece, further pieces wait a moment for company. Whatever is not a piece goes at once and takes
//! with it what has gathered, and so does the first piece, and a crowd of them: nobody waits for an answer to begin, and
//! a model that is slower than the pause is not delayed at all.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

use crate::Journal;

/// From one append of pieces to the next: less than a screen takes to show anything new.
const PAUSE: Duration = Duration::from_millis(10);

#[derive(Default)]
pub(crate) struct Pacing {
    /// The last append ended with a piece, at this time.
    piece_written: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Pacing {
    /// Ready: what has gathered should be written now.
    pub(crate) fn poll_due(&mut self, journal: &Journal, context: &mut Context<'_>) -> Poll<()> {
        let Some(written) = self.piece_written else { return Poll::Ready(()) };
        if !journal.may_wait() {
            return Poll::Ready(());
        }
        let due = written + PAUSE;
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
    }
}
