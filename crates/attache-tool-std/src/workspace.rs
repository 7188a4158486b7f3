//! Keeps tools below the roots of the workspace.
//!
//! A path is first normalised ([`locate`], without file access) and then opened below the handle of its root. The
//! kernel refuses links that lead out, so there is no gap between a check and the opening. For reading, relative links
//! inside the root are followed.

mod beneath;
mod failure;
mod replacement;

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use attache_tool::{ToolError, ToolErrorKind, Workspace};
use rustix::fs::{AtFlags, FileType, OFlags};
use rustix::io::Errno;

use beneath::LinkPolicy;
use failure::FileOperation;

/// A normalised path inside the workspace, unless a link leads out.
#[derive(Debug, Clone)]
pub(crate) struct WorkspacePath {
    root: PathBuf,
    /// Relative to the root, without `.` and `..`; empty for the root itself.
    below: PathBuf,
    /// All roots, for error messages.
    roots: Vec<PathBuf>,
    links: LinkPolicy,
    writable: bool,
}

/// Normalises `path`. Relative paths are below the first root, absolute paths must be inside a root or the scratch
/// folder. Does not access files.
pub(crate) fn locate(workspace: &Workspace, path: &str) -> Result<WorkspacePath, ToolError> {
    if path.is_empty() {
        return Err(ToolError::bad_input("the path is empty; name a file or folder of the workspace"));
    }
    if path.contains('\0') {
        return Err(ToolError::bad_input("the path contains a NUL character; leave it out"));
    }
    locate_path(workspace, Path::new(path), LinkPolicy::Followed)
}

/// Like [`locate`], for a resolved path. No part of it may be a link.
pub(crate) fn locate_resolved(workspace: &Workspace, path: &Path) -> Result<WorkspacePath, ToolError> {
    locate_path(workspace, path, LinkPolicy::Refused)
}

fn locate_path(workspace: &Workspace, path: &Path, links: LinkPolicy) -> Result<WorkspacePath, ToolError> {
    let outside = || failure::outside(path, &workspace.roots);
    let place = |root: &Path, below: PathBuf, writable| WorkspacePath {
        root: root.to_owned(),
        below,
        roots: workspace.roots.clone(),
        links,
        writable,
    };
    let words = normalise(path).ok_or_else(outside)?;
    if path.is_relative() {
        let root = workspace.roots.first().ok_or_else(outside)?;
        return Ok(place(root, words, true));
    }
    let words = Path::new("/").join(words);
    let below = |root: &Path| words.strip_prefix(root).ok().map(Path::to_owned);
    if let Some(found) = workspace.roots.iter().find_map(|root| Some(place(root, below(root)?, true))) {
        return Ok(found);
    }
    below(&workspace.scratch).map(|below| place(&workspace.scratch, below, false)).ok_or_else(outside)
}

/// The path without `.` and `..`; none if it leads above its start.
fn normalise(path: &Path) -> Option<PathBuf> {
    let mut words = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => words.push(name),
            Component::ParentDir if !words.pop() => return None,
            Component::ParentDir | Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    Some(words)
}

impl WorkspacePath {
    /// The absolute path with unresolved links, for messages.
    pub(crate) fn path(&self) -> PathBuf {
        self.root.join(&self.below)
    }

    /// The path relative to its root.
    pub(crate) fn name(&self) -> String {
        self.below.display().to_string()
    }

