//! What of a git repository stays read-only: the files that make git run something. Index, objects and refs are not
//! among them, so that `add`, `commit`, `stash` and `rebase` work.

use std::fs;
use std::path::{Path, PathBuf};

/// Files and folders of a git folder that make git run programs, or point it elsewhere.
const STEERING: &[&str] = &["config", "config.worktree", "hooks", "info/attributes"];
/// The same of the record of a linked worktree.
const WORKTREE: &[&str] = &["config.worktree", "gitdir", "commondir"];
/// Submodules may lie in folders of folders.
const MAX_DEPTH: usize = 4;
const MAX_SUBMODULES: usize = 256;

/// What a workspace's repository adds to the plan.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct GitPaths {
    /// Git folders outside of the workspace that its work is recorded in.
    pub(crate) writes: Vec<PathBuf>,
    /// Whether they exist or not.
    pub(crate) protected: Vec<PathBuf>,
}

/// Looks at the repository whose work tree is `root`.
pub(crate) fn git_paths(root: &Path) -> GitPaths {
    let mut found = GitPaths::default();
    let pointer = root.join(".git");
    match fs::symlink_metadata(&pointer) {
        Ok(metadata) if metadata.is_dir() => found.repository(&pointer),
        Ok(metadata) if metadata.is_file() => {
            found.protected.push(pointer.clone());
            found.pointed_to(root, &pointer);
        }
        // A link, or none: it may not come into being.
        _ => found.protected.push(pointer),
    }
    found
}

impl GitPaths {
    /// A git folder with all that belongs to it.
    fn repository(&mut self, folder: &Path) {
        self.protected.extend(STEERING.iter().map(|name| folder.join(name)));
        for record in folders(&folder.join("worktrees")) {
            self.protected.extend(WORKTREE.iter().map(|name| record.join(name)));
        }
        self.submodules(&folder.join("modules"), MAX_DEPTH);
    }

    fn submodules(&mut self, folder: &Path, depth: usize) {
        for inner in folders(folder) {
            if inner.join("HEAD").is_file() && inner.join("config").is_file() {
                self.repository(&inner);
                self.protected.extend(work_tree_of(&inner).map(|tree| tree.join(".git")));
            } else if depth > 0 {
                self.submodules(&inner, depth - 1);
            }
        }
    }

    /// The git folder of a linked worktree or a submodule. It counts only if it names this work tree itself: a pointer
    /// alone could name any folder.
    fn pointed_to(&mut self, root: &Path, pointer: &Path) {
        let Some(folder) = read_pointer(root, pointer) else { return };
        let recorded = fs::read_to_string(folder.join("gitdir")).ok();
        let is_worktree = recorded.is_some_and(|recorded| {
            folder.join(recorded.trim()).canonicalize().is_ok_and(|named| named == *pointer)
        });
        if is_worktree {
            let common = fs::read_to_string(folder.join("commondir")).unwrap_or_else(|_| "../..".into());
            let Ok(common) = folder.join(common.trim()).canonicalize() else { return };
            if folder.starts_with(common.join("worktrees")) && common.join("HEAD").is_file() {
                self.repository(&common);
                self.writes.push(common);
            }
        } else if work_tree_of(&folder).is_some_and(|tree| tree == root) && folder.join("HEAD").is_file() {
            self.repository(&folder);
            self.writes.push(folder);
        }
    }
}

/// Where a `.git` file points.
fn read_pointer(root: &Path, pointer: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(pointer).ok()?;
    root.join(text.lines().next()?.strip_prefix("gitdir:")?.trim()).canonicalize().ok()
}

/// The work tree that a submodule's configuration names.
fn work_tree_of(folder: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(folder.join("config")).ok()?;
    let named = text.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        name.trim().eq_ignore_ascii_case("worktree").then(|| value.trim().to_owned())
    })?;
    folder.join(named).canonicalize().ok()
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let entries =
        entries.filter_map(Result::ok).filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    entries.map(|entry| entry.path()).take(MAX_SUBMODULES).collect()
}
