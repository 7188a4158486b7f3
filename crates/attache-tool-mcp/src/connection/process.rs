//! A started program with all its child processes.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use attache_domain::IgnorePoison;
use attache_net::Secret;
use attache_tool::{
    Access, AccessLevel, ConfinementGuard, IgnoreSources, Launch, MARK_VARIABLE, ProgramInput, Workspace,
};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process_group, test_kill_process_group, waitid,
};
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use super::redact::redact;
use crate::ConnectContext;
use crate::error::ConnectError;
use crate::visible::in_lines;

/// The time for a program to end after its input was closed, and again after SIGTERM.
const EXIT_TIMEOUT: Duration = Duration::from_millis(300);
/// The interval of checks whether it has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// The time for child processes of the program to end after SIGKILL.
const GROUP_EXIT_TIMEOUT: Duration = Duration::from_millis(200);
/// The bytes of standard error that are kept, from its end.
const MAX_STDERR_BYTES: usize = 2_000;

pub(super) struct Process {
    /// None after the program was reaped: only until then is its process id valid.
    child: Mutex<Option<Child>>,
    group: Pid,
    stderr: Arc<Mutex<Vec<u8>>>,
    secrets: Vec<Secret>,
    _listening: JoinSet<()>,
    /// Dropped when the program has ended.
    _guard: Option<Arc<dyn ConfinementGuard>>,
}

/// The program to start.
pub(super) struct Program<'a> {
    pub(super) command: &'a str,
    pub(super) args: &'a [String],
    pub(super) env: &'a [(String, Secret)],
    pub(super) directory: Option<&'a Path>,
    pub(super) access: &'a Access,
}

/// How to start the program within its confinement.
fn launch(program: &Program<'_>, directory: &Path, context: &ConnectContext) -> io::Result<Launch> {
    let scratch = context.confinement.as_ref().map(|confinement| confinement.scratch.clone());
    let workspace = Workspace {
        roots: vec![directory.to_owned()],
        scratch: scratch.unwrap_or_default(),
        environment: context.environment.clone(),
        ignore: IgnoreSources::default(),
    };
    let started = attache_tool::ConfinedProgram {
        name: program.command,
        arguments: program.args.to_vec(),
        workspace: &workspace,
        access: program.access,
        input: ProgramInput::Inherited,
    };
    let confinement = context.confinement.as_ref();
    if program.access.level == AccessLevel::Open {
        return match confinement {
            Some(confinement) => confinement.confiner.supervise(started),
            None => Ok(Launch::plain(started)),
        };
    }
    let confiner = confinement.filter(|it| it.confiner.confinement().holds(program.access.level));
    let confiner =
        confiner.ok_or_else(|| io::Error::other("it is to be confined, which this system cannot do"))?;
    std::fs::create_dir_all(&workspace.scratch)?;
    confiner.confiner.confine(started)
}

impl Process {
    pub(super) fn start(
        program: &Program<'_>,
        context: &ConnectContext,
    ) -> Result<(Self, ChildStdin, ChildStdout), ConnectError> {
        let failed = |why: String| ConnectError::Start { program: program.command.to_owned(), why };
        if program.command.trim().is_empty() {
            return Err(ConnectError::Settings("`command` is empty; name the program to start".into()));
        }
        let directory = context.directory.join(program.directory.unwrap_or(Path::new("")));
        let launch = launch(program, &directory, context).map_err(|error| failed(error.to_string()))?;
        if launch.supervised && is_missing(program, &directory, context) {
            return Err(failed(why(&io::ErrorKind::NotFound.into(), &directory)));
        }
        let mut command = Command::new(&launch.program);
        command
            .args(&launch.arguments)
            .env_clear()
            .envs(context.environment.iter().map(|(name, value)| (name, value)))
            .envs(launch.environment.iter().map(|(name, value)| (name, value)))
            .envs(program.env.iter().map(|(name, value)| (name, value.expose())))
            .envs(context.mark.iter().map(|mark| (MARK_VARIABLE, mark)))
            .current_dir(&directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A process group of its own, so that the whole group can be signalled.
            .process_group(0)
            .kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| failed(why(&error, &directory)))?;
        let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let parts = (group, child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(group), Some(stdin), Some(stdout), Some(stderr)) = parts else {
            return Err(failed("it ended at once".into()));
        };
        let stderr_tail = Arc::new(Mutex::new(Vec::new()));
        let mut listening = JoinSet::new();
        listening.spawn(read_stderr(stderr, stderr_tail.clone()));
        let secrets = program.env.iter().map(|(_, value)| value.clone()).collect();
        let child = Mutex::new(Some(child));
        let process =
            Self { child, group, stderr: stderr_tail, secrets, _listening: listening, _guard: launch.guard };
        Ok((process, stdin, stdout))
    }

