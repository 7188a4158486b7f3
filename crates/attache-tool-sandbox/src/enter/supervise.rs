//! Two processes around a command in namespaces: one outside that ends as the command does, and the first process
//! inside, which reaps orphans, keeps the limits that count for all together, and ends everything with the server.

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
use super::{During, StepError};
use crate::CommandLimits;

/// The server, with a handle that tells when it has ended.
pub(super) struct ServerHandle {
    pub(super) pid: Pid,
    pub(super) handle: OwnedFd,
}

/// Fails when the server has ended already.
pub(super) fn watch_server(server: i32) -> io::Result<ServerHandle> {
    let gone = || io::Error::other("the server has ended");
    let pid = Pid::from_raw(server).ok_or_else(gone)?;
    let handle = pidfd_open(pid, PidfdFlags::empty())?;
    if getppid() == Some(pid) { Ok(ServerHandle { pid, handle }) } else { Err(gone()) }
}

/// What the first process inside does.
pub(super) enum InnerAction {
    /// Runs the command within the limits while the server lives.
    Run(Box<Command>, CommandLimits, OwnedFd),
    Ended(ExitCode),
}

/// Runs `prepare` and the command it returns in a new process, the first of its namespace, and `beside` meanwhile in this
/// one; ends as the command ends.
pub(super) fn in_child(
    beside: impl FnOnce() -> Result<(), StepError>,
    prepare: impl FnOnce() -> Result<InnerAction, StepError>,
) -> Result<ExitCode, StepError> {
    let (reader, writer) = io::pipe().during("making a pipe")?;
    #[expect(unsafe_code, reason = "this process has one thread, so its copy is whole")]
    // SAFETY: no other thread exists whose locks the copy could find held.
    let forked = unsafe { nix::unistd::fork() }.during("starting a process")?;
    match forked {
        nix::unistd::ForkResult::Child => {
            // The child sees when the other process ends without having done its part.
            drop((reader, beside));
            let mut report = ExitReport(writer);
            // The command must not look into this process, which is the first of its namespace.
            nix::sys::prctl::set_dumpable(false).during("making the first process unreadable")?;
            let (mut command, limits, server) = match prepare()? {
                InnerAction::Run(command, limits, server) => (command, limits, server),
                InnerAction::Ended(code) => return Ok(code),
            };
            let child = command.spawn().during("starting the command")?;
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

/// How the command ended, told to the process outside.
struct ExitReport(io::PipeWriter);

impl ExitReport {
    /// `status` is what the kernel says of a process that ended.
    fn send(&mut self, status: i32) {
        // The process outside may have been ended before.
        let _ = self.0.write_all(&status.to_ne_bytes());
    }
}

/// Waits for the report and ends in the same way.
fn exit_as_command(mut reader: io::PipeReader, first: Option<Pid>) -> ExitCode {
    let mut message = [0; 4];
    let told = reader.read_exact(&mut message).is_ok();
    let mut status = i32::from_ne_bytes(message);
    // With the first process all others have ended.
    let ended = waitpid(first, WaitOptions::empty());
    if let (false, Ok(Some((_, ended)))) = (told, ended) {
        status = ended.as_raw();
    }
    exit_like(status)
}

/// Ends as a process did of which the kernel says `status`.
pub(super) fn exit_like(status: i32) -> ExitCode {
    let signal = status & 0x7f;
    if let Some(signal) = Signal::from_named_raw(signal) {
        // Some have a handler of the language's that is taken away by the first. Where a signal does not end this process
        // the code below says the same.
        let _ = kill_process(getpid(), signal);
        let _ = kill_process(getpid(), signal);
    }
    let code = if signal == 0 { (status >> 8) & 0xff } else { 128 + signal };
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}

/// Goes on until the command or the server ends; the kernel then ends all that is left in the namespace.
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
        // What the command leaves running ends with it: it could write where the next command is confined.
        if let Some(status) = of_leader {
            report.send(status);
            return ExitCode::SUCCESS;
        }
        if let Some(why) = exceeded_limit(limits, &other_pids()) {
            // Where it cannot be said, the signal says it.
            let _ = io::stderr().write_all(limit_message(&why).as_bytes());
            report.send(Signal::KILL.as_raw());
            // With the first process of a namespace the kernel ends all others at once.
            return ExitCode::SUCCESS;
        }
        look = (look * 2).min(MAX_CHECK_INTERVAL);
    }
}

/// Waits for all that have ended; how the command ended, if it was among them.
fn reap(leader: Pid) -> Option<i32> {
    let mut of_leader = None;
    while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
        if pid == leader && (status.exited() || status.signaled()) {
            of_leader = Some(status.as_raw());
        }
    }
    of_leader
}

/// Until the command or the server ends, or the time is up. True: the server has ended.
fn wait_for_event(leader: Pid, server: &OwnedFd, time: Duration) -> bool {
    let command = pidfd_open(leader, PidfdFlags::empty()).ok();
    let mut handles = vec![PollFd::new(server, PollFlags::IN)];
    handles.extend(command.as_ref().map(|command| PollFd::from_borrowed_fd(command.as_fd(), PollFlags::IN)));
    let time = Timespec::try_from(time).unwrap_or_default();
    // An interruption is news as well.
    let _ = poll(&mut handles, Some(&time));
    handles[0].revents().contains(PollFlags::IN)
}

/// The processes of the namespace but this one.
fn other_pids() -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    numbers.filter(|number| *number != 1).collect()
}
