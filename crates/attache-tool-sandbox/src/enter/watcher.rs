//! Two processes beside a command that has no process namespace: one that the server knows and that ends as the command
//! does, and one that watches. The watcher adopts every process that the command leaves behind, whatever session or
//! group that process is in, and kills all of them when the server dies or they use more than they may together.
//!
//! Out of its reach is only a process that kills the watcher first, and what a service that ran before starts on the
//! command's behalf (cron, a container's daemon).

use std::collections::HashSet;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use attache_tool::WATCHER_NAME;
use nix::sys::prctl;
use nix::sys::signal::{SigSet, SigmaskHow, Signal as NixSignal, pthread_sigmask};
use nix::sys::signalfd::SignalFd;
use nix::unistd::ForkResult;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Resource, Signal, WaitOptions, getpgid, getpid, kill_process, kill_process_group,
    pidfd_open, pidfd_send_signal, set_child_subreaper, setsid, wait, waitpid,
};

use super::processes::{descendant_pids, descendants, started_at};
use super::stderr_target::{self, StderrTarget};
use super::supervise::{ServerHandle, exit_like};
use super::usage::{FIRST_CHECK_INTERVAL, MAX_CHECK_INTERVAL, exceeded_limit, limit_message};
use super::{During, StepError, resource_limits};
use crate::CommandLimits;

/// How long the watcher tries to kill; what is left then runs as another user, and it only waits.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);
const KILL_INTERVAL: Duration = Duration::from_millis(2);

/// What the process that becomes the command does last.
pub(super) enum CommandAction {
    Run(Box<Command>),
    Ended(ExitCode),
}

/// Runs `prepare` and the command it returns in a process of its own, and watches it; ends as the command ends.
pub(super) fn run_watched(
    server: ServerHandle,
    limits: CommandLimits,
    prepare: impl FnOnce() -> Result<CommandAction, StepError>,
) -> Result<ExitCode, StepError> {
    let (reader, writer) = io::pipe().during("making a pipe")?;
    let outer_pid = getpid();
    match fork()? {
        ForkResult::Parent { child } => {
            drop(writer);
            exit_with_watcher(reader, Pid::from_raw(child.as_raw()), server.pid)
        }
        ForkResult::Child => {
            drop(reader);
            let outer = pidfd_open(outer_pid, PidfdFlags::empty()).during("finding the process outside")?;
            // From here on every orphan among the command's processes becomes a child of this one.
            set_child_subreaper(Some(getpid())).during("adopting orphans")?;
            match fork()? {
                ForkResult::Child => become_command(prepare()?),
                ForkResult::Parent { child } => {
                    let command = Pid::from_raw(child.as_raw()).ok_or(Errno::CHILD).during("starting")?;
                    let watcher = Watcher {
                        server: server.handle,
                        outer,
                        outer_pid,
                        command,
                        report: Some(writer),
                        limit_check: LimitCheck { limits, last: Instant::now(), pause: FIRST_CHECK_INTERVAL },
                        stderr: StderrTarget::of_stderr(),
                    };
                    watcher.run()
                }
            }
        }
    }
}

fn fork() -> Result<ForkResult, StepError> {
    #[expect(unsafe_code, reason = "this process has one thread, so its copy is whole")]
    // SAFETY: no other thread exists whose locks the copy could find held.
    unsafe { nix::unistd::fork() }.during("starting a process")
}

fn become_command(prepared: CommandAction) -> Result<ExitCode, StepError> {
    use std::os::unix::process::CommandExt;
    // Should the watcher be killed, at least the command itself ends. The watcher has one thread, so this is its end.
    prctl::set_pdeathsig(NixSignal::SIGKILL).during("following the watcher")?;
    match prepared {
        CommandAction::Ended(code) => Ok(code),
        CommandAction::Run(mut command) => Err(command.exec()).during("starting the command"),
    }
}

