//! Starts a command in its own session, on a terminal or a pipe.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use attache_tool::{
    Access, ConfinedProgram, ConfinementGuard, Confiner, Launch, ProgramInput, ReadyStart, Workspace,
};
use pty_process::{Pts, Pty, Size};
use rustix::fs::OFlags;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};

use super::environment::environment;
use super::process_mark::ProcessMark;
use super::process_tree::{KillOnDrop, ProcessTree};

const ROWS: u16 = 30;
const COLUMNS: u16 = 80;
/// Without start-up files, so that commands work the same on every machine.
pub(super) const SHELL: &str = "bash";
pub(super) const SHELL_OPTIONS: [&str; 3] = ["--noprofile", "--norc", "-c"];

/// A running command. Dropping it kills all its processes.
#[derive(Debug)]
pub(super) struct RunningCommand {
    pub(super) child: Child,
    pub(super) output: OutputSource,
    pub(super) leash: KillOnDrop,
    /// The access of the command.
    pub(super) access: Access,
    /// Serves the confinement while the command runs.
    pub(super) guard: Option<Arc<dyn ConfinementGuard>>,
}

/// Output and errors of the command, in the order in which they are written.
#[derive(Debug)]
pub(super) enum OutputSource {
    Terminal(TerminalEnd),
    Pipe(pipe::Receiver),
}

pub(super) struct TerminalEnd(Pty);

impl std::fmt::Debug for TerminalEnd {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("TerminalEnd")
    }
}

impl OutputSource {
    /// Waits for output. 0 means that no process can write any more.
    pub(super) async fn read(&mut self, buffer: &mut [u8]) -> usize {
        let read = match self {
            Self::Terminal(terminal) => terminal.0.read(buffer).await,
            Self::Pipe(pipe) => pipe.read(buffer).await,
        };
        // A terminal that no process has open returns an error.
        read.unwrap_or(0)
    }
}

/// What starts a command, and the command's access.
#[derive(Clone, Copy)]
pub(super) struct Launcher<'a> {
    pub(super) confiner: &'a dyn Confiner,
    pub(super) access: &'a Access,
    pub(super) workspace: &'a Workspace,
}

impl Launcher<'_> {
    /// The launch of the shell that runs `command`.
    fn launch(&self, command: &str, mark: &ProcessMark) -> io::Result<Launch> {
        let arguments = mark.arguments(command);
        let Self { confiner, access, workspace } = *self;
        confiner.confine(ConfinedProgram {
            name: SHELL,
            arguments,
            workspace,
            access,
            input: ProgramInput::Empty,
        })
    }
}

/// Starts a command. Its input is empty, on a terminal too.
pub(super) fn start(
    command: &str,
    directory: &Path,
    launcher: Launcher<'_>,
    terminal: bool,
    mark: ProcessMark,
) -> io::Result<RunningCommand> {
    // Without a terminal the command gets a pipe. Other errors occur again below.
    let pty = if terminal { open_terminal().ok() } else { None };
    let launch = launcher.launch(command, &mark)?;
    let guard = launch.guard.clone();
    let environment = environment(launcher.workspace, launcher.access.level, pty.is_some(), &mark.id);
    let prepared = StartRequest { launch, directory, environment };
    let (child, output) = match pty {
        Some(pty) => on_terminal(prepared, pty)?,
        None => on_pipe(prepared)?,
    };
    let leader = child.id().and_then(|pid| i32::try_from(pid).ok());
    let leader = leader.ok_or_else(|| io::Error::other("the shell ended before it was looked at"))?;
    Ok(RunningCommand {
        child,
        output,
        leash: KillOnDrop::new(ProcessTree::new(mark, leader)),
        access: launcher.access.clone(),
        guard,
    })
}

/// What a process is started with.
struct StartRequest<'a> {
    launch: Launch,
    directory: &'a Path,
    environment: Vec<(String, String)>,
}

fn open_terminal() -> Result<(Pty, Pts), pty_process::Error> {
    let (pty, pts) = pty_process::open()?;
    pty.resize(Size::new(ROWS, COLUMNS))?;
    Ok((pty, pts))
}

/// The end of a terminal that the command writes to.
fn terminal_of(pty: &Pty) -> io::Result<fs::File> {
    let name = rustix::pty::ptsname(pty, Vec::new())?;
    let flags = OFlags::NOCTTY.bits().cast_signed();
    fs::File::options().read(true).write(true).custom_flags(flags).open(OsStr::from_bytes(name.as_bytes()))
}

fn on_terminal(prepared: StartRequest<'_>, (pty, pts): (Pty, Pts)) -> io::Result<(Child, OutputSource)> {
    let StartRequest { mut launch, directory, environment } = prepared;
    if let Some(ready) = launch.ready.take() {
        let terminal = terminal_of(&pty)?;
        let start =
            ReadyStart { directory, environment: &environment, output: terminal.as_fd(), terminal: true };
        if let Ok(child) = ready.run(&launch, start) {
            return Ok((child, OutputSource::Terminal(TerminalEnd(pty))));
        }
    }
    let child = pty_process::Command::new(launch.program)
        .args(launch.arguments)
        .current_dir(directory)
        .env_clear()
        .envs(environment)
        .envs(launch.environment)
        .stdin(launch.input.map_or_else(Stdio::null, Stdio::from))
        .spawn(pts)
        .map_err(io::Error::other)?;
    Ok((child, OutputSource::Terminal(TerminalEnd(pty))))
}

fn on_pipe(prepared: StartRequest<'_>) -> io::Result<(Child, OutputSource)> {
    let StartRequest { mut launch, directory, environment } = prepared;
    let (reader, writer) = io::pipe()?;
    if let Some(ready) = launch.ready.take() {
        let start =
            ReadyStart { directory, environment: &environment, output: writer.as_fd(), terminal: false };
        if let Ok(child) = ready.run(&launch, start) {
            return Ok((child, OutputSource::Pipe(pipe::Receiver::from_owned_fd(reader.into())?)));
        }
    }
    let prepare = |program: &OsStr| -> io::Result<Command> {
        let mut command = Command::new(program);
        let input = launch.input.as_ref().map(OwnedFd::try_clone).transpose()?;
        command
            .current_dir(directory)
            .env_clear()
            .envs(environment.iter().cloned())
            .envs(launch.environment.iter().cloned())
            .stdin(input.map_or_else(Stdio::null, Stdio::from))
            .stdout(writer.try_clone()?)
            .stderr(writer.try_clone()?);
        Ok(command)
    };
    if launch.supervised {
        let child = prepare(launch.program.as_os_str())?.args(&launch.arguments).spawn()?;
        return Ok((child, OutputSource::Pipe(pipe::Receiver::from_owned_fd(reader.into())?)));
    }
    // The standard library cannot start a session. Without the program `setsid` the command gets a process group.
    let in_session = prepare("setsid".as_ref())?.arg(&launch.program).args(&launch.arguments).spawn();
    let child = match in_session {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            prepare(launch.program.as_os_str())?.args(&launch.arguments).process_group(0).spawn()?
        }
        other => other?,
    };
    Ok((child, OutputSource::Pipe(pipe::Receiver::from_owned_fd(reader.into())?)))
}
