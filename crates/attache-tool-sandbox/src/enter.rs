//! The confined side: what the copy of the program does before it becomes, or starts, the command.
//!
//! Every step that fails ends it: the command never starts with more than it was given.

mod calls;
mod capabilities;
mod files;
mod loopback;
mod namespaces;
mod outlet;
mod processes;
mod resources;
mod root;
mod supervise;
mod usage;
mod watcher;

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use attache_tool::Level;

use crate::Limits;
use crate::plan::{Network, Order, Plan, Walls};
use crate::probe;
use supervise::Prepared;

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
        return refuse("the plan is not understood");
    };
    // On a terminal this process leads the session already; one that leads a group stays in its session.
    let _ = rustix::process::setsid();
    let mut command = Command::new(program);
    command.args(arguments);
    let (done, refuse): (_, fn(&str) -> ExitCode) = match order {
        Order::Confine(plan) if plan.walls == Walls::None => (confine(&plan, command), not_started),
        Order::Confine(plan) => (confine(&plan, command), refuse),
        Order::Supervise { server, limits, input } => {
            (supervise_only(server, limits, with_input(input, command)), not_started)
        }
    };
    match done {
        Ok(code) => code,
        Err(Step { what, error }) => refuse(&format!("{what}: {error}")),
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
struct Step {
    what: String,
    error: io::Error,
}

/// Names the step that an error belongs to.
trait During<T> {
    fn during(self, what: impl Into<String>) -> Result<T, Step>;
}

impl<T, E: Into<io::Error>> During<T> for Result<T, E> {
    fn during(self, what: impl Into<String>) -> Result<T, Step> {
        self.map_err(|error| Step { what: what.into(), error: error.into() })
    }
}

fn confine(plan: &Plan, command: Command) -> Result<ExitCode, Step> {
    let server = supervise::watch_server(plan.server).during("finding the server")?;
    match plan.walls {
        Walls::Namespaces => namespaced(plan, command, server.handle),
        Walls::None => limited(server, plan.limits, with_input(plan.input, command)),
        Walls::Landlock => watcher::watched(server, plan.limits, || {
            restrict(plan)?;
            Ok(match probed(plan) {
                Some(code) => watcher::Prepared::Ended(code),
                None => watcher::Prepared::Run(Box::new(with_input(plan.input, command))),
            })
        }),
    }
}

/// Runs the command unconfined, within its limits; it ends with the server.
fn supervise_only(server: i32, limits: Limits, command: Command) -> Result<ExitCode, Step> {
    let server = supervise::watch_server(server).during("finding the server")?;
    limited(server, limits, command)
}

fn limited(server: supervise::Server, limits: Limits, command: Command) -> Result<ExitCode, Step> {
    watcher::watched(server, limits, || {
        resources::limit(limits, Walls::None).during("setting limits")?;
        Ok(watcher::Prepared::Run(Box::new(command)))
    })
}

fn namespaced(plan: &Plan, command: Command, server: std::os::fd::OwnedFd) -> Result<ExitCode, Step> {
    let folder = Folder::current()?;
    namespaces::create().during("making namespaces")?;
    let (ours, theirs) = UnixStream::pair().during("making a socket")?;
    let process = namespaces::Process::this().during("finding this process")?;
    let beside = move || process.hand_out_network(&ours).during("making a network namespace");
    supervise::in_child(beside, move || {
        root::build(plan)?;
        folder.enter()?;
        namespaces::enter_network(&theirs).during("entering the network namespace")?;
        // Tests and tools that talk to themselves change something; what only looks has no use for it.
        if plan.level > Level::Look {
            loopback::bring_up().during("bringing up the loopback device")?;
        }
        if plan.network == Network::Proxy {
            loopback::hand_out_listener().during("handing out the proxy's socket")?;
        }
        restrict(plan)?;
        Ok(match probed(plan) {
            Some(code) => Prepared::Ended(code),
            None => Prepared::Run(Box::new(with_input(plan.input, command)), plan.limits, server),
        })
    })
}

/// What is taken away by calls about the process itself; children inherit it.
fn restrict(plan: &Plan) -> Result<(), Step> {
    resources::limit(plan.limits, plan.walls).during("setting limits")?;
    if plan.walls == Walls::Namespaces {
        capabilities::forbid_user_namespaces().during("closing user namespaces")?;
        capabilities::drop_all().during("dropping capabilities")?;
    }
    rustix::thread::set_no_new_privs(true).during("giving up privileges")?;
    files::restrict(plan)?;
    calls::restrict(plan)?;
    Ok(())
}

/// Whether the file that is to be tried can be read, where that is all there is to do.
fn probed(plan: &Plan) -> Option<ExitCode> {
    let readable = std::fs::File::open(plan.probe.as_ref()?).is_ok();
    Some(ExitCode::from(if readable { probe::NOT_HELD } else { probe::HELD }))
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
struct Folder {
    path: PathBuf,
    identity: (u64, u64),
}

impl Folder {
    fn current() -> Result<Self, Step> {
        let path = rustix::process::getcwd(Vec::new()).during("finding the folder")?;
        let path = PathBuf::from(OsString::from_vec(path.into_bytes()));
        let identity = identity(&path).during("finding the folder")?;
        Ok(Self { path, identity })
    }

    /// Goes to the same folder in the new file tree.
    fn enter(&self) -> Result<(), Step> {
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

fn refuse(why: &str) -> ExitCode {
    say_not_started(&format!(", for it could not be confined: {why}"))
}

fn not_started(why: &str) -> ExitCode {
    say_not_started(&format!(": {why}"))
}

fn say_not_started(why: &str) -> ExitCode {
    // Where it cannot be said, the exit code says it.
    let _ = writeln!(io::stderr(), "attache: the command was not started{why}");
    ExitCode::from(NOT_STARTED)
}