/// The process outside: the server signals it and waits for it as if it were the command.
fn exit_with_watcher(
    mut reader: PipeReader,
    watcher: Option<Pid>,
    server: Pid,
) -> Result<ExitCode, StepError> {
    ignore_signals();
    // The terminal's hangup reaches the command by itself. An order to end is passed on, unless the server gives it, which
    // tells all of the command's processes.
    let asked = block(&[NixSignal::SIGTERM, NixSignal::SIGHUP, NixSignal::SIGINT, NixSignal::SIGQUIT]);
    let asked = asked.and_then(|_| SignalFd::new(&SigSet::from(NixSignal::SIGTERM)));
    let asked = asked.during("watching for signals")?;
    // The command ends as it likes; its memory is not written twice.
    let _ = resource_limits::lower(Resource::Core, 0);
    let command = receive(&mut reader).and_then(Pid::from_raw);
    loop {
        let mut handles =
            [PollFd::new(&reader, PollFlags::IN), PollFd::from_borrowed_fd(asked.as_fd(), PollFlags::IN)];
        let _ = poll(&mut handles, None);
        let reported = !handles[0].revents().is_empty();
        if handles[1].revents().contains(PollFlags::IN) {
            let sender = asked.read_signal().ok().flatten().and_then(|told| i32::try_from(told.ssi_pid).ok());
            if sender != Some(server.as_raw_nonzero().get()) {
                command.map(|command| kill_process(command, Signal::TERM));
            }
        }
        if reported {
            break;
        }
    }
    let status = receive(&mut reader);
    if status.is_none() {
        // The watcher was killed, and nothing would end the command with the server.
        command.map(|command| kill_process(command, Signal::KILL));
    }
    let watches_on = receive(&mut reader).is_some_and(|more| more != 0);
    if !watches_on {
        // It ends by itself now, and has to be waited for where the system's first process does not do that.
        let _ = waitpid(watcher, WaitOptions::empty());
    }
    let _ = pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None);
    Ok(exit_like(status.unwrap_or(Signal::KILL.as_raw())))
}

fn receive(reader: &mut PipeReader) -> Option<i32> {
    let mut message = [0; 4];
    reader.read_exact(&mut message).ok()?;
    Some(i32::from_ne_bytes(message))
}

struct Watcher {
    server: OwnedFd,
    /// The process that stands for the command; gone from here once the command has ended.
    outer: OwnedFd,
    outer_pid: Pid,
    command: Pid,
    /// Tells the process outside which process the command is, and how it ended.
    report: Option<PipeWriter>,
    limit_check: LimitCheck,
    /// Where the command writes.
    stderr: Option<StderrTarget>,
}

/// When the limits are looked at.
struct LimitCheck {
    limits: CommandLimits,
    last: Instant,
    pause: Duration,
}

impl LimitCheck {
    fn until_next(&self) -> Timespec {
        Timespec::try_from(self.pause.saturating_sub(self.last.elapsed())).unwrap_or_default()
    }

    /// Which limit is passed, and by which processes. Only looks when it is time.
    fn passed(&mut self) -> Option<(String, Vec<i32>)> {
        if self.last.elapsed() < self.pause {
            return None;
        }
        let processes = descendant_pids();
        let why = exceeded_limit(self.limits, &processes);
        self.pause = (self.pause * 2).min(MAX_CHECK_INTERVAL);
        self.last = Instant::now();
        why.map(|why| (why, processes))
    }
}

