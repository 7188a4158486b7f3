//! Listens to a command until it ends, is stopped, takes too long, or writes too much.

use std::process::ExitStatus;
use std::time::Duration;

use tokio::task::yield_now;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::start::RunningCommand;

const BUFFER: usize = 64 * 1024;
/// How long to wait for the last words of a command that ended, while processes it left behind could still write.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(100);
/// More than pipes and terminals hold: beyond it, others are speaking.
const MAX_DRAIN_BYTES: usize = 1024 * 1024;

/// Takes what a command says.
pub(super) trait OutputListener: Send {
    fn receive(&mut self, bytes: &[u8]);
    /// When it wants to be called again although nothing was said.
    fn due(&self) -> Option<Instant>;
    fn flush(&mut self);
}

/// When to stop listening.
#[derive(Debug, Clone, Default)]
pub(super) struct ListenLimits {
    /// After this long without a word the command is ended.
    pub(super) silence: Option<Duration>,
    /// After this long it is ended, whatever it says.
    pub(super) total: Option<Duration>,
    /// After this long it goes on by itself.
    pub(super) background_after: Option<Duration>,
    /// After it has written this many bytes it is ended.
    pub(super) max_output_bytes: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Exited(ExitStatus),
    Cancelled,
    /// Ended by us, for it said nothing for so long.
    Silent(Duration),
    /// Ended by us, for it took so long.
    TooLong(Duration),
    /// Ended by us, for it wrote more than so many bytes.
    TooMuchOutput(u64),
    /// Not ended: it goes on, and can be attended again.
    GoesOn,
    /// Nothing is known of how it ended.
    Lost,
}

/// Unless it goes on, all processes of the command have ended afterwards, but those that it left behind by exiting.
pub(super) async fn listen_until_end(
    started: &mut RunningCommand,
    limits: &ListenLimits,
    cancel: &CancellationToken,
    listener: &mut dyn OutputListener,
) -> Ending {
    let ending = listen(started, limits, cancel, listener).await;
    match ending {
        Ending::GoesOn => return ending,
        Ending::Exited(_) => {}
        Ending::Cancelled
        | Ending::Silent(_)
        | Ending::TooLong(_)
        | Ending::TooMuchOutput(_)
        | Ending::Lost => {
            started.leash.tree().end().await;
            // It has ended, and this only tells the kernel that we know; unless it could not be ended.
            let _ = timeout(DRAIN_TIMEOUT, started.child.wait()).await;
        }
    }
    drain_output(started, listener).await;
    listener.flush();
    ending
}

async fn listen(
    started: &mut RunningCommand,
    limits: &ListenLimits,
    cancel: &CancellationToken,
    listener: &mut dyn OutputListener,
) -> Ending {
    let mut buffer = vec![0; BUFFER];
    let begun = Instant::now();
    let mut heard = begun;
    let mut open = true;
    let mut written = 0_u64;
    loop {
        let limit = [
            limits.background_after.map(|patience| (begun, patience, Ending::GoesOn)),
            limits.silence.map(|silence| (heard, silence, Ending::Silent(silence))),
            limits.total.map(|total| (begun, total, Ending::TooLong(total))),
        ];
        let limit = limit.into_iter().flatten();
        // A limit beyond the end of time is none.
        let limit = limit.filter_map(|(from, time, ending)| Some((from.checked_add(time)?, ending)));
        let limit = limit.min_by_key(|(at, _)| *at);
        // Timers stand still while a command never stops talking, so the time is looked at as well.
        let now = Instant::now();
        if let Some((_, ending)) = limit.filter(|(at, _)| *at <= now) {
            return ending;
        }
        if listener.due().is_some_and(|due| due <= now) {
            listener.flush();
        }
        let due = listener.due();
        tokio::select! {
            // What is said comes last, for there may be no end to it.
            biased;
            () = cancel.cancelled() => return Ending::Cancelled,
            ending = reached(limit) => return ending,
            status = started.child.wait() => return status.map_or(Ending::Lost, Ending::Exited),
            () = reached_time(due) => listener.flush(),
            count = started.output.read(&mut buffer), if open => {
                open = count > 0;
                heard = Instant::now();
                listener.receive(&buffer[..count]);
                written += count as u64;
                if let Some(most) = limits.max_output_bytes.filter(|most| written > *most) {
                    return Ending::TooMuchOutput(most);
                }
                // Hearing much takes a while, and others on this thread wait.
                yield_now().await;
            }
        }
    }
}

async fn drain_output(started: &mut RunningCommand, listener: &mut dyn OutputListener) {
    let mut buffer = vec![0; BUFFER];
    let until = Instant::now() + DRAIN_TIMEOUT;
    let mut heard = 0;
    while heard < MAX_DRAIN_BYTES {
        tokio::select! {
            biased;
            count = started.output.read(&mut buffer) => {
                if count == 0 {
                    return;
                }
                heard += count;
                listener.receive(&buffer[..count]);
            }
            () = sleep_until(until) => return,
        }
    }
}

async fn reached(limit: Option<(Instant, Ending)>) -> Ending {
    match limit {
        Some((at, ending)) => {
            sleep_until(at).await;
            ending
        }
        None => std::future::pending().await,
    }
}

async fn reached_time(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}
