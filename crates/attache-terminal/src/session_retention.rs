//! Deletes old sessions: those that were not used for long, and those beyond the number that is kept of a folder. A
//! session that is in use is never deleted.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::session_files::{SessionFile, remove_files, sessions_in};

/// Which sessions are kept.
#[derive(Debug, Clone, Copy)]
pub struct RetentionLimits {
    /// Since a session was last used.
    pub max_age: Option<Duration>,
    /// Of one folder.
    pub max_count: Option<usize>,
}

/// Deletes the old sessions of all folders, because this folder may never be used again. Leaves `own` alone, and what
/// cannot be read. Returns how many were deleted.
pub fn delete_old_sessions(all: &Path, own: &Path, retention: &RetentionLimits, now: SystemTime) -> usize {
    let folders = fs::read_dir(all).into_iter().flatten().flatten();
    let folders = folders.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.map(|folder| delete_in(&folder.path(), own, retention, now)).sum()
}

fn delete_in(folder: &Path, own: &Path, retention: &RetentionLimits, now: SystemTime) -> usize {
    let mut sessions = sessions_in(folder).unwrap_or_default();
    sessions.sort_by_key(|session| std::cmp::Reverse(session.used_at));
    let is_old = |place: usize, session: &SessionFile| {
        let age = now.duration_since(session.used_at).unwrap_or_default();
        retention.max_age.is_some_and(|most| age > most)
            || retention.max_count.is_some_and(|most| place >= most)
    };
    let old = sessions.iter().enumerate().filter(|(place, session)| is_old(*place, session));
    let files = old.map(|(_, session)| session.path(folder)).filter(|file| file != own);
    let deleted = files.filter(|file| delete(file)).count();
    // Stays if it holds other sessions.
    let _ = fs::remove_dir(folder);
    deleted
}

/// False if the session is in use, or cannot be deleted.
fn delete(file: &Path) -> bool {
    // The process of a session holds this lock.
    let Ok(locked) = File::options().read(true).write(true).open(file) else { return false };
    if locked.try_lock().is_err() {
        return false;
    }
    remove_files(file);
    !file.exists()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::unused_session_id;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + 1000 * DAY
    }

    /// A session that was last used so many days ago, with what stands beside its database.
    fn session(all: &Path, folder: &str, days: u32) -> PathBuf {
        let folder = all.join(folder);
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join(format!("{}.db", unused_session_id()));
        for name in [file.clone(), PathBuf::from(format!("{}-wal", file.display()))] {
            File::create(name).unwrap().set_modified(now() - days * DAY).unwrap();
        }
        file
    }

    fn delete_older(all: &Path, own: &Path, days: u32, count: Option<usize>) -> usize {
        let retention = RetentionLimits { max_age: Some(days * DAY), max_count: count };
        delete_old_sessions(all, own, &retention, now())
    }

    #[test]
    fn old_sessions_of_all_folders_go_with_their_files_and_others_stay() {
        let all = tempfile::tempdir().unwrap();
        let (old, gone) = (session(all.path(), "a", 31), session(all.path(), "b", 400));
        let (young, own) = (session(all.path(), "a", 29), session(all.path(), "a", 99));
        let notes = all.path().join("a/notes.db");
        File::create(&notes).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(delete_older(all.path(), &own, 30, None), 2);
        assert!(!old.exists() && !gone.exists() && !all.path().join("b").exists());
        assert!(young.exists() && own.exists() && notes.exists());
        assert_eq!(fs::read_dir(all.path().join("a")).unwrap().count(), 5);
    }

    #[test]
    fn a_session_in_use_stays_however_old_it_is() {
        let all = tempfile::tempdir().unwrap();
        let used = session(all.path(), "a", 99);
        let held = File::options().write(true).open(&used).unwrap();
        held.try_lock().unwrap();
        assert_eq!(delete_older(all.path(), Path::new("own"), 30, Some(0)), 0);
        assert!(used.exists());
        drop(held);
        assert_eq!(delete_older(all.path(), Path::new("own"), 30, None), 1);
    }

    #[test]
    fn the_latest_sessions_of_each_folder_are_kept_up_to_a_number() {
        let all = tempfile::tempdir().unwrap();
        let kept = [session(all.path(), "a", 1), session(all.path(), "a", 2), session(all.path(), "b", 3)];
        let old = session(all.path(), "a", 4);
        assert_eq!(delete_older(all.path(), Path::new("own"), 30, Some(2)), 1);
        assert!(!old.exists() && kept.iter().all(|file| file.exists()));
    }

    #[test]
    fn a_session_from_the_future_stays() {
        let all = tempfile::tempdir().unwrap();
        let file = session(all.path(), "a", 0);
        File::options().write(true).open(&file).unwrap().set_modified(now() + 99 * DAY).unwrap();
        assert_eq!(delete_older(all.path(), Path::new("own"), 1, None), 0);
    }
}
