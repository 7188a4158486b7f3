//! The signals that end a session, and its suspension.

use std::io;
use std::time::Duration;

use rustix::process::{Signal as Number, kill_current_process_group};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::timeout;

/// A program that cannot be suspended, because no shell could continue it, goes on after this time.
const SUSPEND_TIMEOUT: Duration = Duration::from_millis(500);

pub(crate) enum StopSignal {
    Interrupt,
    Terminate,
}

pub(crate) struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl StopSignals {
    pub(crate) fn watch() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    pub(crate) async fn next(&mut self) -> StopSignal {
        tokio::select! {
            _ = self.interrupt.recv() => StopSignal::Interrupt,
            _ = self.terminate.recv() => StopSignal::Terminate,
            _ = self.hang_up.recv() => StopSignal::Terminate,
        }
    }
}

/// Suspends the program, and what was started together with it, until it is continued. The terminal must be in its usual
/// mode, because the shell reads from it now.
///
/// The signal may reach another thread than this one, which then runs on for a moment. So the end of this is not that of
/// the call that sends the signal.
pub(crate) async fn suspend() -> io::Result<()> {
    let mut continued = signal(SignalKind::from_raw(Number::CONT.as_raw()))?;
    kill_current_process_group(Number::TSTP)?;
    let _ = timeout(SUSPEND_TIMEOUT, continued.recv()).await;
    Ok(())
}
