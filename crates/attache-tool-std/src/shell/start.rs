//! Starts a command in a session of its own, on a terminal or on a pipe.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use attache_tool::{Access, ConfinedProgram, ConfinementGuard, Confiner, Launch, ProgramInput, Workspace};
use pty_process::{Pts, Pty, Size};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};

use super::environment::environment;
use super::process_mark::ProcessMark;
use super::process_tree::{KillOnDrop, ProcessTree};

const ROWS: u16 = 30;
const COLUMNS: u16 = 80;
/// No start-up files: the command means the same on every machine.
pub(super) const SHELL: &str = "bash";
pub(super) const SHELL_OPTIONS: [&str; 3] = ["--noprofile", "--norc", "-c"];

/// A command that was started. Dropping it ends all of its processes.
#[derive(Debug)]
pub(super) struct RunningCommand {
    pub(super) child: Child,
    pub(super) output: OutputSource,
    pub(super) leash: KillOnDrop,
    /// What it may reach.
    pub(super) access: Access,
    /// Serves the confinement while the command runs.
    pub(super) guard: Option<Arc<dyn ConfinementGuard>>,
}

/// Where the command writes, errors and all, in the order in which it does.
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
    /// Waits for more; nothing means that nobody is left who could write.
    pub(super) async fn read(&mut self, buffer: &mut [u8]) -> usize {
        let read = match self {
            Self::Terminal(terminal) => terminal.0.read(buffer).await,
            Self::Pipe(pipe) => pipe.read(buffer).await,
        };
        // A terminal that nobody has open any more says so with an error.
        read.unwrap_or(0)
    }
}

/// Who starts a command, and how far it may reach.
#[derive(Clone, Copy)]
pub(super) struct Launcher<'a> {
    pub(super) confiner: &'a dyn Confiner,
    pub(super) access: &'a Access,
    pub(super) workspace: &'a Workspace,
}

impl Launcher<'_> {
    /// How to run `command` with the shell.
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

/// Nobody types: what reads its input finds it at its end, on a terminal too.
pub(super) fn start(
    command: &str,
    directory: &Path,
    launcher: Launcher<'_>,
    terminal: bool,
    mark: ProcessMark,
) -> io::Result<RunningCommand> {
    // There may be no terminal to be had; whatever else was wrong shows again.
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

/// All that a process is started with.
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

fn on_terminal(prepared: StartRequest<'_>, (pty, pts): (Pty, Pts)) -> io::Result<(Child, OutputSource)> {
    let StartRequest { launch, directory, environment } = prepared;
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
    let StartRequest { launch, directory, environment } = prepared;
    let (reader, writer) = io::pipe()?;
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
    // The standard library cannot start a session yet; where this program is missing a group has to do.
    let in_session = prepare("setsid".as_ref())?.arg(&launch.program).args(&launch.arguments).spawn();
    let child = match in_session {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            prepare(launch.program.as_os_str())?.args(&launch.arguments).process_group(0).spawn()?
        }
        other => other?,
    };
    Ok((child, OutputSource::Pipe(pipe::Receiver::from_owned_fd(reader.into())?)))
}
