//! The files of the sessions of a folder: each session has a database of its own, so that two of them can run at once.

use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

use attache_domain::{Digest, TaskId, visible_line};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::open_session::{SessionStart, unused_session_id};

const SUFFIX: &str = ".db";
/// Behind the name of the database of a session that is over. The file is empty.
const OVER: &str = "-over";
/// Means the latest session.
const LATEST: &str = "latest";
/// Letters of the hash of a folder's path.
const HASH_LENGTH: usize = 16;
/// Letters of the name of a folder.
const MAX_NAME: usize = 40;

/// Which session is wanted, as the command line says it.
#[derive(Debug, Clone, Copy)]
pub struct SessionRequest<'a> {
    /// The folder with the sessions of all folders; none where sessions have no files of their own.
    pub sessions: Option<&'a Path>,
    pub workspace: &'a Path,
    /// `latest`, or the beginning of the id of an earlier session.
    pub resume: Option<&'a str>,
    /// The id of a new session.
    pub session_id: Option<&'a str>,
}

/// Where a session is kept, and how it begins.
pub struct SessionPlace {
    pub start: SessionStart,
    /// None: in memory, or in the store that the command line names.
    pub file: Option<PathBuf>,
}

/// Why a session cannot begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionFileError {
    #[error("--resume finds sessions only where attache keeps them")]
    NoFiles,
    #[error("there is a session {id} already")]
    Exists { id: TaskId },
    #[error("the id of a session must be a UUID, which {id:?} is not")]
    NotAUuid { id: String },
    #[error("there is no session of {workspace} that can go on")]
    NoSession { workspace: String },
    #[error("no session of {workspace} begins with {wanted:?}")]
    Unknown { workspace: String, wanted: String },
    #[error("several sessions begin with {wanted:?}, among them {first} and {second}")]
    Ambiguous { wanted: String, first: String, second: String },
    #[error("cannot read {folder}")]
    Unreadable { folder: String, source: io::Error },
}

impl SessionFileError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoFiles => "leave out --store, and have a home folder".into(),
            Self::Exists { id } => format!("attache --resume {id} goes on with it"),
            Self::NotAUuid { .. } => "leave out --session-id to get an id".into(),
            Self::NoSession { .. } => "attache, without --resume, begins one".into(),
            Self::Unknown { .. } => "attache --resume goes on with the latest one".into(),
            Self::Ambiguous { .. } => "give more of the id".into(),
            Self::Unreadable { .. } => return None,
        })
    }
}

impl SessionPlace {
    /// The place of the session that `request` names.
    pub fn resolve(request: SessionRequest<'_>) -> Result<Self, SessionFileError> {
        let folder = request.sessions.map(|sessions| folder_of(sessions, request.workspace));
        if let Some(wanted) = request.resume {
            let folder = folder.ok_or(SessionFileError::NoFiles)?;
            return find(&folder, wanted, request.workspace);
        }
        let id = match request.session_id {
            None => unused_session_id(),
            Some(id) => chosen_id(id)?,
        };
        let file = folder.map(|folder| folder.join(format!("{id}{SUFFIX}")));
        if file.as_ref().is_some_and(|file| file.exists()) {
            return Err(SessionFileError::Exists { id });
        }
        Ok(Self { start: SessionStart::New(id), file })
    }

    pub fn id(&self) -> &TaskId {
        match &self.start {
            SessionStart::New(id) | SessionStart::Resumed(id) => id,
        }
    }

    pub fn is_new(&self) -> bool {
        matches!(self.start, SessionStart::New(_))
    }

    /// Notes that the session is over, so that it is not the latest one for `--resume`.
    pub fn mark_over(&self) {
        let Some(file) = &self.file else { return };
        let mut name = file.clone().into_os_string();
        name.push(OVER);
        // Without the note, the next `--resume` says that the session is over.
        let _ = fs::OpenOptions::new().create(true).append(true).mode(0o600).open(name);
    }

    /// Removes the files of a session in which nothing was said.
    pub fn close(&self, was_used: bool) {
        let Some(file) = self.file.as_ref().filter(|_| !was_used) else { return };
        remove_files(file);
        // Stays if it holds other sessions.
        let _ = file.parent().map(fs::remove_dir);
    }
}

