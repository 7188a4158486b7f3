//! The confined side: a copy of the program that sets up the confinement and starts the command.
//!
//! If a step fails, the copy exits and the command does not start.

mod capabilities;
mod landlock_rules;
mod loopback;
mod namespaces;
mod processes;
mod ready;
mod resource_limits;
mod root;
mod seccomp_filter;
mod stderr_target;
mod supervise;
mod usage;
mod watcher;

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use attache_tool::AccessLevel;

use crate::CommandLimits;
use crate::confinement_plan::{ChildRequest, ConfinementPlan, Isolation, NetworkAccess};
use crate::probe;
use supervise::InnerAction;

/// The first argument that makes the program call [`enter`].
pub const ENTER: &str = "__confined";

/// Stops the allocator of the copy from reserving memory, which takes a quarter of a millisecond. The command does not
/// get this variable.
pub(crate) const NO_ARENA: (&str, &str) = ("MIMALLOC_ARENA_RESERVE", "0");

/// The exit code of a command that was not started.
const NOT_STARTED: u8 = 125;

/// Handles the request in the first argument for the command in the other arguments. Must be called before the process
/// starts a thread.
pub fn enter(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    close_inherited();
    let request = arguments.next().and_then(|text| serde_json::from_slice(text.as_encoded_bytes()).ok());
    let Some(request) = request else { return not_confined("the plan is not understood") };
    // Fails on a terminal, where this process leads the session already, and in a process group of its own.
    let _ = rustix::process::setsid();
    // A waiting copy has no command yet.
    let mut command = Command::new(arguments.next().unwrap_or_default());
    command.args(arguments);
    let (done, refuse): (_, fn(&str) -> ExitCode) = match request {
        ChildRequest::Confine(plan) if plan.isolation == Isolation::None => {
            (confine(*plan, command), not_started)
        }
        ChildRequest::Confine(plan) => (confine(*plan, command), not_confined),
        ChildRequest::Supervise { server, limits, input } => {
            (supervise_only(server, limits, with_input(input, command)), not_started)
        }
        ChildRequest::Wait { server, reads } => (ready::wait_for_command(server, &reads), not_confined),
    };
    match done {
        Ok(code) => code,
        Err(StepError { step: what, error }) => refuse(&format!("{what}: {error}")),
    }
}

/// Closes all inherited handles except the standard ones. This process has opened none yet.
fn close_inherited() {
    const FIRST: i32 = 3;
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return };
    let numbers: Vec<i32> =
        entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    for number in numbers.into_iter().filter(|number| *number >= FIRST) {
        // The handle of the list itself is closed already.
        let _ = nix::unistd::close(number);
    }
}

/// What failed, and how.
#[derive(Debug)]
struct StepError {
    step: String,
    error: io::Error,
}

/// Names the step that an error belongs to.
trait InStep<T> {
    fn in_step(self, what: impl Into<String>) -> Result<T, StepError>;
}

impl<T, E: Into<io::Error>> InStep<T> for Result<T, E> {
    fn in_step(self, what: impl Into<String>) -> Result<T, StepError> {
        self.map_err(|error| StepError { step: what.into(), error: error.into() })
    }
}

fn confine(plan: ConfinementPlan, command: Command) -> Result<ExitCode, StepError> {
    let server = supervise::watch_server(plan.server).in_step("finding the server")?;
    match plan.isolation {
        Isolation::Namespaces => {
            let folder = StartFolder::current()?;
            in_namespaces(server.handle, &[], || Ok(Some(ConfinedCommand { plan, command, folder })))
        }
        Isolation::None => limited(server, plan.limits, with_input(plan.input, command)),
        Isolation::Landlock => watcher::run_watched(server, plan.limits, || {
            restrict(&plan)?;
            Ok(match run_probe(&plan) {
                Some(code) => watcher::CommandAction::Ended(code),
                None => watcher::CommandAction::Run(Box::new(with_input(plan.input, command))),
            })
        }),
    }
}

/// Runs the command unconfined and within its limits. It ends with the server.
fn supervise_only(server: i32, limits: CommandLimits, command: Command) -> Result<ExitCode, StepError> {
    let server = supervise::watch_server(server).in_step("finding the server")?;
    limited(server, limits, command)
}

fn limited(
    server: supervise::ServerProcess,
    limits: CommandLimits,
    command: Command,
) -> Result<ExitCode, StepError> {
    watcher::run_watched(server, limits, || {
        resource_limits::set_limits(limits, Isolation::None).in_step("setting limits")?;
        Ok(watcher::CommandAction::Run(Box::new(command)))
    })
}