impl Watcher {
    fn run(mut self) -> Result<ExitCode, StepError> {
        // Signals for the command's session and group are not meant for the one that watches it.
        let _ = setsid();
        ignore_signals();
        pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::all()), None).during("blocking signals")?;
        let ended = SignalFd::new(&SigSet::from(NixSignal::SIGCHLD)).during("watching for children")?;
        self.send(self.command.as_raw_nonzero().get());
        // What ended before its signal could be waited for is seen here.
        while self.reap() == Descendants::Processes {
            let mut handles = vec![
                PollFd::new(&self.server, PollFlags::IN),
                PollFd::from_borrowed_fd(ended.as_fd(), PollFlags::IN),
            ];
            if self.report.is_some() {
                handles.push(PollFd::new(&self.outer, PollFlags::IN));
            }
            // An interruption is looked at like everything else.
            let _ = poll(&mut handles, Some(&self.limit_check.until_next()));
            let over =
                |handle: Option<&PollFd<'_>>| handle.is_some_and(|it| it.revents().contains(PollFlags::IN));
            if over(handles.first()) || over(handles.get(2)) {
                kill_all();
                break;
            }
            if over(handles.get(1)) {
                let _ = ended.read_signal();
            }
            if let Some((why, processes)) = self.limit_check.passed() {
                self.end(&why, &processes);
                break;
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Kills the command with all that it has started, and says why where it writes.
    fn end(&mut self, why: &str, processes: &[i32]) {
        let mut outlet = self.stderr.and_then(|outlet| outlet.open(processes));
        if let Some(outlet) = &mut outlet {
            stderr_target::write(outlet, &limit_message(why));
        }
        // One call ends a group that starts processes faster than they can be counted, with the process outside, which
        // leads it.
        if self.report.is_some() && getpgid(Some(self.outer_pid)) == Ok(self.outer_pid) {
            let _ = kill_process_group(self.outer_pid, Signal::KILL);
        }
        kill_all();
        self.send(Signal::KILL.as_raw());
        self.send(0);
    }

    /// Waits for all that have ended, and reports the command.
    fn reap(&mut self) -> Descendants {
        let mut of_command = None;
        let left = loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.command && (status.exited() || status.signaled()) => {
                    of_command = Some(status.as_raw());
                }
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => break Descendants::Processes,
                Err(_) => break Descendants::Nothing,
            }
        };
        if let Some(status) = of_command {
            self.send(status);
            self.send(i32::from(left == Descendants::Processes));
            self.report = None;
        }
        left
    }

    fn send(&mut self, number: i32) {
        if let Some(report) = &mut self.report {
            // The process outside may have been killed; that is seen otherwise.
            let _ = report.write_all(&number.to_ne_bytes());
        }
    }
}

#[derive(PartialEq, Eq)]
enum Descendants {
    Processes,
    Nothing,
}

/// Kills every descendant until none is left. One that was sent this signal starts no more, so the looks come to an end.
fn kill_all() {
    let begun = Instant::now();
    let mut seen = HashSet::new();
    loop {
        let hopeless = begun.elapsed() > KILL_TIMEOUT;
        for process in descendants() {
            if seen.insert((process.pid, process.started)) || !hopeless {
                kill(process.pid, process.started);
            }
        }
        let options = if hopeless { WaitOptions::empty() } else { WaitOptions::NOHANG };
        loop {
            match wait(options) {
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
        std::thread::sleep(KILL_INTERVAL);
    }
}

/// The number may have passed on since the look: the handle is of the process that is signalled.
fn kill(pid: i32, started: u64) {
    let Some(handle) = Pid::from_raw(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else {
        return;
    };
    if started_at(pid) == Some(started) {
        let _ = pidfd_send_signal(&handle, Signal::KILL);
    }
}

fn block(signals: &[NixSignal]) -> nix::Result<()> {
    let signals: SigSet = signals.iter().copied().collect();
    pthread_sigmask(SigmaskHow::SIG_BLOCK, Some(&signals), None)
}

/// Lets go of what the command reads and writes, so that its end is seen there, and shows in lists of processes as what
/// it is.
fn ignore_signals() {
    if let Ok(name) = std::ffi::CString::new(WATCHER_NAME) {
        let _ = prctl::set_name(&name);
    }
    let Ok(null) = std::fs::File::options().read(true).write(true).open("/dev/null") else { return };
    let _ = rustix::stdio::dup2_stdin(&null);
    let _ = rustix::stdio::dup2_stdout(&null);
    let _ = rustix::stdio::dup2_stderr(&null);
}
