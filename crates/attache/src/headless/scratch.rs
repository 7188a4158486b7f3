//! A folder for temporary files that is removed after the run.

use std::path::{Path, PathBuf};

use attache_config::{Settings, StoreChoice};
use uuid::Uuid;

/// Removes its folder at the end, and the folders above it that did not exist before. The task may refer to the folder, so a
/// run whose task is kept uses the permanent one instead.
pub(crate) struct ScratchFolder {
    folder: Option<PathBuf>,
    /// The nearest folder that existed before.
    kept: PathBuf,
}

impl ScratchFolder {
    /// Makes `settings` name the folder.
    pub(crate) fn for_run(settings: &mut Settings) -> Self {
        let kept = settings.scratch.ancestors().find(|folder| folder.exists());
        let kept = kept.map(Path::to_owned).unwrap_or_default();
        if settings.store != StoreChoice::Memory {
            return Self { folder: None, kept };
        }
        let folder = settings.scratch.join(format!("run-{}", Uuid::new_v4()));
        settings.scratch.clone_from(&folder);
        Self { folder: Some(folder), kept }
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        let Some(folder) = &self.folder else { return };
        if let Err(error) = std::fs::remove_dir_all(folder)
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
