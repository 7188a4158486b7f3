//! Folders for what agents send, below the scratch folder of a conversation.

use std::io;
use std::path::{Path, PathBuf};

/// Makes the folder `names` below `scratch`, one in the other. None of them may be a link, which could lead elsewhere.
pub(crate) async fn create(scratch: &Path, names: &[&str]) -> io::Result<PathBuf> {
    tokio::fs::create_dir_all(scratch).await?;
    let mut folder = scratch.to_owned();
    for name in names {
        folder.push(name);
        match tokio::fs::create_dir(&folder).await {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        if !tokio::fs::symlink_metadata(&folder).await?.is_dir() {
            return Err(io::Error::other(format!("{} is not a folder", folder.display())));
        }
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_link_is_not_followed() {
        let (scratch, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let made = create(scratch.path(), &["a", "b"]).await.unwrap();
        assert_eq!(made, create(scratch.path(), &["a", "b"]).await.unwrap());
        std::os::unix::fs::symlink(outside.path(), scratch.path().join("link")).unwrap();
        for names in [["link", "b"], ["a", "../link"]] {
            assert!(create(scratch.path(), &names).await.is_err(), "{names:?}");
        }
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    }
}
