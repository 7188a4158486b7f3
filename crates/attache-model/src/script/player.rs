//! Plays a performance in time, as the stream a model answers with.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::Stream;
use tokio::time::{Instant, Sleep, sleep};

use super::performance::{Move, Performance};
use crate::{ModelError, StreamItem};

/// Never pending but in a wait. Chunks that are already recorded, and the waits before them and before calls
/// that are answered, are passed over.
pub(super) struct Player {
    performance: Performance,
    recorded: u32,
    /// Made at the first wait and set anew at each.
    timer: Option<Pin<Box<Sleep>>>,
    waiting: bool,
    over: bool,
}

impl Player {
    pub(super) fn new(performance: Performance, recorded: u32) -> Self {
        Self { performance, recorded, timer: None, waiting: false, over: false }
    }

    fn wait(&mut self, duration: Duration) {
        self.waiting = true;
        match &mut self.timer {
            Some(timer) => timer.as_mut().reset(Instant::now() + duration),
            None => self.timer = Some(Box::pin(sleep(duration))),
        }
    }
}

impl Stream for Player {
    type Item = Result<StreamItem, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let player = &mut *self;
        if player.over {
            return Poll::Ready(None);
        }
        loop {
            if let Some(timer) = player.timer.as_mut().filter(|_| player.waiting) {
                ready!(timer.as_mut().poll(context));
                player.waiting = false;
            }
            match player.performance.next_move() {
                Move::Wait(_) if player.recorded > 0 || player.performance.is_behind() => {}
                Move::Wait(duration) if duration.is_zero() => {}
                Move::Wait(duration) => player.wait(duration),
                Move::Chunk(_) if player.recorded > 0 => player.recorded -= 1,
                Move::Chunk(chunk) => return Poll::Ready(Some(Ok(StreamItem::Chunk(chunk)))),
                Move::Finish(finish) => {
                    player.over = true;
                    return Poll::Ready(Some(Ok(StreamItem::Finish(finish))));
                }
            }
        }
    }
}
