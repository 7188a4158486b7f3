//! Two processes around a command in namespaces. The one outside exits like the command. The first process inside reaps
//! orphans, enforces the limits on all processes together, and ends everything with the server.

use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Command, ExitCode};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, getppid, kill_process, pidfd_open, wait, waitpid,
};

use super::usage::{FIRST_CHECK_INTERVAL, MAX_CHECK_INTERVAL, exceeded_limit, limit_message};
use super::{InStep, StepError};
use crate::CommandLimits;

/// The server, with a handle that signals its end.
pub(super) struct ServerProcess {
    pub(super) pid: Pid,
    pub(super) handle: OwnedFd,
}

/// Fails if the server has ended.
pub(super) fn watch_server(server: i32) -> io::Result<ServerProcess> {
    let gone = || io::Error::other("the server has ended");
    let pid = Pid::from_raw(server).ok_or_else(gone)?;
    let handle = pidfd_open(pid, PidfdFlags::empty())?;
    if getppid() == Some(pid) { Ok(ServerProcess { pid, handle }) } else { Err(gone()) }
}

/// What the first process inside does next.
pub(super) enum InnerAction {
    /// Runs the command within the limits while the server lives.
    Run(Box<Command>, CommandLimits, OwnedFd),
    Ended(ExitCode),
}

/// Runs `prepare` and its command in a new process, the first of its namespace, and `beside` in this process. Exits
/// like the command.
pub(super) fn in_child(
    beside: impl FnOnce() -> Result<(), StepError>,
    prepare: impl FnOnce() -> Result<InnerAction, StepError>,
) -> Result<ExitCode, StepError> {
    let (reader, writer) = io::pipe().in_step("making a pipe")?;
    #[expect(unsafe_code, reason = "this process has one thread, so its copy is whole")]
    // SAFETY: no other thread exists whose locks the copy could find held.
    let forked = unsafe { nix::unistd::fork() }.in_step("starting a process")?;
    match forked {
        nix::unistd::ForkResult::Child => {
            // Closed here, so that the child sees when the parent fails.
            drop((reader, beside));
            let mut report = ExitReport(writer);
            // The command must not read the memory of this process.
            nix::sys::prctl::set_dumpable(false).in_step("making the first process unreadable")?;
            let (mut command, limits, server) = match prepare()? {
                InnerAction::Run(command, limits, server) => (command, limits, server),
                InnerAction::Ended(code) => return Ok(code),
            };
            let child = command.spawn().in_step("starting the command")?;
            let leader = Pid::from_child(&child);
            drop(child);
            Ok(run_first_process(leader, limits, &server, &mut report))
        }
        nix::unistd::ForkResult::Parent { child } => {
            drop((writer, prepare));
            beside()?;
            Ok(exit_as_command(reader, Pid::from_raw(child.as_raw())))
        }
    }
}

/// Sends the exit status of the command to the process outside.
struct ExitReport(io::PipeWriter);

impl ExitReport {
    /// `status` is a wait status of the kernel.
    fn send(&mut self, status: i32) {
        // The process outside may be dead.
        let _ = self.0.write_all(&status.to_ne_bytes());
    }
}

/// Waits for the report and exits like the command.
fn exit_as_command(mut reader: io::PipeReader, first: Option<Pid>) -> ExitCode {
    let mut message = [0; 4];
    let received = reader.read_exact(&mut message).is_ok();
    let mut status = i32::from_ne_bytes(message);
    // All others end with the first process.
    let ended = waitpid(first, WaitOptions::empty());
    if let (false, Ok(Some((_, ended)))) = (received, ended) {
        status = ended.as_raw();
    }
    exit_like(status)
}

/// Exits like a process with this wait status.
pub(super) fn exit_like(status: i32) -> ExitCode {
    let signal = status & 0x7f;
    if let Some(signal) = Signal::from_named_raw(signal) {
        // The first signal may only remove a handler of the Rust runtime. If the signal does not kill this process, the
        // exit code says the same.
        let _ = kill_process(getpid(), signal);
        let _ = kill_process(getpid(), signal);
    }
    let code = if signal == 0 { (status >> 8) & 0xff } else { 128 + signal };
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}

/// Waits until the command or the server ends. The kernel then kills all processes left in the namespace.
fn run_first_process(
    leader: Pid,
    limits: CommandLimits,
    server: &OwnedFd,
    report: &mut ExitReport,
) -> ExitCode {
    let mut look = FIRST_CHECK_INTERVAL;
    loop {
        if wait_for_event(leader, server, look) {
            return ExitCode::SUCCESS;
        }
        let of_leader = reap(leader);
        // Processes that outlive the command could write where the next one is confined.
        if let Some(status) = of_leader {
            report.send(status);
            return ExitCode::SUCCESS;
        }
        if let Some(why) = exceeded_limit(limits, &other_pids()) {
            // If this cannot be written, the signal still tells.
            let _ = io::stderr().write_all(limit_message(&why).as_bytes());
            report.send(Signal::KILL.as_raw());
            // When the first process of a namespace ends, the kernel kills all others.
            return ExitCode::SUCCESS;
        }
        look = (look * 2).min(MAX_CHECK_INTERVAL);
    }
}

/// Reaps ended processes. Returns the status of the command if it was one of them.
fn reap(leader: Pid) -> Option<i32> {
    let mut of_leader = None;
    while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
        if pid == leader && (status.exited() || status.signaled()) {
            of_leader = Some(status.as_raw());
        }
    }
    of_leader
}

/// Waits until the command or the server ends, or the time is up. True if the server has ended.
fn wait_for_event(leader: Pid, server: &OwnedFd, time: Duration) -> bool {
    let command = pidfd_open(leader, PidfdFlags::empty()).ok();
    let mut handles = vec![PollFd::new(server, PollFlags::IN)];
    handles.extend(command.as_ref().map(|command| PollFd::from_borrowed_fd(command.as_fd(), PollFlags::IN)));
    let time = Timespec::try_from(time).unwrap_or_default();
    // An interruption counts as an event.
    let _ = poll(&mut handles, Some(&time));
    handles[0].revents().contains(PollFlags::IN)
}

/// The processes of the namespace except this one.
fn other_pids() -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    numbers.filter(|number| *number != 1).collect()
}
