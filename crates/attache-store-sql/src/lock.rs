//! Locks the database against a second process.
//!
//! With SQLite's own locks two processes could write in turn, each with outdated state in memory. So the database file
//! itself is locked with `flock`, which locks the inode: every path to the file leads to the same lock, and the lock
//! ends with its process.
//!
//! `flock` and the byte-range locks that SQLite takes do not see each other on local file systems. But a process loses
//! all its byte-range locks on a file when it closes any descriptor of it, so this one is opened before SQLite opens the
//! file, and closed after SQLite has closed it. For the same reason a file that this process holds is never opened a
//! second time: `CONFINED` knows them.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use attache_domain::IgnorePoison;

use crate::OpenError;
use crate::file_identity::FileIdentity;

/// How long to wait between tries.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// The databases locked by this process.
static HELD: Mutex<Vec<FileIdentity>> = Mutex::new(Vec::new());

/// Held until it is dropped.
#[derive(Debug)]
pub(crate) struct DatabaseLock {
    file: File,
    identity: FileIdentity,
}

impl DatabaseLock {
    /// Locks the database file, which is created if it is missing. Retries for `timeout`: after `kill -9` the lock may
    /// stay for a moment with a child process that has not started its program yet.
    pub(crate) fn take(database: &Path, timeout: Duration) -> Result<Self, OpenError> {
        let deadline = Instant::now() + timeout;
        let mut waits = false;
        loop {
            match Self::try_take(database)? {
                LockAttempt::Locked(lock) => return Ok(lock),
                LockAttempt::InUse(identity) if Instant::now() >= deadline => {
                    return Err(OpenError::InUse { path: database.to_owned(), by: holder_of(identity) });
                }
                // The path now leads to another file.
                LockAttempt::Replaced if Instant::now() >= deadline => {
                    return Err(OpenError::InUse { path: database.to_owned(), by: None });
                }
                LockAttempt::InUse(_) | LockAttempt::Replaced => {
                    if !std::mem::replace(&mut waits, true) {
                        tracing::debug!("{} is in use; waiting a moment for it", database.display());
                    }
                    std::thread::sleep(RETRY_INTERVAL);
                }
            }
        }
    }

    fn try_take(database: &Path) -> Result<LockAttempt, OpenError> {
        let failed = |source| OpenError::file(database, source);
        let mut held = held();
        if let Some(there) = FileIdentity::at(database).map_err(failed)?
            && held.contains(&there)
        {
            return Ok(LockAttempt::InUse(there));
        }
        let file = open_private(database).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        let identity = FileIdentity::of(&metadata);
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(LockAttempt::InUse(identity)),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        if FileIdentity::at(database).map_err(failed)? != Some(identity) {
            return Ok(LockAttempt::Replaced);
        }
        if metadata.nlink() > 1 {
            tracing::warn!(
                "{} has more than one name (hard links); SQLite keeps what was written last beside the name that is used, so \
                 always use the same",
                database.display()
            );
        }
        held.push(identity);
        Ok(LockAttempt::Locked(Self { file, identity }))
    }

    pub(crate) fn identity(&self) -> FileIdentity {
        self.identity
    }
}

impl Drop for DatabaseLock {
    fn drop(&mut self) {
        // Explicitly: a child process that has not started its program yet would keep the lock otherwise.
        let _ = self.file.unlock();
        held().retain(|held| *held != self.identity);
    }
}

enum LockAttempt {
    Locked(DatabaseLock),
    InUse(FileIdentity),
    Replaced,
}

/// Opens or creates a file that only its owner can read: records may be secret.
pub(crate) fn open_private(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// The process that holds a lock on the file, if the kernel reports it: "4711, attache".
pub(crate) fn holder_of(identity: FileIdentity) -> Option<String> {
    let process = if held().contains(&identity) {
        std::process::id().to_string()
    } else {
        holder_in(&std::fs::read_to_string("/proc/locks").ok()?, identity.inode)?
    };
    match std::fs::read_to_string(format!("/proc/{process}/comm")) {
        Ok(name) => Some(format!("{process}, {}", name.trim())),
        Err(_) => Some(process),
    }
}

/// The lines of `/proc/locks` look like `3: FLOCK  ADVISORY  WRITE 4711 fd:01:393218 0 EOF`.
fn holder_in(locks: &str, inode: u64) -> Option<String> {
    let inode = inode.to_string();
    locks.lines().find_map(|line| {
        let words: Vec<_> = line.split_whitespace().collect();
        let [_, "FLOCK", _, "WRITE", process, file, ..] = words[..] else { return None };
        let is_it = file.rsplit(':').next() == Some(&inode) && process.parse::<u32>().is_ok_and(|it| it > 0);
        is_it.then(|| process.to_owned())
    })
}

fn held() -> MutexGuard<'static, Vec<FileIdentity>> {
    HELD.lock().ignore_poison()
}

#[cfg(test)]
mod tests {
    use super::holder_in;

    #[test]
    fn the_holder_of_a_lock_is_found_by_the_file() {
        let locks = "1: POSIX  ADVISORY  WRITE 11 fd:01:77 0 EOF\n2: FLOCK  ADVISORY  WRITE 22 fd:01:78 0 EOF\n\
                     3: -> FLOCK  ADVISORY  WRITE 33 fd:01:77 0 EOF\n4: FLOCK  ADVISORY  WRITE 44 fd:01:77 0 EOF\n";
        assert_eq!(holder_in(locks, 77).as_deref(), Some("44"));
        assert_eq!(holder_in(locks, 7), None);
        // A process that cannot be seen from here.
        assert_eq!(holder_in("1: FLOCK ADVISORY WRITE 0 fd:01:77 0 EOF", 77), None);
    }
}
