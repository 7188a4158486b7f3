//! The confined side: what the copy of the program does before it becomes, or starts, the command.
//!
//! Every step that fails ends it: the command never starts with more than it was given.

mod capabilities;
mod landlock_rules;
mod loopback;
mod namespaces;
mod processes;
mod resource_limits;
mod root;
mod seccomp_filter;
mod stderr_target;
mod supervise;
mod usage;
mod watcher;

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use attache_tool::AccessLevel;

use crate::CommandLimits;
use crate::plan::{ChildRequest, Isolation, Network, Plan};
use crate::probe;
use supervise::InnerAction;

/// The first argument that makes the program call [`enter`].
pub const ENTER: &str = "__confined";

/// Tells the allocator of the copy to reserve nothing, which would take a quarter of a millisecond; the command does not
/// see it.
pub(crate) const NO_ARENA: (&str, &str) = ("MIMALLOC_ARENA_RESERVE", "0");

/// The exit code of a command that was not started.
const NOT_STARTED: u8 = 125;

/// Confines this process along the plan in the first argument and runs the rest as a command. Has to be called before
/// the process has started a thread.
pub fn enter(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    close_inherited();
    let order = arguments.next().and_then(|text| serde_json::from_slice(text.as_encoded_bytes()).ok());
    let (Some(order), Some(program)) = (order, arguments.next()) else {
        return not_confined("the plan is not understood");
    };
    // On a terminal this process leads the session already; one that leads a group stays in its session.
    let _ = rustix::process::setsid();
    let mut command = Command::new(program);
    command.args(arguments);
    let (done, refuse): (_, fn(&str) -> ExitCode) = match order {
        ChildRequest::Confine(plan) if plan.walls == Isolation::None => {
            (confine(&plan, command), not_started)
        }
        ChildRequest::Confine(plan) => (confine(&plan, command), not_confined),
        ChildRequest::Supervise { server, limits, input } => {
            (supervise_only(server, limits, with_input(input, command)), not_started)
        }
    };
    match done {
        Ok(code) => code,
        Err(StepError { step: what, error }) => refuse(&format!("{what}: {error}")),
    }
}

/// Closes all that the server has left open for its children, knowingly or not; nothing of this process is open yet.
fn close_inherited() {
    const FIRST: i32 = 3;
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return };
    let numbers: Vec<i32> =
        entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    for number in numbers.into_iter().filter(|number| *number >= FIRST) {
        // The one that listed them is closed already.
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
trait During<T> {
    fn during(self, what: impl Into<String>) -> Result<T, StepError>;
}

impl<T, E: Into<io::Error>> During<T> for Result<T, E> {
    fn during(self, what: impl Into<String>) -> Result<T, StepError> {
        self.map_err(|error| StepError { step: what.into(), error: error.into() })
    }
}

fn confine(plan: &Plan, command: Command) -> Result<ExitCode, StepError> {
    let server = supervise::watch_server(plan.server).during("finding the server")?;
    match plan.walls {
        Isolation::Namespaces => namespaced(plan, command, server.handle),
        Isolation::None => limited(server, plan.limits, with_input(plan.input, command)),
        Isolation::Landlock => watcher::run_watched(server, plan.limits, || {
            restrict(plan)?;
            Ok(match run_probe(plan) {
                Some(code) => watcher::CommandAction::Ended(code),
                None => watcher::CommandAction::Run(Box::new(with_input(plan.input, command))),
            })
        }),
    }
}

/// Runs the command unconfined, within its limits; it ends with the server.
fn supervise_only(server: i32, limits: CommandLimits, command: Command) -> Result<ExitCode, StepError> {
    let server = supervise::watch_server(server).during("finding the server")?;
    limited(server, limits, command)
}

fn limited(
    server: supervise::ServerHandle,
    limits: CommandLimits,
    command: Command,
) -> Result<ExitCode, StepError> {
    watcher::run_watched(server, limits, || {
        resource_limits::set_limits(limits, Isolation::None).during("setting limits")?;
        Ok(watcher::CommandAction::Run(Box::new(command)))
    })
}

fn namespaced(plan: &Plan, command: Command, server: std::os::fd::OwnedFd) -> Result<ExitCode, StepError> {
    let folder = StartFolder::current()?;
    namespaces::create().during("making namespaces")?;
    let (ours, theirs) = UnixStream::pair().during("making a socket")?;
    let process = namespaces::ProcessHandle::this().during("finding this process")?;
    let beside = move || process.send_network_namespace(&ours).during("making a network namespace");
    supervise::in_child(beside, move || {
        root::build(plan)?;
        folder.enter()?;
        namespaces::receive_network_namespace(&theirs).during("entering the network namespace")?;
        // Tests and tools that talk to themselves change something; what only looks has no use for it.
        if plan.level > AccessLevel::Look {
            loopback::bring_up().during("bringing up the loopback device")?;
        }
        if plan.network == Network::Proxy {
            loopback::send_listener().during("handing out the proxy's socket")?;
        }
        restrict(plan)?;
        Ok(match run_probe(plan) {
            Some(code) => InnerAction::Ended(code),
            None => InnerAction::Run(Box::new(with_input(plan.input, command)), plan.limits, server),
        })
    })
}

/// What is taken away by calls about the process itself; children inherit it.
fn restrict(plan: &Plan) -> Result<(), StepError> {
    resource_limits::set_limits(plan.limits, plan.walls).during("setting limits")?;
    if plan.walls == Isolation::Namespaces {
        capabilities::forbid_user_namespaces().during("closing user namespaces")?;
        capabilities::drop_all().during("dropping capabilities")?;
    }
    rustix::thread::set_no_new_privs(true).during("giving up privileges")?;
    landlock_rules::restrict(plan)?;
    seccomp_filter::restrict(plan)?;
    Ok(())
}

/// Whether the file that is to be tried can be read, where that is all there is to do.
fn run_probe(plan: &Plan) -> Option<ExitCode> {
    let readable = std::fs::File::open(plan.probe.as_ref()?).is_ok();
    Some(ExitCode::from(if readable { probe::NOT_CONFINED } else { probe::CONFINED }))
}

/// Its own input is the way to the server, unless the command is to have it.
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
        let path = rustix::process::getcwd(Vec::new()).during("finding the folder")?;
        let path = PathBuf::from(OsString::from_vec(path.into_bytes()));
        let identity = identity(&path).during("finding the folder")?;
        Ok(Self { path, identity })
    }

    /// Goes to the same folder in the new file tree.
    fn enter(&self) -> Result<(), StepError> {
        rustix::process::chdir(&self.path).during(format!("entering {}", self.path.display()))?;
        let now = identity(&self.path).during("finding the folder again")?;
        if now == self.identity {
            return Ok(());
        }
        Err(io::Error::other("it is another folder now")).during(format!("entering {}", self.path.display()))
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
    // Where it cannot be said, the exit code says it.
    let _ = writeln!(io::stderr(), "attache: the command was not started{why}");
    ExitCode::from(NOT_STARTED)
}
