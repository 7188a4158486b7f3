//! What goes on in the server while a confined command runs, and what is checked once it has ended.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use attache_tool::Guard;
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, openat, readlinkat, renameat_with, statat};

use crate::egress::Egress;
use crate::protected::Watched;

#[derive(Debug)]
pub(crate) struct CommandGuard {
    watched: Vec<Watched>,
    egress: Option<Egress>,
    checked: AtomicBool,
}

impl CommandGuard {
    pub(crate) fn new(watched: Vec<Watched>, egress: Option<Egress>) -> Self {
        Self { watched, egress, checked: AtomicBool::new(false) }
    }

    /// Puts aside what was written against the rules; once, after the command has ended.
    fn check(&self) -> Vec<String> {
        if self.checked.swap(true, Ordering::Relaxed) {
            return Vec::new();
        }
        self.watched.iter().filter_map(put_aside).collect()
    }
}

impl Guard for CommandGuard {
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
    }
}

/// Renames what the command has put where a protected path was missing or a link; says so.
fn put_aside(watched: &Watched) -> Option<String> {
    let Watched { root, path, target } = watched;
    let below = path.strip_prefix(root).ok()?;
    let name = below.file_name()?;
    // Through no link: the folder in between may have been made by the command, too.
    let folder = open_below(root, below.parent()?).ok()?;
    statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let now = readlinkat(&folder, name, Vec::new()).ok();
    let as_before = target.as_ref().is_some_and(|target| {
        now.as_ref().is_some_and(|now| now.as_bytes() == target.as_os_str().as_encoded_bytes())
    });
    if as_before {
        return None;
    }
    for number in 1..=1_000 {
        let aside = format!("{}.blocked-{number}", name.to_string_lossy());
        match renameat_with(&folder, name, &folder, &aside, RenameFlags::NOREPLACE) {
            Ok(()) => {
                return Some(format!(
                    "it wrote {}, which is protected; what it wrote is in {aside}",
                    below.display()
                ));
            }
            Err(rustix::io::Errno::EXIST) => {}
            Err(error) => {
                return Some(format!("it wrote {}, which is protected, and {error}", below.display()));
            }
        }
    }
    None
}

fn open_below(root: &Path, below: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut folder = OwnedFd::from(fs::File::open(root)?);
    for name in below.components() {
        folder = openat(&folder, name.as_os_str(), flags, Mode::empty())?;
    }
    Ok(folder)
}
