//! A folder for temporary files that is removed after the run, but for files that agents sent.

use std::io;
use std::path::{Path, PathBuf};

use uuid::Uuid;

/// Files from remote agents, below the folder of a conversation. The answer of the run names them, so they stay.
const RECEIVED: &str = "agent-files";

/// Removes its folder at the end, and the folders above it that did not exist before. A task
/// may refer to the folder, so a run whose task is kept must not use one.
pub struct ScratchFolder {
    folder: PathBuf,
    /// The nearest folder that existed before.
    kept: PathBuf,
}

impl ScratchFolder {
    /// A folder of its own below `scratch`, and its path.
    pub fn new(scratch: &Path) -> (Self, PathBuf) {
        let kept = scratch.ancestors().find(|folder| folder.exists());
        let kept = kept.map(Path::to_owned).unwrap_or_default();
        let folder = scratch.join(format!("run-{}", Uuid::new_v4()));
        (Self { folder: folder.clone(), kept }, folder)
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        let folder = &self.folder;
        if let Err(error) = remove(folder)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(%error, folder = %folder.display(), "the temporary files cannot be removed");
        }
        for above in folder.ancestors().skip(1).take_while(|above| *above != self.kept) {
            // A folder that is not empty stays: another run may use it.
            if std::fs::remove_dir(above).is_err() {
                return;
            }
        }
    }
}

/// All but what agents sent.
fn remove(folder: &Path) -> io::Result<()> {
    let conversations = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    if !conversations.iter().any(|entry| entry.path().join(RECEIVED).is_dir()) {
        return std::fs::remove_dir_all(folder);
    }
    for conversation in conversations {
        let path = conversation.path();
        if !path.join(RECEIVED).is_dir() {
            remove_any(&path)?;
            continue;
        }
        for entry in std::fs::read_dir(&path)? {
            let entry = entry?;
            if entry.file_name() != RECEIVED {
                remove_any(&entry.path())?;
            }
        }
    }
    Ok(())
}

fn remove_any(path: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(path)?.is_dir() {
        true => std::fs::remove_dir_all(path),
        false => std::fs::remove_file(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_agents_sent_stays() {
        let folder = tempfile::tempdir().unwrap();
        let below = |path: &str| folder.path().join("run").join(path);
        for path in ["one/agent-files/c/a.txt", "one/plans/p", "one/note", "two/tmp/x"] {
            std::fs::create_dir_all(below(path).parent().unwrap()).unwrap();
            std::fs::write(below(path), "x").unwrap();
        }
        remove(&folder.path().join("run")).unwrap();
        assert!(below("one/agent-files/c/a.txt").is_file());
        assert!(!below("one/plans").exists() && !below("one/note").exists() && !below("two").exists());
        remove_any(&below("one/agent-files")).unwrap();
        remove(&folder.path().join("run")).unwrap();
        assert!(!below("").exists());
    }
}
