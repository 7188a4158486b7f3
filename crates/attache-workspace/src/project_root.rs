//! Finds the root folder of a project.

use std::path::{Path, PathBuf};

use crate::file_stamps;

/// The top of the repository that `folder` is in. Without one, the folder itself: what lies above it is not known to
/// belong to the project. The home folder is never passed.
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
