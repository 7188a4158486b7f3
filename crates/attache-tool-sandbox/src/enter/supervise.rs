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

use super::{During, Step};
use crate::Limits;

/// Processes are counted this often at first, and ever more rarely up to the slowest.
const FIRST_LOOK: Duration = Duration::from_millis(20);
const SLOWEST_LOOK: Duration = Duration::from_millis(500);

/// A handle that tells when the server has ended. Fails when it has ended already.
pub(super) fn watch_server(server: i32) -> io::Result<OwnedFd> {
    let gone = || io::Error::other("the server has ended");
    let server = Pid::from_raw(server).ok_or_else(gone)?;
    let handle = pidfd_open(server, PidfdFlags::empty())?;
    if getppid() == Some(server) { Ok(handle) } else { Err(gone()) }
}

/// What the first process inside does.
pub(super) enum Prepared {
    /// Runs the command within the limits while the server lives.
    Run(Box<Command>, Limits, OwnedFd),
    Ended(ExitCode),
}

/// Runs `prepare` and the command it returns in a new process, the first of its namespace; ends as the command ends.
pub(super) fn in_child(prepare: impl FnOnce() -> Result<Prepared, Step>) -> Result<ExitCode, Step> {
    let (reader, writer) = io::pipe().during("making a pipe")?;
    #[expect(unsafe_code, reason = "this process has one thread, so its copy is whole")]
    // SAFETY: no other thread exists whose locks the copy could find held.
    let forked = unsafe { nix::unistd::fork() }.during("starting a process")?;
    match forked {
        nix::unistd::ForkResult::Child => {
            drop(reader);
            let mut report = Report(writer);
            let (mut command, limits, server) = match prepare()? {
                Prepared::Run(command, limits, server) => (command, limits, server),
                Prepared::Ended(code) => return Ok(code),
            };
            let child = command.spawn().during("starting the command")?;
            let leader = Pid::from_child(&child);
            drop(child);
            Ok(first_process(leader, limits, &server, &mut report))
        }
        nix::unistd::ForkResult::Parent { child } => {
            drop(writer);
            Ok(as_command(reader, Pid::from_raw(child.as_raw())))
        }
    }
}

/// How the command ended, told to the process outside; and whether the first process ends at once too.
struct Report(io::PipeWriter);

impl Report {
    /// `status` is what the kernel says of a process that ended.
    fn send(&mut self, status: i32, all_ended: bool) {
        let mut message = status.to_ne_bytes().to_vec();
        message.push(u8::from(all_ended));
        // The process outside may have been ended before.
        let _ = self.0.write_all(&message);
    }
}

/// Waits for the report and ends in the same way.
fn as_command(mut reader: io::PipeReader, first: Option<Pid>) -> ExitCode {
    let mut message = [0; 5];
    let told = reader.read_exact(&mut message).is_ok();
    let [a, b, c, d, all_ended] = message;
    let mut status = i32::from_ne_bytes([a, b, c, d]);
    if !told || all_ended == 1 {
        let ended = waitpid(first, WaitOptions::empty());
        if let (false, Ok(Some((_, ended)))) = (told, ended) {
            status = ended.as_raw();
        }
    }
    let signal = status & 0x7f;
    if let Some(signal) = Signal::from_named_raw(signal) {
        // Where a signal does not end this process the code below says the same.
        let _ = kill_process(getpid(), signal);
    }
    let code = if signal == 0 { (status >> 8) & 0xff } else { 128 + signal };
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}

/// Goes on until nothing is left in the namespace, or the server is gone: the kernel ends all that is left then.
fn first_process(leader: Pid, limits: Limits, server: &OwnedFd, report: &mut Report) -> ExitCode {
    let mut look = FIRST_LOOK;
    let mut ended = false;
    loop {
        if wait_for_news(leader, ended, server, look) {
            return ExitCode::SUCCESS;
        }
        let Reaped { of_leader, none_left } = reap(leader);
        if let Some(status) = of_leader {
            report.send(status, none_left);
            ended = true;
            if !none_left {
                let_go_of_output();
            }
        }
        if ended && none_left {
            return ExitCode::SUCCESS;
        }
        if let Some(why) = over(limits) {
            say_ended(&why);
            if !ended {
                report.send(Signal::KILL.as_raw(), true);
            }
            // With the first process of a namespace the kernel ends all others at once.
            return ExitCode::SUCCESS;
        }
        look = (look * 2).min(SLOWEST_LOOK);
    }
}

struct Reaped {
    /// How the command ended, if it was among them.
    of_leader: Option<i32>,
    none_left: bool,
}

/// Waits for all that have ended. Orphans become children of the first process, so without children it is alone.
fn reap(leader: Pid) -> Reaped {
    let mut of_leader = None;
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if pid == leader && (status.exited() || status.signaled()) => {
                of_leader = Some(status.as_raw());
            }
            Ok(Some(_)) => {}
            Ok(None) => return Reaped { of_leader, none_left: false },
            Err(_) => return Reaped { of_leader, none_left: true },
        }
    }
}

/// What is left running may write; who reads it must not wait for this process, too.
fn let_go_of_output() {
    if let Ok(null) = fs::OpenOptions::new().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
}

/// Until the command or the server ends, or the time is up. True: the server has ended.
fn wait_for_news(leader: Pid, ended: bool, server: &OwnedFd, time: Duration) -> bool {
    let command = if ended { None } else { pidfd_open(leader, PidfdFlags::empty()).ok() };
    let mut handles = vec![PollFd::new(server, PollFlags::IN)];
    handles.extend(command.as_ref().map(|command| PollFd::from_borrowed_fd(command.as_fd(), PollFlags::IN)));
    let time = Timespec::try_from(time).unwrap_or_default();
    // An interruption is news as well.
    let _ = poll(&mut handles, Some(&time));
    handles[0].revents().contains(PollFlags::IN)
}

/// The processes of the namespace but this one.
fn others() -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    numbers.filter(|number| *number != 1).collect()
}

/// Which limit is passed by all processes together.
fn over(limits: Limits) -> Option<String> {
    let others = others();
    if others.len() as u64 > limits.processes {
        return Some(format!("it started more than {} processes", limits.processes));
    }
    let page = rustix::param::page_size() as u64;
    let resident = |pid: &i32| -> Option<u64> {
        let pages = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
        let numbers: Vec<u64> = pages.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect();
        // What is shared with others is not counted for each of them.
        Some(numbers.get(1)?.saturating_sub(*numbers.get(2)?) * page)
    };
    let total: u64 = others.iter().filter_map(resident).sum();
    (total > limits.memory_bytes)
        .then(|| format!("it used more than {} MiB of memory", limits.memory_bytes >> 20))
}

/// Where it cannot be said, the signal says it.
fn say_ended(why: &str) {
    let _ =
        writeln!(io::stderr(), "\nattache: the command was ended: {why} (see [confinement] in the settings)");
}