/// A command, and what confines it.
struct ConfinedCommand {
    plan: ConfinementPlan,
    command: Command,
    folder: StartFolder,
}

/// Sets up namespaces and a file tree with these read-only paths, and runs the job that `next` waits for. Ends if
/// `next` returns none.
fn in_namespaces(
    server: OwnedFd,
    reads: &[PathBuf],
    next: impl FnOnce() -> Result<Option<ConfinedCommand>, StepError>,
) -> Result<ExitCode, StepError> {
    namespaces::create().in_step("making namespaces")?;
    let (ours, theirs) = UnixStream::pair().in_step("making a socket")?;
    let process = namespaces::ProcessHandle::this().in_step("finding this process")?;
    let beside = move || process.send_network_namespace(&ours).in_step("making a network namespace");
    supervise::in_child(beside, move || {
        let tree = root::begin(reads);
        // First, because an error is printed to the output of the command.
        let Some(ConfinedCommand { plan, command, folder }) = next()? else {
            return Ok(InnerAction::Ended(ExitCode::from(NOT_STARTED)));
        };
        root::finish(tree?, &plan)?;
        folder.enter()?;
        namespaces::receive_network_namespace(&theirs).in_step("entering the network namespace")?;
        // Only tests and tools that work need a loopback device.
        if plan.level > AccessLevel::Look {
            loopback::bring_up().in_step("bringing up the loopback device")?;
        }
        if plan.network == NetworkAccess::Proxy {
            loopback::send_listener().in_step("handing out the proxy's socket")?;
        }
        restrict(&plan)?;
        Ok(match run_probe(&plan) {
            Some(code) => InnerAction::Ended(code),
            None => InnerAction::Run(Box::new(with_input(plan.input, command)), plan.limits, server),
        })
    })
}

/// Restricts this process. Children inherit the restrictions.
fn restrict(plan: &ConfinementPlan) -> Result<(), StepError> {
    resource_limits::set_limits(plan.limits, plan.isolation).in_step("setting limits")?;
    if plan.isolation == Isolation::Namespaces {
        capabilities::forbid_user_namespaces().in_step("closing user namespaces")?;
        capabilities::drop_all().in_step("dropping capabilities")?;
    }
    rustix::thread::set_no_new_privs(true).in_step("giving up privileges")?;
    landlock_rules::restrict(plan)?;
    seccomp_filter::restrict(plan)?;
    Ok(())
}

/// Tries to read the file that the plan names for a probe.
fn run_probe(plan: &ConfinementPlan) -> Option<ExitCode> {
    let readable = std::fs::File::open(plan.probe.as_ref()?).is_ok();
    Some(ExitCode::from(if readable { probe::NOT_CONFINED } else { probe::CONFINED }))
}

/// Gives the command an empty input, unless it is to have that of this process.
fn with_input(input: bool, mut command: Command) -> Command {
    if !input {
        command.stdin(Stdio::null());
    }
    command.env_remove(NO_ARENA.0);
    command
}

/// The folder that the command starts in.
struct StartFolder {
    path: PathBuf,
    identity: (u64, u64),
}

impl StartFolder {
    fn current() -> Result<Self, StepError> {
        let path = rustix::process::getcwd(Vec::new()).in_step("finding the folder")?;
        let path = PathBuf::from(OsString::from_vec(path.into_bytes()));
        let identity = identity(&path).in_step("finding the folder")?;
        Ok(Self { path, identity })
    }

    /// Goes to the same folder in the new file tree.
    fn enter(&self) -> Result<(), StepError> {
        rustix::process::chdir(&self.path).in_step(format!("entering {}", self.path.display()))?;
        let now = identity(&self.path).in_step("finding the folder again")?;
        if now == self.identity {
            return Ok(());
        }
        Err(io::Error::other("it is another folder now")).in_step(format!("entering {}", self.path.display()))
    }
}

fn identity(path: &std::path::Path) -> io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let metadata = std::fs::metadata(path)?;
    Ok((metadata.dev(), metadata.ino()))
}

fn not_confined(why: &str) -> ExitCode {
    print_not_started(&format!(", for it could not be confined: {why}"))
}

fn not_started(why: &str) -> ExitCode {
    print_not_started(&format!(": {why}"))
}

fn print_not_started(why: &str) -> ExitCode {
    // If this cannot be written, the exit code still tells.
    let _ = writeln!(io::stderr(), "attache: the command was not started{why}");
    ExitCode::from(NOT_STARTED)
}
