//! Finds the files of a git repository that make git run programs. They stay read-only. Index, objects and refs stay
//! writable, so that `add`, `commit`, `stash` and `rebase` work.
//!
//! The repository may be hostile. Only small regular files are read, and folders with too many entries are protected as
//! a whole.

use std::fs;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// Files and folders of a git folder that make git run programs, or point it elsewhere.
const EXECUTABLE_CONFIG: &[&str] =
    &["config", "config.worktree", "hooks", "info/attributes", "commondir", "gitdir"];
/// The same for the record of a linked worktree.
const WORKTREE_CONFIG: &[&str] = &["config.worktree", "gitdir", "commondir"];
/// A folder with one of these may be a git folder, even if it lacks the others now.
const GIT_FOLDER_MARKERS: &[&str] = &["config", "HEAD", "objects", "hooks"];
/// Submodules may be nested in folders.
const MAX_DEPTH: usize = 4;
const MAX_FOLDERS: usize = 256;
const MAX_BYTES: u64 = 256 * 1024;

/// What a workspace's repository adds to the plan.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct GitPaths {
    /// Git folders outside the workspace that record its work.
    pub(crate) writes: Vec<PathBuf>,
    /// Protected paths, existing or not.
    pub(crate) protected: Vec<PathBuf>,
}

/// The paths of the repository whose work tree is `root`.
pub(crate) fn git_paths(root: &Path) -> GitPaths {
    let mut found = GitPaths::default();
    let pointer = root.join(".git");
    // With a HEAD, git could take the folder itself for a git folder.
    found.protected.push(root.join("HEAD"));
    match fs::symlink_metadata(&pointer) {
        Ok(metadata) if metadata.is_dir() => found.repository(root, &pointer),
        Ok(metadata) if metadata.is_file() => {
            found.protected.push(pointer.clone());
            found.follow_pointer(root, &pointer);
        }
        // A link, or missing: a command must not create it.
        _ => found.protected.push(pointer),
    }
    found
}

impl GitPaths {
    /// Adds a git folder with its worktrees and submodules.
    fn repository(&mut self, tree: &Path, folder: &Path) {
        self.protected.extend(EXECUTABLE_CONFIG.iter().map(|name| folder.join(name)));
        // The folder of hooks that its settings name.
        let hooks = read_setting(folder, "hookspath").map(|hooks| tree.join(hooks));
        self.protected.extend(hooks.filter(|hooks| hooks.starts_with(tree) && hooks != tree));
        let worktrees = folder.join("worktrees");
        match subfolders(&worktrees) {
            Some(records) => {
                for record in records {
                    self.protected.extend(WORKTREE_CONFIG.iter().map(|name| record.join(name)));
                }
            }
            None => self.protected.push(worktrees),
        }
        self.submodules(&folder.join("modules"), MAX_DEPTH);
    }

    fn submodules(&mut self, folder: &Path, depth: usize) {
        let Some(inner) = subfolders(folder).filter(|inner| depth > 0 || inner.is_empty()) else {
            self.protected.push(folder.to_owned());
            return;
        };
        for inner in inner {
            if GIT_FOLDER_MARKERS.iter().any(|sign| inner.join(sign).symlink_metadata().is_ok()) {
                let tree = work_tree_of(&inner);
                self.protected.extend(EXECUTABLE_CONFIG.iter().map(|name| inner.join(name)));
                self.protected.extend(tree.map(|tree| tree.join(".git")));
                self.submodules(&inner.join("modules"), depth - 1);
            } else {
                self.submodules(&inner, depth - 1);
            }
        }
    }

    /// The git folder of a linked worktree or a submodule. It counts only if it names this work tree itself: a pointer
    /// alone could name any folder.
    fn follow_pointer(&mut self, root: &Path, pointer: &Path) {
        let Some(folder) = read_pointer(root, pointer) else { return };
        let recorded = read_small_file(&folder.join("gitdir"));
        let is_worktree = recorded.is_some_and(|recorded| {
            folder.join(recorded.trim()).canonicalize().is_ok_and(|named| named == *pointer)
        });
        if is_worktree {
            let common = read_small_file(&folder.join("commondir")).unwrap_or_else(|| "../..".into());
            let Ok(common) = folder.join(common.trim()).canonicalize() else { return };
            if folder.starts_with(common.join("worktrees")) && common.join("HEAD").is_file() {
                self.repository(root, &common);
                self.writes.push(common);
            }
        } else if work_tree_of(&folder).is_some_and(|tree| tree == root) && folder.join("HEAD").is_file() {
            self.repository(root, &folder);
            self.writes.push(folder);
        }
    }
}

/// Where a `.git` file points.
fn read_pointer(root: &Path, pointer: &Path) -> Option<PathBuf> {
    let text = read_small_file(pointer)?;
    root.join(text.lines().next()?.strip_prefix("gitdir:")?.trim()).canonicalize().ok()
}

/// The work tree that a submodule's configuration names.
fn work_tree_of(folder: &Path) -> Option<PathBuf> {
    folder.join(read_setting(folder, "worktree")?).canonicalize().ok()
}

/// A value of the git folder's own configuration, by the last part of its name.
fn read_setting(folder: &Path, wanted: &str) -> Option<String> {
    let text = read_small_file(&folder.join("config"))?;
    text.lines().rev().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        name.trim().eq_ignore_ascii_case(wanted).then(|| value.trim().trim_matches('"').to_owned())
    })
}

/// The text of a small plain file; opening a pipe would wait for its other end.
fn read_small_file(path: &Path) -> Option<String> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = fs::File::options().read(true).custom_flags(flags).open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

/// The folders in a folder; none when there are too many to look at.
fn subfolders(folder: &Path) -> Option<Vec<PathBuf>> {
    let Ok(entries) = fs::read_dir(folder) else { return Some(Vec::new()) };
    let entries = entries.filter_map(Result::ok);
    let inner = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let inner: Vec<PathBuf> = inner.map(|entry| entry.path()).take(MAX_FOLDERS + 1).collect();
    (inner.len() <= MAX_FOLDERS).then_some(inner)
}