/// Removes a database and what stands beside it.
pub(crate) fn remove_files(file: &Path) {
    let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else { return };
    let name = name.to_string_lossy();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(name.as_ref()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Named after the folder, for people, and by the hash of its whole path.
fn folder_of(sessions: &Path, workspace: &Path) -> PathBuf {
    let name = workspace.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let plain = |letter: &char| letter.is_ascii_alphanumeric() || "-_.".contains(*letter);
    let name: String = name.chars().filter(plain).take(MAX_NAME).collect();
    let hash = Digest::of_hash(&Sha256::digest(workspace.as_os_str().as_encoded_bytes()));
    let hash: String = hash.0.chars().take(HASH_LENGTH).collect();
    sessions.join(format!("{name}-{hash}"))
}

fn chosen_id(id: &str) -> Result<TaskId, SessionFileError> {
    let refused = |_| SessionFileError::NotAUuid { id: visible_line(id).into_owned() };
    Ok(TaskId::from(Uuid::try_parse(id).map_err(refused)?.to_string()))
}

fn find(folder: &Path, wanted: &str, workspace: &Path) -> Result<SessionPlace, SessionFileError> {
    let mut sessions = sessions_in(folder)?;
    sessions.sort_by_key(|session| session.used_at);
    let place = |id: &str| SessionPlace {
        start: SessionStart::Resumed(TaskId::from(id)),
        file: Some(folder.join(format!("{id}{SUFFIX}"))),
    };
    let matching: Vec<_> = match wanted {
        LATEST => sessions.iter().rev().filter(|session| !session.is_over).take(1).collect(),
        wanted => sessions.iter().filter(|session| session.id.starts_with(wanted)).collect(),
    };
    let shown = || workspace.display().to_string();
    match matching.as_slice() {
        [only] => Ok(place(&only.id)),
        [] if sessions.is_empty() || wanted == LATEST => {
            Err(SessionFileError::NoSession { workspace: shown() })
        }
        [] => {
            let wanted = visible_line(wanted).into_owned();
            Err(SessionFileError::Unknown { workspace: shown(), wanted })
        }
        [first, second, ..] => Err(SessionFileError::Ambiguous {
            wanted: wanted.to_owned(),
            first: first.id.clone(),
            second: second.id.clone(),
        }),
    }
}

pub(crate) struct SessionFile {
    id: String,
    pub(crate) used_at: SystemTime,
    is_over: bool,
}

impl SessionFile {
    pub(crate) fn path(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}{SUFFIX}", self.id))
    }
}

pub(crate) fn sessions_in(folder: &Path) -> Result<Vec<SessionFile>, SessionFileError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => {
            return Err(SessionFileError::Unreadable { folder: folder.display().to_string(), source });
        }
    };
    let session = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let id = name.strip_suffix(SUFFIX)?.to_owned();
        Uuid::try_parse(&id).ok()?;
        // What was written last stands beside the database.
        let beside = fs::metadata(folder.join(format!("{name}-wal")));
        let times = [entry.metadata().ok(), beside.ok()].into_iter().flatten();
        let used_at = times.filter_map(|metadata| metadata.modified().ok()).max()?;
        let is_over = folder.join(format!("{name}{OVER}")).exists();
        Some(SessionFile { id, used_at, is_over })
    };
    Ok(entries.flatten().filter_map(session).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(find(folder.path(), LATEST, workspace).unwrap().id().as_str(), ids[0]);
        assert_eq!(find(folder.path(), &ids[1], workspace).unwrap().id().as_str(), ids[1]);
        assert!(find(folder.path(), "x", workspace).is_err());
        assert!(find(folder.path(), &ids[0][..2], workspace).is_err(), "both begin with the time");
    }

    #[test]
    fn a_session_that_is_over_is_not_the_latest_and_is_removed_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let (place, file) = (unused_session_id(), |id: &TaskId| folder.path().join(format!("{id}.db")));
        fs::write(file(&place), "").unwrap();
        let over = find(folder.path(), LATEST, Path::new("/w")).unwrap();
        over.mark_over();
        let none = find(folder.path(), LATEST, Path::new("/w")).err().map(|error| error.to_string());
        assert_eq!(none.as_deref(), Some("there is no session of /w that can go on"));
        let other = unused_session_id();
        fs::write(file(&other), "").unwrap();
        fs::File::options()
            .append(true)
            .open(file(&other))
            .unwrap()
            .set_modified(SystemTime::UNIX_EPOCH)
            .unwrap();
        assert_eq!(find(folder.path(), LATEST, Path::new("/w")).unwrap().id(), &other);
        assert_eq!(find(folder.path(), place.as_str(), Path::new("/w")).unwrap().id(), &place);
        remove_files(&file(&place));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
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
