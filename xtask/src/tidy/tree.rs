//! The files of the checkout, as text.
//!
//! Walks the folders instead of asking git, so that it works in an export and sees files that are not added yet.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Folders without files of ours, as in `.gitignore`.
const FOREIGN_FOLDERS: &[&str] = &[".git", "target", "node_modules", "__pycache__"];

#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// Sorted by path.
    pub(crate) files: Vec<File>,
}

#[derive(Debug)]
pub(crate) struct File {
    /// Relative to the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) executable: bool,
}

impl Tree {
    /// Reads every UTF-8 file under `root` but those of `target` and of foreign folders.
    pub(crate) fn read(root: &Path, target: &Path) -> Result<Self, String> {
        let mut tree = Self::default();
        tree.read_folder(root, root, target)
            .map_err(|error| format!("reading the files under {}: {error}", root.display()))?;
        tree.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(tree)
    }

    /// The file at `path`, if there is one.
    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    fn read_folder(&mut self, folder: &Path, root: &Path, target: &Path) -> std::io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            // In a linked worktree `.git` is a file.
            if path == target || FOREIGN_FOLDERS.iter().any(|name| entry.file_name() == *name) {
                continue;
            }
            if kind.is_dir() {
                self.read_folder(&path, root, target)?;
            } else if kind.is_file()
                && let Ok(text) = String::from_utf8(fs::read(&path)?)
            {
                let relative = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
                let executable = entry.metadata()?.permissions().mode() & 0o111 != 0;
                self.files.push(File { path: relative, text, executable });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
impl Tree {
    /// A tree of made-up files.
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let file = |(path, text): &(&str, &str)| File {
            path: (*path).into(),
            text: (*text).into(),
            executable: false,
        };
        Self { files: files.iter().map(file).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_walk_sees_our_files_and_skips_the_target_folder() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let tree = Tree::read(root, &root.join("src").join("tidy")).unwrap();
        assert!(tree.file("src/main.rs").is_some());
        assert!(tree.file("src/tidy/tree.rs").is_none());
    }
}
