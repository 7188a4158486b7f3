//! The files of the sessions of a folder: each session has a database of its own, so that two of them can run at once.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, anyhow};
use attache_cli::report::with_hint;
use attache_config::Settings;
use attache_domain::{Digest, TaskId, visible_line};
use attache_terminal::{SessionStart, unused_session_id};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::headless::HeadlessArguments;

const SUFFIX: &str = ".db";
/// Means the latest session.
const LATEST: &str = "latest";
/// Letters of the hash of a folder's path.
const HASH_LENGTH: usize = 16;
/// Letters of the name of a folder.
const MAX_NAME: usize = 40;

/// Where a session is kept, and how it begins.
pub(super) struct SessionPlace {
    pub(super) start: SessionStart,
    /// None: in memory, or in the store that the command line names.
    pub(super) file: Option<PathBuf>,
}

impl SessionPlace {
    pub(super) fn resolve(
        arguments: &HeadlessArguments,
        settings: &Settings,
        has_home: bool,
    ) -> anyhow::Result<Self> {
        // Without a home, no file is known to be the user's own.
        let folder = folder_of(settings);
        let folder = Some(folder).filter(|_| arguments.store.is_none() && has_home);
        if let Some(wanted) = &arguments.resume {
            return match folder {
                Some(folder) => find(&folder, wanted, &settings.workspace),
                None => Err(with_hint(
                    anyhow!("--resume finds sessions only where attache keeps them"),
                    "leave out --store, and have a home folder",
                )),
            };
        }
        let id = match &arguments.session_id {
            None => unused_session_id(),
            Some(id) => chosen_id(id)?,
        };
        let file = folder.map(|folder| folder.join(format!("{id}{SUFFIX}")));
        if file.as_ref().is_some_and(|file| file.exists()) {
            let hint = format!("attache --resume {id} goes on with it");
            return Err(with_hint(anyhow!("there is a session {id} already"), hint));
        }
        Ok(Self { start: SessionStart::New(id), file })
    }

    /// Removes the files of a session in which nothing was said.
    pub(super) fn close(&self, was_used: bool) {
        let Some(file) = self.file.as_ref().filter(|_| !was_used) else { return };
        let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else { return };
        let name = name.to_string_lossy();
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(name.as_ref()) {
                let _ = fs::remove_file(entry.path());
            }
        }
        // Stays if it holds other sessions.
        let _ = fs::remove_dir(folder);
    }
}

/// Named after the folder, for people, and by the hash of its whole path.
fn folder_of(settings: &Settings) -> PathBuf {
    let workspace = settings.workspace.as_path();
    let name = workspace.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let plain = |letter: &char| letter.is_ascii_alphanumeric() || "-_.".contains(*letter);
    let name: String = name.chars().filter(plain).take(MAX_NAME).collect();
    let hash = Digest::of_hash(&Sha256::digest(workspace.as_os_str().as_encoded_bytes()));
    let hash: String = hash.0.chars().take(HASH_LENGTH).collect();
    settings.data_folder.join("sessions").join(format!("{name}-{hash}"))
}

fn chosen_id(id: &str) -> anyhow::Result<TaskId> {
    let id = Uuid::try_parse(id).map_err(|_| {
        let error = anyhow!("the id of a session must be a UUID, which {:?} is not", visible_line(id));
        with_hint(error, "leave out --session-id to get an id")
    })?;
    Ok(TaskId::from(id.to_string()))
}

fn find(folder: &Path, wanted: &str, workspace: &Path) -> anyhow::Result<SessionPlace> {
    let mut sessions = sessions_in(folder)?;
    sessions.sort_by_key(|session| session.used_at);
    let place = |id: &str| SessionPlace {
        start: SessionStart::Resumed(TaskId::from(id)),
        file: Some(folder.join(format!("{id}{SUFFIX}"))),
    };
    let matching: Vec<_> = match wanted {
        LATEST => sessions.iter().rev().take(1).collect(),
        wanted => sessions.iter().filter(|session| session.id.starts_with(wanted)).collect(),
    };
    match matching.as_slice() {
        [only] => Ok(place(&only.id)),
        [] if sessions.is_empty() => Err(with_hint(
            anyhow!("there is no session of {}", workspace.display()),
            "attache, without --resume, begins one",
        )),
        [] => Err(with_hint(
            anyhow!("no session of {} begins with {:?}", workspace.display(), visible_line(wanted)),
            "attache --resume goes on with the latest one",
        )),
        [first, second, ..] => Err(with_hint(
            anyhow!("several sessions begin with {wanted:?}, among them {} and {}", first.id, second.id),
            "give more of the id",
        )),
    }
}

struct SessionFile {
    id: String,
    used_at: SystemTime,
}

fn sessions_in(folder: &Path) -> anyhow::Result<Vec<SessionFile>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).context(format!("cannot read {}", folder.display())),
    };
    let session = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let id = name.strip_suffix(SUFFIX)?.to_owned();
        Uuid::try_parse(&id).ok()?;
        // What was written last stands beside the database.
        let beside = fs::metadata(folder.join(format!("{name}-wal")));
        let times = [entry.metadata().ok(), beside.ok()].into_iter().flatten();
        let used_at = times.filter_map(|metadata| metadata.modified().ok()).max()?;
        Some(SessionFile { id, used_at })
    };
    Ok(entries.flatten().filter_map(session).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id_of(place: &SessionPlace) -> &str {
        match &place.start {
            SessionStart::New(id) | SessionStart::Resumed(id) => id.as_str(),
        }
    }

    #[test]
    fn the_latest_session_is_the_one_that_was_written_last() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Path::new("/w");
        assert!(find(folder.path(), LATEST, workspace).is_err());
        let ids = [unused_session_id(), unused_session_id()].map(|id| id.to_string());
        let at = |seconds| SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        for (name, time) in [
            (format!("{}.db", ids[0]), at(10)),
            (format!("{}.db-wal", ids[0]), at(30)),
            (format!("{}.db", ids[1]), at(20)),
            ("notes.db".to_owned(), at(40)),
        ] {
            fs::File::create(folder.path().join(name)).unwrap().set_modified(time).unwrap();
        }
        assert_eq!(id_of(&find(folder.path(), LATEST, workspace).unwrap()), ids[0]);
        assert_eq!(id_of(&find(folder.path(), &ids[1], workspace).unwrap()), ids[1]);
        assert!(find(folder.path(), "x", workspace).is_err());
        assert!(find(folder.path(), &ids[0][..2], workspace).is_err(), "both begin with the time");
    }

    #[test]
    fn the_files_of_a_session_without_a_word_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("w");
        fs::create_dir(&inner).unwrap();
        let id = unused_session_id();
        let file = inner.join(format!("{id}.db"));
        for name in ["", "-wal", "-shm"] {
            fs::write(inner.join(format!("{id}.db{name}")), "").unwrap();
        }
        let place = SessionPlace { start: SessionStart::New(id), file: Some(file) };
        place.close(true);
        assert_eq!(fs::read_dir(&inner).unwrap().count(), 3);
        place.close(false);
        assert!(!inner.exists());
    }
}
