//! Accompanies a confined command in the server: serves its network, and checks protected paths after its end.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use attache_tool::ConfinementGuard;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, openat, readlinkat, renameat_with, statat};
use rustix::io::Errno;
use uuid::Uuid;

use crate::egress::Egress;
use crate::protected::WatchedPath;
use crate::ready::ReadyCopies;

#[derive(Debug)]
pub(crate) struct CommandGuard {
    watched: Vec<WatchedPath>,
    egress: Option<Egress>,
    /// Refilled after the command has ended.
    ready: Option<Arc<ReadyCopies>>,
    checked: AtomicBool,
}

impl CommandGuard {
    pub(crate) fn new(
        watched: Vec<WatchedPath>,
        egress: Option<Egress>,
        ready: Option<Arc<ReadyCopies>>,
    ) -> Self {
        Self { watched, egress, ready, checked: AtomicBool::new(false) }
    }

    /// Renames protected paths that the command has created. Runs once, after the command has ended.
    fn check(&self) -> Vec<String> {
        if self.checked.swap(true, Ordering::Relaxed) {
            return Vec::new();
        }
        self.watched.iter().filter_map(quarantine).collect()
    }
}

impl ConfinementGuard for CommandGuard {
    fn blocked(&self) -> Vec<String> {
        let mut blocked = self.egress.as_ref().map(Egress::refused).unwrap_or_default();
        blocked.extend(self.check());
        blocked
    }
}

impl Drop for CommandGuard {
    fn drop(&mut self) {
        for what in self.check() {
            tracing::warn!(%what, "a confined command was stopped from doing this");
        }
        if let Some(ready) = &self.ready {
            ready.refill();
        }
    }
}

/// Renames a new file at a protected path that was missing or a link, and reports it.
fn quarantine(watched: &WatchedPath) -> Option<String> {
    let WatchedPath { root, path, target } = watched;
    let below = path.strip_prefix(root).ok()?;
    let (folder, name) = match find(root, below) {
        Ok(Some(found)) => found,
        Ok(None) => return None,
        Err(error) => return Some(format!("{} cannot be looked at: {error}", below.display())),
    };
    let now = readlinkat(&folder, &name, Vec::new()).ok();
    let as_before = target.as_ref().is_some_and(|target| {
        now.as_ref().is_some_and(|now| now.as_bytes() == target.as_os_str().as_encoded_bytes())
    });
    if as_before {
        return None;
    }
    let aside = format!("{}.blocked-{}", name.to_string_lossy(), Uuid::new_v4().simple());
    let done = renameat_with(&folder, &name, &folder, &aside, RenameFlags::NOREPLACE);
    Some(match done {
        Ok(()) => format!("it wrote {}, which is protected; what it wrote is in {aside}", below.display()),
        Err(error) => {
            format!("it wrote {}, which is protected, and it is still there: {error}", below.display())
        }
    })
}

/// The folder and name of the file at the path, or of a link on the way, which a command may have created too.
fn find(root: &Path, below: &Path) -> io::Result<Option<(OwnedFd, OsString)>> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut folder = OwnedFd::from(fs::File::open(root)?);
    let mut names = below.components().peekable();
    while let Some(name) = names.next() {
        let name = name.as_os_str();
        let status = match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(status) => status,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let is_link = FileType::from_raw_mode(status.st_mode) == FileType::Symlink;
        if is_link || names.peek().is_none() {
            return Ok(Some((folder, name.to_owned())));
        }
        folder = match openat(&folder, name, flags, Mode::empty()) {
            Ok(inner) => inner,
            // There is a file instead of a folder.
            Err(Errno::NOTDIR) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
    }
    Ok(None)
}
