//! Finds the root folder of a project.

use std::path::{Path, PathBuf};

use crate::file_stamps;

/// The top of the repository of `folder`. Without a repository, the folder itself: folders above it may belong to
/// another project. Never goes above the home folder.
pub(crate) fn top_of(folder: &Path, home: Option<&Path>) -> PathBuf {
    for above in folder.ancestors() {
        let repository = above.join(".git");
        file_stamps::presence(&repository);
        if repository.exists() {
            return above.to_owned();
        }
        if Some(above) == home {
            break;
        }
    }
    folder.to_owned()
}
