//! The copy of the program that waits for its command.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use rustix::process::{ioctl_tiocsctty, setsid};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout, stdin, stdout};

use super::{ConfinedCommand, InStep, StartFolder, StepError, in_namespaces, supervise};
use crate::confinement_plan::{ChildRequest, ReadyCommand};
use crate::handles;

/// Prepares everything that needs no command, then waits for one. Ends when the server does.
pub(super) fn wait_for_command(server: i32, reads: &[PathBuf]) -> Result<ExitCode, StepError> {
    let server = supervise::watch_server(server).in_step("finding the server")?;
    in_namespaces(server.handle, reads, receive)
}

/// None: the server has ended or discarded this copy.
fn receive() -> Result<Option<ConfinedCommand>, StepError> {
    let socket = stdin().try_clone_to_owned().in_step("finding the server's socket")?;
    let mut socket = UnixStream::from(socket);
    let Ok(input) = handles::receive(&socket) else { return Ok(None) };
    let received = (handles::receive(&socket).in_step("receiving the output"), read(&mut socket));
    let (Ok(output), Ok(command)) = received else { return Ok(None) };
    dup2_stdin(&input).in_step("taking the input")?;
    dup2_stdout(&output).in_step("taking the output")?;
    dup2_stderr(&output).in_step("taking the output")?;
    if command.terminal {
        // The process outside leads a session already, and only the leader of one can have a terminal.
        setsid().in_step("starting a session")?;
        ioctl_tiocsctty(stdout()).in_step("taking the terminal")?;
    }
    job(command).map(Some)
}

fn read(socket: &mut UnixStream) -> io::Result<ReadyCommand> {
    let mut length = [0; 4];
    socket.read_exact(&mut length)?;
    let mut message = vec![0; u32::from_ne_bytes(length) as usize];
    socket.read_exact(&mut message)?;
    Ok(serde_json::from_slice(&message)?)
}

fn job(ready: ReadyCommand) -> Result<ConfinedCommand, StepError> {
    let plan = match serde_json::from_str(&ready.request) {
        Ok(ChildRequest::Confine(plan)) => plan,
        _ => return Err(io::Error::from(io::ErrorKind::InvalidData)).in_step("reading the plan"),
    };
    let mut command = Command::new(ready.program);
    command.args(ready.arguments).env_clear().envs(ready.environment);
    let folder = StartFolder { path: ready.directory, identity: ready.identity };
    Ok(ConfinedCommand { plan: *plan, command, folder })
}
