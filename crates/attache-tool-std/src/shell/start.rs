//! Starts a command in a session of its own, on a terminal or on a pipe.

use std::io;
use std::path::Path;
use std::process::Stdio;

use attache_tool::Workspace;
use pty_process::{Pty, Size};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};

use super::environment::environment;
use super::mark::Mark;
use super::tree::{Leash, Tree};

const ROWS: u16 = 30;
const COLUMNS: u16 = 80;
/// No start-up files: the command means the same on every machine.
pub(super) const SHELL: &str = "bash";
pub(super) const SHELL_OPTIONS: [&str; 3] = ["--noprofile", "--norc", "-c"];

/// A command that was started. Dropping it ends all of its processes.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) child: Child,
    pub(super) output: Output,
    pub(super) leash: Leash,
}

/// Where the command writes, errors and all, in the order in which it does.
#[derive(Debug)]
pub(super) enum Output {
    Terminal(TerminalEnd),
    Pipe(pipe::Receiver),
}

pub(super) struct TerminalEnd(Pty);

impl std::fmt::Debug for TerminalEnd {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("TerminalEnd")
    }
}

impl Output {
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

/// Nobody types: what reads its input finds it at its end, on a terminal too.
pub(super) fn start(
    command: &str,
    directory: &Path,
    workspace: &Workspace,
    terminal: bool,
) -> io::Result<Started> {
    let mark = Mark::new();
    let on_terminal = terminal.then(|| on_terminal(command, directory, workspace, &mark));
    let (child, output) = match on_terminal {
        Some(Ok(started)) => started,
        // There may be no terminal to be had; whatever else was wrong shows again.
        Some(Err(_)) | None => on_pipe(command, directory, workspace, &mark)?,
    };
    let leader = child.id().and_then(|pid| i32::try_from(pid).ok());
    let leader = leader.ok_or_else(|| io::Error::other("the shell ended before it was looked at"))?;
    Ok(Started { child, output, leash: Leash::new(Tree::new(mark, leader)) })
}

fn on_terminal(
    command: &str,
    directory: &Path,
    workspace: &Workspace,
    mark: &Mark,
) -> Result<(Child, Output), pty_process::Error> {
    let (pty, pts) = pty_process::open()?;
    pty.resize(Size::new(ROWS, COLUMNS))?;
    let child = pty_process::Command::new(SHELL)
        .args(mark.arguments(command))
        .current_dir(directory)
        .env_clear()
        .envs(environment(workspace, true, &mark.id))
        .stdin(Stdio::null())
        .spawn(pts)?;
    Ok((child, Output::Terminal(TerminalEnd(pty))))
}

fn on_pipe(
    command: &str,
    directory: &Path,
    workspace: &Workspace,
    mark: &Mark,
) -> io::Result<(Child, Output)> {
    let arguments = mark.arguments(command);
    let (reader, writer) = io::pipe()?;
    let prepare = |program: &str| -> io::Result<Command> {
        let mut prepared = Command::new(program);
        prepared
            .current_dir(directory)
            .env_clear()
            .envs(environment(workspace, false, &mark.id))
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer.try_clone()?);
        Ok(prepared)
    };
    // The standard library cannot start a session yet; where this program is missing a group has to do.
    let in_session = prepare("setsid")?.arg(SHELL).args(&arguments).spawn();
    let child = match in_session {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            prepare(SHELL)?.args(&arguments).process_group(0).spawn()?
        }
        other => other?,
    };
    Ok((child, Output::Pipe(pipe::Receiver::from_owned_fd(reader.into())?)))
}