    /// Opens the file for reading. Refuses folders, pipes and devices.
    pub(crate) fn open_file(&self) -> Result<File, ToolError> {
        // Without NONBLOCK, opening a pipe would block.
        let handle = self.open(OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?;
        let status =
            rustix::fs::fstat(&handle).map_err(|errno| self.failure(errno, FileOperation::Reading))?;
        match FileType::from_raw_mode(status.st_mode) {
            FileType::RegularFile => Ok(File::from(handle)),
            FileType::Directory => Err(self.failure(Errno::ISDIR, FileOperation::Reading)),
            _ => Err(ToolError::new(
                ToolErrorKind::ReadContentFailure,
                format!(
                    "{} is a pipe, socket or device; only plain files can be read",
                    self.path().display()
                ),
            )),
        }
    }

    /// Opens the folder.
    pub(crate) fn open_directory(&self) -> Result<OwnedFd, ToolError> {
        self.open(OFlags::RDONLY | OFlags::DIRECTORY)
    }

    /// The real path of an existing file, which is inside the root.
    pub(crate) fn resolve(&self) -> Result<PathBuf, ToolError> {
        let handle = self.open(OFlags::PATH)?;
        self.real_path(&handle)
    }

    /// The real path for writing. The file and its folders need not exist.
    pub(crate) fn resolve_for_writing(&self) -> Result<PathBuf, ToolError> {
        self.check_writable()?;
        match self.resolve() {
            Ok(path) => Ok(path),
            Err(error) if error.kind == ToolErrorKind::FileNotFound => self.resolve_missing(),
            Err(error) => Err(error),
        }
    }

    /// Replaces the file atomically. `expected` is the digest that the file must have; none if it must not exist.
    /// Creates missing folders and keeps the mode.
    pub(crate) fn replace(&self, expected: Option<&str>, bytes: &[u8]) -> Result<(), ToolError> {
        self.check_writable()?;
        match self.links {
            LinkPolicy::Refused => replacement::replace(self, expected, bytes),
            LinkPolicy::Followed => {
                let resolved = self.resolve_for_writing()?;
                let below = resolved.strip_prefix(&self.root).unwrap_or(&self.below).to_owned();
                let exactly = Self { below, links: LinkPolicy::Refused, ..self.clone() };
                replacement::replace(&exactly, expected, bytes)
            }
        }
    }

    fn check_writable(&self) -> Result<(), ToolError> {
        if self.writable { Ok(()) } else { Err(failure::outside(&self.path(), &self.roots)) }
    }

    fn open(&self, flags: OFlags) -> Result<OwnedFd, ToolError> {
        self.open_root()
            .and_then(|root| beneath::open(&root, &self.below, flags, self.links))
            .map_err(|errno| self.failure(errno, FileOperation::Reading))
    }

    /// Creates the scratch folder at the first use.
    fn open_root(&self) -> Result<OwnedFd, Errno> {
        match beneath::open_root(&self.root) {
            Err(Errno::NOENT) if !self.writable && std::fs::create_dir_all(&self.root).is_ok() => {
                beneath::open_root(&self.root)
            }
            opened => opened,
        }
    }

    /// The real path of an opened handle.
    fn real_path(&self, handle: &impl AsFd) -> Result<PathBuf, ToolError> {
        let failure = |errno| self.failure(errno, FileOperation::Reading);
        let opened = rustix::fs::fstat(handle).map_err(failure)?;
        let named = self.handle_path(handle).and_then(|path| Ok((path.metadata()?, path)));
        let (metadata, path) =
            named.map_err(|error| failure(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
        // The path was read separately from the handle, so it must lead to the same file.
        if !path.starts_with(&self.root) || (metadata.dev(), metadata.ino()) != (opened.st_dev, opened.st_ino)
        {
            return Err(failure(Errno::XDEV));
        }
        // Proposals are stored as text.
        if path.to_str().is_none() { Err(failure::nameless(&path)) } else { Ok(path) }
    }

    /// From the kernel if possible, otherwise from the path itself.
    fn handle_path(&self, handle: &impl AsFd) -> std::io::Result<PathBuf> {
        match std::fs::read_link(format!("/proc/self/fd/{}", handle.as_fd().as_raw_fd())) {
            Ok(path) if path.is_absolute() => Ok(path),
            _ => std::fs::canonicalize(self.path()),
        }
    }

    fn resolve_missing(&self) -> Result<PathBuf, ToolError> {
        let failure = |errno| self.failure(errno, FileOperation::Writing);
        let mut missing: Vec<OsString> = Vec::new();
        let mut existing = self.clone();
        loop {
            let Some(name) = existing.below.file_name().map(OsString::from) else {
                return Err(self.failure(Errno::NOENT, FileOperation::Reading));
            };
            existing.below.pop();
            let root = beneath::open_root(&self.root).map_err(failure)?;
            match beneath::open(&root, &existing.below, OFlags::PATH | OFlags::DIRECTORY, self.links) {
                Ok(handle) => {
                    // A dangling link. Its target may appear later.
                    if rustix::fs::statat(&handle, &name, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
                        return Err(failure(Errno::LOOP));
                    }
                    let mut path = existing.real_path(&handle)?.join(name);
                    path.extend(missing.iter().rev());
                    return Ok(path);
                }
                Err(Errno::NOENT) => missing.push(name),
                Err(errno) => return Err(failure(errno)),
            }
        }
    }

    fn failure(&self, errno: Errno, doing: FileOperation) -> ToolError {
        if self.links == LinkPolicy::Refused && errno == Errno::LOOP {
            return failure::became_link(&self.path(), &self.roots);
        }
        failure::describe(errno, doing, &self.path(), &self.roots)
    }
}

#[cfg(test)]
mod tests;
