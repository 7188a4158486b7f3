//! Replaces a file atomically: readers see the old or the new bytes, also after a crash.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use attache_domain::{IgnorePoison, hexadecimal};
use attache_tool::{ToolError, ToolErrorKind};
use rustix::fs::{Access, AtFlags, FileType, Gid, Mode, OFlags, RenameFlags, Stat, Uid};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use super::beneath::{self, LinkPolicy, open_name};
use super::{FileOperation, WorkspacePath};

/// Writes `bytes` to the file at `path`, which must have the digest `expected`.
pub(super) fn replace(path: &WorkspacePath, expected: Option<&str>, bytes: &[u8]) -> Result<(), ToolError> {
    let failure = |errno| path.failure(errno, FileOperation::Writing);
    let Some(name) = path.below.file_name() else { return Err(failure(Errno::ISDIR)) };
    let folder = path.below.parent().unwrap_or(Path::new(""));
    let root = beneath::open_root(&path.root).map_err(failure)?;
    let folder = match expected {
        None => beneath::open_or_make(&root, folder).map_err(failure)?,
        Some(_) => match beneath::open(&root, folder, beneath::FOLDER, LinkPolicy::Refused) {
            // The file is gone with its folder. A failed edit does not create the folder again.
            Err(Errno::NOENT) => return Err(stale(path)),
            outcome => outcome.map_err(failure)?,
        },
    };

    let current = CurrentFile::look(&folder, name).map_err(failure)?;
    current.check(path, expected)?;
    if expected.is_some() {
        // A rename would replace a read-only file.
        rustix::fs::accessat(&folder, name, Access::WRITE_OK, AtFlags::empty()).map_err(failure)?;
    }
    let mut temporary = TemporaryFile::create(&folder, current.status.as_ref()).map_err(failure)?;
    let written = temporary.file.write_all(bytes).and_then(|()| temporary.file.sync_all());
    written.map_err(|error| failure(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;

    commit(path, temporary, name, expected)?;
    beneath::sync(&folder).map_err(failure)
}

/// Checks the digest again and renames. Edits of this process take turns, so only a change by another process between
/// the two can be lost.
fn commit(
    path: &WorkspacePath,
    mut temporary: TemporaryFile<'_>,
    name: &OsStr,
    expected: Option<&str>,
) -> Result<(), ToolError> {
    static TURN: Mutex<()> = Mutex::new(());

    let failure = |errno| path.failure(errno, FileOperation::Writing);
    let _turn = TURN.lock().ignore_poison();
    CurrentFile::look(temporary.folder, name).map_err(failure)?.check(path, expected)?;
    match temporary.rename_to(name, expected.is_some()) {
        Err(Errno::EXIST) => Err(stale(path)),
        outcome => outcome.map_err(failure),
    }
}

/// The current file.
struct CurrentFile {
    digest: Option<String>,
    status: Option<Stat>,
}

impl CurrentFile {
    fn look(folder: &OwnedFd, name: &OsStr) -> Result<Self, Errno> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let handle = match open_name(folder, Path::new(name), flags) {
            Ok(handle) => handle,
            Err(Errno::NOENT) => return Ok(Self { digest: None, status: None }),
            Err(errno) => return Err(errno),
        };
        let status = rustix::fs::fstat(&handle)?;
        match FileType::from_raw_mode(status.st_mode) {
            FileType::RegularFile => {}
            FileType::Directory => return Err(Errno::ISDIR),
            _ => return Err(Errno::INVAL),
        }
        let digest = digest_of_file(File::from(handle))
            .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        Ok(Self { digest: Some(digest), status: Some(status) })
    }

    fn check(&self, path: &WorkspacePath, expected: Option<&str>) -> Result<(), ToolError> {
        if self.digest.as_deref() == expected { Ok(()) } else { Err(stale(path)) }
    }
}

fn digest_of_file(mut file: File) -> std::io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hexadecimal(&hasher.finalize())),
            count => hasher.update(&buffer[..count]),
        }
    }
}

fn stale(path: &WorkspacePath) -> ToolError {
    ToolError::new(
        ToolErrorKind::EditPreparationFailure,
        format!(
            "{} has changed since this edit was prepared, and nothing was written; read the file again and make \
             the edit anew",
            path.path().display()
        ),
    )
}

/// A temporary file beside the target. Removed on drop unless it was renamed.
struct TemporaryFile<'folder> {
    folder: &'folder OwnedFd,
    name: PathBuf,
    file: File,
    renamed: bool,
}

impl<'folder> TemporaryFile<'folder> {
    fn create(folder: &'folder OwnedFd, like: Option<&Stat>) -> Result<Self, Errno> {
        /// More leftovers of crashes with the same process id are not expected.
        const ATTEMPTS: usize = 1000;
        static COUNT: AtomicU64 = AtomicU64::new(0);

        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // Private until it has the mode of the old file.
        let mode = Mode::from_raw_mode(if like.is_some() { 0o600 } else { 0o666 });
        for _ in 0..ATTEMPTS {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = PathBuf::from(format!(".attache-{}-{count}.tmp", std::process::id()));
            let file = match rustix::fs::openat(folder, &name, flags, mode) {
                Err(Errno::EXIST) => continue,
                outcome => File::from(outcome?),
            };
            let temporary = Self { folder, name, file, renamed: false };
            if let Some(status) = like {
                temporary.become_like(status)?;
            }
            return Ok(temporary);
        }
        Err(Errno::EXIST)
    }

    fn become_like(&self, status: &Stat) -> Result<(), Errno> {
        let own = rustix::fs::fstat(&self.file)?;
        if (own.st_uid, own.st_gid) != (status.st_uid, status.st_gid) {
            // Only root can change the owner. For others the file becomes theirs, as with any editor.
            let owner = (Uid::from_raw(status.st_uid), Gid::from_raw(status.st_gid));
            let _ = rustix::fs::fchown(&self.file, Some(owner.0), Some(owner.1));
        }
        rustix::fs::fchmod(&self.file, Mode::from_raw_mode(status.st_mode & 0o7777))
    }

    fn rename_to(&mut self, name: &OsStr, over_existing: bool) -> Result<(), Errno> {
        let flags = if over_existing { RenameFlags::empty() } else { RenameFlags::NOREPLACE };
        let renamed = match rustix::fs::renameat_with(self.folder, &self.name, self.folder, name, flags) {
            // Not every file system supports NOREPLACE.
            Err(Errno::INVAL | Errno::NOSYS) if !over_existing => {
                match rustix::fs::statat(self.folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(_) => Err(Errno::EXIST),
                    Err(_) => rustix::fs::renameat(self.folder, &self.name, self.folder, name),
                }
            }
            outcome => outcome,
        };
        self.renamed = renamed.is_ok();
        renamed
    }
}

impl Drop for TemporaryFile<'_> {
    fn drop(&mut self) {
        if !self.renamed {
            // A leftover is harmless.
            let _ = rustix::fs::unlinkat(self.folder, &self.name, AtFlags::empty());
        }
    }
}
