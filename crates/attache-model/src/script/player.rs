//! Plays a script run as the stream of a model, with its pauses.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::Stream;
use tokio::time::{Instant, Sleep, sleep};

use super::run::{ScriptAction, ScriptRun};
use crate::{ModelError, ModelStreamItem};

/// Pending only during a wait. Skips recorded chunks, the waits before them, and the waits before answered calls.
pub(super) struct Player {
    run: ScriptRun,
    recorded: u32,
    /// Created at the first wait and reset at each.
    timer: Option<Pin<Box<Sleep>>>,
    waiting: bool,
    over: bool,
}

impl Player {
    pub(super) fn new(run: ScriptRun, recorded: u32) -> Self {
        Self { run, recorded, timer: None, waiting: false, over: false }
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
    type Item = Result<ModelStreamItem, ModelError>;

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
            match player.run.next_action() {
                ScriptAction::Wait(_) if player.recorded > 0 || player.run.is_behind() => {}
                ScriptAction::Wait(duration) if duration.is_zero() => {}
                ScriptAction::Wait(duration) => player.wait(duration),
                ScriptAction::Chunk(_) if player.recorded > 0 => player.recorded -= 1,
                ScriptAction::Chunk(chunk) => return Poll::Ready(Some(Ok(ModelStreamItem::Chunk(chunk)))),
                ScriptAction::Finish(finish) => {
                    player.over = true;
                    return Poll::Ready(Some(Ok(ModelStreamItem::Finish(finish))));
                }
            }
        }
    }
}
