//! Opens paths below a folder's handle, so that no link can lead out of it.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

/// How to treat links on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkPolicy {
    /// Followed while they stay inside the root.
    Followed,
    Refused,
}

/// Opens a folder so that it can be synced.
pub(super) const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

pub(super) fn open_root(root: &Path) -> Result<OwnedFd, Errno> {
    rustix::fs::open(root, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// Opens the path `below` the root; an empty path is the root itself. Never creates files.
pub(super) fn open(root: &OwnedFd, below: &Path, flags: OFlags, links: LinkPolicy) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::CLOEXEC;
    match open_by_kernel(root, below, flags, links) {
        // Some sandboxes return EPERM for unknown calls.
        Err(Errno::NOSYS | Errno::PERM) => open_by_steps(root, below, flags),
        outcome => outcome,
    }
}

fn open_by_kernel(root: &OwnedFd, below: &Path, flags: OFlags, links: LinkPolicy) -> Result<OwnedFd, Errno> {
    /// Attempts while folders on the way are being moved.
    const ATTEMPTS: usize = 64;

    let links = match links {
        LinkPolicy::Followed => ResolveFlags::empty(),
        LinkPolicy::Refused => ResolveFlags::NO_SYMLINKS,
    };
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | links;
    let mut outcome = Err(Errno::AGAIN);
    for _ in 0..ATTEMPTS {
        outcome = rustix::fs::openat2(root, or_current_folder(below), flags, Mode::empty(), resolve);
        if !matches!(outcome, Err(Errno::AGAIN | Errno::INTR)) {
            break;
        }
    }
    outcome
}

/// Opens one folder after the other, for kernels without `openat2`. Follows no links.
pub(super) fn open_by_steps(root: &OwnedFd, below: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mut names = below.components().peekable();
    let mut folder = None;
    while let Some(component) = names.next() {
        let Component::Normal(name) = component else { return Err(Errno::XDEV) };
        let flags =
            if names.peek().is_some() { OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC } else { flags };
        folder = Some(open_name(folder.as_ref().unwrap_or(root), Path::new(name), flags)?);
    }
    match folder {
        Some(opened) => Ok(opened),
        None => rustix::fs::openat(root, ".", flags, Mode::empty()),
    }
}

/// Opens one name in a folder. A link is an error.
pub(super) fn open_name(folder: &impl AsFd, name: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let opened = rustix::fs::openat(folder, name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty());
    // The error for a link depends on the flags.
    let is_link = |status: Stat| FileType::from_raw_mode(status.st_mode) == FileType::Symlink;
    match opened {
        Ok(handle) if flags.contains(OFlags::PATH) && is_link(rustix::fs::fstat(&handle)?) => {
            Err(Errno::LOOP)
        }
        Err(Errno::NOTDIR) => {
            let status = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
            Err(if is_link(status) { Errno::LOOP } else { Errno::NOTDIR })
        }
        outcome => outcome,
    }
}

/// Opens the folder `below` the root and creates missing folders.
pub(super) fn open_or_make(root: &OwnedFd, below: &Path) -> Result<OwnedFd, Errno> {
    match open(root, below, FOLDER, LinkPolicy::Refused) {
        Err(Errno::NOENT) => {}
        outcome => return outcome,
    }
    let mut folder = open(root, Path::new(""), FOLDER, LinkPolicy::Refused)?;
    for component in below.components() {
        let Component::Normal(name) = component else { return Err(Errno::XDEV) };
        let name = Path::new(name);
        folder = match open_name(&folder, name, FOLDER) {
            Err(Errno::NOENT) => {
                match rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) => sync(&folder)?,
                    Err(Errno::EXIST) => {}
                    Err(errno) => return Err(errno),
                }
                open_name(&folder, name, FOLDER)?
            }
            outcome => outcome?,
        };
    }
    Ok(folder)
}

/// Syncs the entries of a folder.
pub(super) fn sync(folder: &OwnedFd) -> Result<(), Errno> {
    match rustix::fs::fsync(folder) {
        // Not every file system supports this for folders.
        Err(Errno::INVAL) => Ok(()),
        outcome => outcome,
    }
}

fn or_current_folder(below: &Path) -> &Path {
    if below.as_os_str().is_empty() { Path::new(".") } else { below }
}
