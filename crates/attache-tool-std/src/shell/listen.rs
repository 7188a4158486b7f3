//! Reads the output of a command until it ends, is cancelled, takes too long, or writes too much.

use std::process::ExitStatus;
use std::time::Duration;

use tokio::task::yield_now;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::start::RunningCommand;

const BUFFER: usize = 64 * 1024;
/// Time to read the rest of the output after the command has ended, while remaining processes could still write.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(100);
/// More than pipes and terminals buffer. Further output comes from other processes.
const MAX_DRAIN_BYTES: usize = 1024 * 1024;

/// Receives the output of a command.
pub(super) trait OutputListener: Send {
    fn receive(&mut self, bytes: &[u8]);
    /// When `flush` is due without new output.
    fn due(&self) -> Option<Instant>;
    fn flush(&mut self);
}

/// When to stop.
#[derive(Debug, Clone, Default)]
pub(super) struct ListenLimits {
    /// Ends a command without output for this long.
    pub(super) silence: Option<Duration>,
    /// Leaves the command running after this long.
    pub(super) background_after: Option<Duration>,
    /// Ends the command after this many bytes of output.
    pub(super) max_output_bytes: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Exited(ExitStatus),
    Cancelled,
    /// Killed after this long without output.
    Silent(Duration),
    /// Killed after more than this many bytes of output.
    TooMuchOutput(u64),
    /// Still running.
    GoesOn,
    /// The exit status is unknown.
    Lost,
}

/// Reads output until the command ends or a limit is reached. Afterwards all its processes have ended, except those
/// that it left behind by exiting, unless it is still running.
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
        Ending::Cancelled | Ending::Silent(_) | Ending::TooMuchOutput(_) | Ending::Lost => {
            started.leash.tree().end().await;
            // Reaps the process, unless it could not be killed.
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
    let mut last_output = begun;
    let mut open = true;
    let mut written = 0_u64;
    loop {
        let limit = [
            limits.background_after.map(|delay| (begun, delay, Ending::GoesOn)),
            limits.silence.map(|silence| (last_output, silence, Ending::Silent(silence))),
        ];
        let limit = limit.into_iter().flatten();
        // A limit beyond the range of `Instant` is no limit.
        let limit = limit.filter_map(|(from, time, ending)| Some((from.checked_add(time)?, ending)));
        let limit = limit.min_by_key(|(at, _)| *at);
        // Timers do not fire while output never stops, so the time is checked as well.
        let now = Instant::now();
        if let Some((_, ending)) = limit.filter(|(at, _)| *at <= now) {
            return ending;
        }
        if listener.due().is_some_and(|due| due <= now) {
            listener.flush();
        }
        let due = listener.due();
        tokio::select! {
            // Output comes last, because it may never end.
            biased;
            () = cancel.cancelled() => return Ending::Cancelled,
            ending = reached(limit) => return ending,
            status = started.child.wait() => return status.map_or(Ending::Lost, Ending::Exited),
            () = reached_time(due) => listener.flush(),
            count = started.output.read(&mut buffer), if open => {
                open = count > 0;
                last_output = Instant::now();
                listener.receive(&buffer[..count]);
                written += count as u64;
                if let Some(limit) = limits.max_output_bytes.filter(|limit| written > *limit) {
                    return Ending::TooMuchOutput(limit);
                }
                // Lets other tasks on this thread run.
                yield_now().await;
            }
        }
    }
}

async fn drain_output(started: &mut RunningCommand, listener: &mut dyn OutputListener) {
    let mut buffer = vec![0; BUFFER];
    let until = Instant::now() + DRAIN_TIMEOUT;
    let mut received = 0;
    while received < MAX_DRAIN_BYTES {
        tokio::select! {
            biased;
            count = started.output.read(&mut buffer) => {
                if count == 0 {
                    return;
                }
                received += count;
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
