//! Two processes beside a command that has no process namespace. The outer process is the server's child and exits like
//! the command. The watcher adopts all orphans of the command, in any session or group. It kills them when the server
//! dies or they exceed a limit together.
//!
//! The watcher does not reach a process that kills the watcher first, nor processes that another service starts for the
//! command (cron, a container daemon).

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
use super::supervise::{ServerProcess, exit_like};
use super::usage::{FIRST_CHECK_INTERVAL, MAX_CHECK_INTERVAL, exceeded_limit, limit_message};
use super::{InStep, StepError, resource_limits};
use crate::CommandLimits;

/// After this time the watcher stops killing. What is left runs as another user, and the watcher only waits.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);
const KILL_INTERVAL: Duration = Duration::from_millis(2);

/// What the process that becomes the command does next.
pub(super) enum CommandAction {
    Run(Box<Command>),
    Ended(ExitCode),
}

/// Runs `prepare` and its command in a new process, and watches it. Exits like the command.
pub(super) fn run_watched(
    server: ServerProcess,
    limits: CommandLimits,
    prepare: impl FnOnce() -> Result<CommandAction, StepError>,
) -> Result<ExitCode, StepError> {
    let (reader, writer) = io::pipe().in_step("making a pipe")?;
    let outer_pid = getpid();
    match fork()? {
        ForkResult::Parent { child } => {
            drop(writer);
            exit_with_watcher(reader, Pid::from_raw(child.as_raw()), server.pid)
        }
        ForkResult::Child => {
            drop(reader);
            let outer = pidfd_open(outer_pid, PidfdFlags::empty()).in_step("finding the process outside")?;
            // Orphans of the command become children of this process.
            set_child_subreaper(Some(getpid())).in_step("adopting orphans")?;
            match fork()? {
                ForkResult::Child => become_command(prepare()?),
                ForkResult::Parent { child } => {
                    let command = Pid::from_raw(child.as_raw()).ok_or(Errno::CHILD).in_step("starting")?;
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
    unsafe { nix::unistd::fork() }.in_step("starting a process")
}

fn become_command(prepared: CommandAction) -> Result<ExitCode, StepError> {
    use std::os::unix::process::CommandExt;
    // If the watcher is killed, the command ends too. This signal follows the thread, and the watcher has only one.
    prctl::set_pdeathsig(NixSignal::SIGKILL).in_step("following the watcher")?;
    match prepared {
        CommandAction::Ended(code) => Ok(code),
        CommandAction::Run(mut command) => Err(command.exec()).in_step("starting the command"),
    }
}

/// The outer process. The server signals it and waits for it as if it were the command.
fn exit_with_watcher(
    mut reader: PipeReader,
    watcher: Option<Pid>,
    server: Pid,
) -> Result<ExitCode, StepError> {
    detach_from_output();
    // A hangup of the terminal reaches the command directly. SIGTERM is forwarded, unless it comes from the server,
    // which signals all processes of the command.
    let blocked = block(&[NixSignal::SIGTERM, NixSignal::SIGHUP, NixSignal::SIGINT, NixSignal::SIGQUIT]);
    let blocked = blocked.and_then(|_| SignalFd::new(&SigSet::from(NixSignal::SIGTERM)));
    let blocked = blocked.in_step("watching for signals")?;
    // Only the command writes a core dump.
    let _ = resource_limits::lower(Resource::Core, 0);
    let command = receive(&mut reader).and_then(Pid::from_raw);
    loop {
        let mut handles =
            [PollFd::new(&reader, PollFlags::IN), PollFd::from_borrowed_fd(blocked.as_fd(), PollFlags::IN)];
        let _ = poll(&mut handles, None);
        let reported = !handles[0].revents().is_empty();
        if handles[1].revents().contains(PollFlags::IN) {
            let sender =
                blocked.read_signal().ok().flatten().and_then(|told| i32::try_from(told.ssi_pid).ok());
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
        // The watcher was killed. Without it the command would outlive the server.
        command.map(|command| kill_process(command, Signal::KILL));
    }
    let watches_on = receive(&mut reader).is_some_and(|more| more != 0);
    if !watches_on {
        // The watcher ends now. Reaps it in case the system's first process does not.
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
    /// The outer process, which exits after the command.
    outer: OwnedFd,
    outer_pid: Pid,
    command: Pid,
    /// Sends the process id and the exit status of the command to the outer process.
    report: Option<PipeWriter>,
    limit_check: LimitCheck,
    /// Where the command writes its errors.
    stderr: Option<StderrTarget>,
}

/// When to check the limits.
struct LimitCheck {
    limits: CommandLimits,
    last: Instant,
    pause: Duration,
}

impl LimitCheck {
    fn until_next(&self) -> Timespec {
        Timespec::try_from(self.pause.saturating_sub(self.last.elapsed())).unwrap_or_default()
    }

    /// The exceeded limit and the processes, if a check is due.
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
        // Signals for the command's session and group must not reach the watcher.
        let _ = setsid();
        detach_from_output();
        pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::all()), None).in_step("blocking signals")?;
        let ended = SignalFd::new(&SigSet::from(NixSignal::SIGCHLD)).in_step("watching for children")?;
        self.send(self.command.as_raw_nonzero().get());
        // Also reaps processes that ended before the signal handle existed.
        while self.reap() == Descendants::Processes {
            let mut handles = vec![
                PollFd::new(&self.server, PollFlags::IN),
                PollFd::from_borrowed_fd(ended.as_fd(), PollFlags::IN),
            ];
            if self.report.is_some() {
                handles.push(PollFd::new(&self.outer, PollFlags::IN));
            }
            // An interruption counts as an event.
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

    /// Kills the command with everything it has started, and writes the reason to its output.
    fn end(&mut self, why: &str, processes: &[i32]) {
        let mut outlet = self.stderr.and_then(|outlet| outlet.open(processes));
        if let Some(outlet) = &mut outlet {
            stderr_target::write(outlet, &limit_message(why));
        }
        // One call kills a group that starts processes faster than they can be listed. The outer process leads the
        // group.
        if self.report.is_some() && getpgid(Some(self.outer_pid)) == Ok(self.outer_pid) {
            let _ = kill_process_group(self.outer_pid, Signal::KILL);
        }
        kill_all();
        self.send(Signal::KILL.as_raw());
        self.send(0);
    }

    /// Reaps ended processes and reports the end of the command.
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
            // The outer process may be dead; the poll notices that.
            let _ = report.write_all(&number.to_ne_bytes());
        }
    }
}

#[derive(PartialEq, Eq)]
enum Descendants {
    Processes,
    Nothing,
}

/// Kills descendants until none is left. A killed process starts no others, so this ends.
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

/// The process id may have been reused, so the start time of the opened process is compared.
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

/// Closes the input and output of the command, so that readers see its end, and sets the name of this process.
fn detach_from_output() {
    if let Ok(name) = std::ffi::CString::new(WATCHER_NAME) {
        let _ = prctl::set_name(&name);
    }
    let Ok(null) = std::fs::File::options().read(true).write(true).open("/dev/null") else { return };
    let _ = rustix::stdio::dup2_stdin(&null);
    let _ = rustix::stdio::dup2_stdout(&null);
    let _ = rustix::stdio::dup2_stderr(&null);
}