    /// The end of the program's standard error, without the secrets that it was given.
    pub(super) fn stderr_tail(&self) -> String {
        let bytes = self.stderr.lock().ignore_poison().clone();
        let text = redact(&String::from_utf8_lossy(&bytes), &self.secrets);
        in_lines(text.trim())
    }

    /// Waits briefly for the program to end by itself, then ends its whole group.
    pub(super) async fn stop(&self) {
        self.wait_a_moment().await;
        self.signal(Signal::TERM);
        self.wait_a_moment().await;
        self.signal(Signal::KILL);
        let child = self.child.lock().ignore_poison().take();
        if let Some(mut child) = child {
            let _ = timeout(EXIT_TIMEOUT, child.wait()).await;
        }
        // Child processes end a moment later; a zombie stays in the group.
        let until = Instant::now() + GROUP_EXIT_TIMEOUT;
        while test_kill_process_group(self.group).is_ok() && Instant::now() < until {
            sleep(POLL_INTERVAL).await;
        }
    }

    /// Kills the whole group immediately.
    pub(super) fn kill(&self) {
        self.signal(Signal::KILL);
        // After the drop, the runtime reaps it.
        self.child.lock().ignore_poison().take();
    }

    async fn wait_a_moment(&self) {
        let until = Instant::now() + EXIT_TIMEOUT;
        while !self.has_ended() && Instant::now() < until {
            sleep(POLL_INTERVAL).await;
        }
    }

    /// Checks without reaping it: until it is reaped, its id is not reused.
    fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        !matches!(waitid(WaitId::Pid(self.group), options), Ok(None))
    }

    fn signal(&self, signal: Signal) {
        if self.child.lock().ignore_poison().is_some() {
            // Fails only if no process is left.
            let _ = kill_process_group(self.group, signal);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Whether the program does not exist. The watcher process would report that later.
fn is_missing(program: &Program<'_>, directory: &Path, context: &ConnectContext) -> bool {
    if program.command.contains('/') {
        return !directory.join(program.command).exists();
    }
    let own = program.env.iter().rfind(|(name, _)| name == "PATH").map(|(_, value)| value.expose());
    let given =
        || context.environment.iter().rfind(|(name, _)| name == "PATH").map(|(_, value)| value.as_str());
    let Some(path) = own.or_else(given) else { return false };
    !path.split(':').any(|folder| directory.join(folder).join(program.command).exists())
}

fn why(error: &io::Error, directory: &Path) -> String {
    match error.kind() {
        io::ErrorKind::NotFound if !directory.is_dir() => {
            format!("there is no folder {}", directory.display())
        }
        io::ErrorKind::NotFound => "there is no such program; install it, or give its whole path".into(),
        _ => error.to_string(),
    }
}

/// Reads until the end, so that the program never blocks, and keeps the last bytes.
async fn read_stderr(mut stderr: ChildStderr, stderr_tail: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
        let mut kept = stderr_tail.lock().ignore_poison();
        kept.extend_from_slice(&buffer[..count]);
        let excess = kept.len().saturating_sub(MAX_STDERR_BYTES);
        kept.drain(..excess);
    }
}
