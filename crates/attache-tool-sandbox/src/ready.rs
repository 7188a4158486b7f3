//! Keeps one copy of the program that waits for the next command.
//!
//! The copy has made its namespaces and the part of the file tree that all commands share. It receives a command once,
//! runs it and ends with it; a copy is never used twice. It has an empty environment and ends when the server closes
//! its socket. The first copy starts after the first command, so a server without commands has none.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use attache_domain::IgnorePoison;
use attache_tool::{FileStamp, Launch, ReadyProcess, ReadyStart};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use crate::confinement_plan::{ChildRequest, ReadyCommand};
use crate::enter::NO_ARENA;
use crate::{ENTER, handles};

/// A longer message could block the server. Its command gets a copy of its own.
const MAX_MESSAGE_BYTES: usize = 64 * 1024;
/// A copy without a command ends after this time, because it keeps unmounted file systems busy.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(crate) struct ReadyCopies {
    program: PathBuf,
    /// Read-only paths that every command sees.
    reads: Vec<PathBuf>,
    waiting: Mutex<Option<ReadyCopy>>,
}

impl ReadyCopies {
    pub(crate) fn new(program: PathBuf, reads: Vec<PathBuf>) -> Self {
        Self { program, reads, waiting: Mutex::default() }
    }

    /// The waiting copy, if its file tree is still that of the server.
    pub(crate) fn take(&self) -> Option<ReadyCopy> {
        let copy = self.lock().take()?;
        (copy.stamps == self.stamps() && copy.has_all_mounts()).then_some(copy)
    }

    fn stamps(&self) -> Vec<Option<FileStamp>> {
        self.reads.iter().map(|path| Some(FileStamp::of(&path.symlink_metadata().ok()?))).collect()
    }

    /// Starts a copy for the next command unless one is waiting.
    pub(crate) fn refill(self: &Arc<Self>) {
        let mut waiting = self.lock();
        if waiting.is_some() || Handle::try_current().is_err() {
            return;
        }
        match ReadyCopy::start(self) {
            Ok(copy) => *waiting = Some(copy),
            Err(error) => tracing::debug!(%error, "no copy of the program could be started ahead"),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<ReadyCopy>> {
        self.waiting.lock().ignore_poison()
    }
}

#[derive(Debug)]
pub(crate) struct ReadyCopy {
    child: Child,
    socket: UnixStream,
    /// The server's list of mounts; the kernel signals a change since it was opened.
    mounts: File,
    /// Of the paths that every command sees. Some are copied.
    stamps: Vec<Option<FileStamp>>,
    _expiry: JoinSet<()>,
}

/// Drops the waiting copy after [`IDLE_TIMEOUT`].
fn expiry(copies: &Arc<ReadyCopies>) -> JoinSet<()> {
    let copies = Arc::downgrade(copies);
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        tokio::time::sleep(IDLE_TIMEOUT).await;
        drop(copies.upgrade().map(|copies| copies.lock().take()));
    });
    tasks
}

impl ReadyCopy {
    fn start(copies: &Arc<ReadyCopies>) -> io::Result<Self> {
        // First: what changes while the copy starts counts as a change.
        let mounts = File::open("/proc/self/mountinfo")?;
        let stamps = copies.stamps();
        let (socket, theirs) = UnixStream::pair()?;
        let server = i32::try_from(std::process::id()).map_err(io::Error::other)?;
        let request = ChildRequest::Wait { server, reads: copies.reads.clone() };
        let (name, value) = NO_ARENA;
        let child = Command::new(&copies.program)
            .args([ENTER, &serde_json::to_string(&request)?])
            .current_dir("/")
            .env_clear()
            .env(name, value)
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self { child, socket, mounts, stamps, _expiry: expiry(copies) })
    }

    /// False after a mount or unmount in the server's file tree, which the copy does not see.
    fn has_all_mounts(&self) -> bool {
        let mut handles = [PollFd::new(&self.mounts, PollFlags::PRI)];
        let polled = poll(&mut handles, Some(&Timespec::default()));
        polled.is_ok() && !handles[0].revents().intersects(PollFlags::PRI | PollFlags::ERR)
    }
}

impl ReadyProcess for ReadyCopy {
    fn run(self: Box<Self>, launch: &Launch, start: ReadyStart<'_>) -> io::Result<Child> {
        let run = self.send(launch, start);
        run.inspect_err(|error| tracing::debug!(%error, "a waiting copy of the program cannot run a command"))
    }
}

impl ReadyCopy {
    fn send(mut self, launch: &Launch, start: ReadyStart<'_>) -> io::Result<Child> {
        let message = serde_json::to_vec(&command(launch, &start)?)?;
        if message.len() > MAX_MESSAGE_BYTES {
            return Err(io::Error::other("the command is too long for a waiting copy"));
        }
        if let Some(status) = self.child.try_wait()? {
            return Err(io::Error::other(format!("the waiting copy has ended ({status})")));
        }
        self.socket.set_nonblocking(true)?;
        let nothing = File::open("/dev/null")?;
        let input = launch.input.as_ref().map_or(nothing.as_fd(), OwnedFd::as_fd);
        for handle in [input, start.output] {
            handles::send(&self.socket, handle)?;
        }
        let length = u32::try_from(message.len()).map_err(io::Error::other)?;
        self.socket.write_all(&length.to_ne_bytes())?;
        self.socket.write_all(&message)?;
        Ok(self.child)
    }
}

fn command(launch: &Launch, start: &ReadyStart<'_>) -> io::Result<ReadyCommand> {
    let not_text = || io::Error::other("the command is not text");
    let arguments = launch.arguments.iter().skip(1).map(|argument| argument.to_str().map(str::to_owned));
    let mut arguments = arguments.collect::<Option<Vec<String>>>().ok_or_else(not_text)?.into_iter();
    let directory = start.directory.canonicalize()?;
    let metadata = directory.metadata()?;
    Ok(ReadyCommand {
        request: arguments.next().ok_or_else(not_text)?,
        program: arguments.next().ok_or_else(not_text)?,
        arguments: arguments.collect(),
        environment: start.environment.iter().chain(&launch.environment).cloned().collect(),
        directory,
        identity: (metadata.dev(), metadata.ino()),
        terminal: start.terminal,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// The copies end at once, which only a command would notice.
    fn copies(reads: Vec<PathBuf>) -> Arc<ReadyCopies> {
        let copies = Arc::new(ReadyCopies::new("/bin/true".into(), reads));
        copies.refill();
        copies
    }

    #[tokio::test]
    async fn a_copy_is_not_used_after_a_shared_file_has_changed() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_owned();
        assert!(copies(vec![path.clone()]).take().is_some());

        let changed = copies(vec![path.clone()]);
        fs::write(&path, "more").unwrap();
        assert!(changed.take().is_none());

        let removed = copies(vec![path.clone()]);
        fs::remove_file(&path).unwrap();
        assert!(removed.take().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_copy_without_a_command_ends_after_a_minute() {
        let (early, late) = (copies(Vec::new()), copies(Vec::new()));
        // Lets the timers start.
        tokio::task::yield_now().await;
        tokio::time::sleep(IDLE_TIMEOUT - Duration::from_secs(1)).await;
        assert!(early.take().is_some());
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert!(late.take().is_none());
    }

    #[tokio::test]
    async fn a_copy_is_used_once() {
        let copies = copies(Vec::new());
        assert!(copies.take().is_some());
        assert!(copies.take().is_none());
    }
}
