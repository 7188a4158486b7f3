//! Finds protected files and nested repositories in the folders of a workspace.
//!
//! The scan is bounded and reads shallow folders first, so that commands in a large workspace start quickly. The result
//! is kept; a folder is read again only when its modification time changes.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use attache_domain::{BoundedCache, IgnorePoison};
use attache_tool::is_protected;

/// Below the top of the workspace.
const MAX_DEPTH: usize = 6;
const MAX_FOLDERS: usize = 2_000;
const MAX_ENTRIES: usize = 50_000;
/// Each is a mount for every command, and so are the folders above it.
const MAX_FOUND: usize = 128;
/// Workspaces whose scans are kept.
const MAX_ROOTS: usize = 64;
const MAX_CACHED_FOLDERS: usize = MAX_ROOTS * MAX_FOLDERS;
/// Large folders that tools generate.
const SKIPPED_FOLDERS: &[&str] =
    &[".cache", ".git", ".gradle", ".next", ".tox", ".venv", "__pycache__", "node_modules", "target", "venv"];
/// A folder that changed this recently may change again without a new modification time.
const SETTLE_DELAY: Duration = Duration::from_millis(50);

/// What the folders of a workspace contain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct NestedPaths {
    /// Folders that contain a `.git`.
    pub(crate) trees: Vec<PathBuf>,
    /// Other protected files and folders.
    pub(crate) protected: Vec<PathBuf>,
}

/// The latest scan of each workspace.
#[derive(Debug)]
pub(crate) struct WorkspaceScans(Mutex<BoundedCache<PathBuf, WorkspaceScan>>);

impl Default for WorkspaceScans {
    fn default() -> Self {
        Self(Mutex::new(BoundedCache::new(MAX_ROOTS, MAX_CACHED_FOLDERS)))
    }
}

type WorkspaceScan = HashMap<PathBuf, ScannedFolder>;

#[derive(Debug)]
struct ScannedFolder {
    /// Device, inode and modification time.
    state: (u64, u64, i64, i64),
    is_settled: bool,
    entries: usize,
    inner: Vec<PathBuf>,
    found: NestedPaths,
}

impl WorkspaceScans {
    /// What the workspace contains now, within the bounds.
    pub(crate) fn nested(&self, root: &Path) -> NestedPaths {
        let mut known = self.0.lock().ignore_poison();
        let before = known.remove(root).unwrap_or_default();
        let (survey, nested) = scan(root, before);
        let folders = survey.len();
        known.insert(root.to_owned(), survey, folders);
        nested
    }
}

fn scan(root: &Path, mut before: WorkspaceScan) -> (WorkspaceScan, NestedPaths) {
    let (mut survey, mut nested) = (WorkspaceScan::new(), NestedPaths::default());
    let mut next = VecDeque::from([(root.to_owned(), 0)]);
    let mut entries = 0;
    while let Some((path, depth)) = next.pop_front() {
        let found = nested.trees.len() + nested.protected.len();
        if survey.len() >= MAX_FOLDERS || entries >= MAX_ENTRIES || found >= MAX_FOUND {
            break;
        }
        let Some(folder) = scan_folder(&path, depth == 0, before.remove(&path)) else { continue };
        entries += folder.entries;
        nested.trees.extend(folder.found.trees.iter().cloned());
        nested.protected.extend(folder.found.protected.iter().cloned());
        if depth < MAX_DEPTH {
            next.extend(folder.inner.iter().map(|inner| (inner.clone(), depth + 1)));
        }
        survey.insert(path, folder);
    }
    (survey, nested)
}

/// Returns `known` if the folder has not changed.
fn scan_folder(path: &Path, is_top: bool, known: Option<ScannedFolder>) -> Option<ScannedFolder> {
    let metadata = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_dir)?;
    let state = (metadata.dev(), metadata.ino(), metadata.mtime(), metadata.mtime_nsec());
    if let Some(known) = known.filter(|known| known.is_settled && known.state == state) {
        return Some(known);
    }
    let age = metadata.modified().ok().and_then(|at| SystemTime::now().duration_since(at).ok());
    let is_settled = age.is_some_and(|age| age > SETTLE_DELAY);
    let mut folder =
        ScannedFolder { state, is_settled, entries: 0, inner: Vec::new(), found: NestedPaths::default() };
    for entry in fs::read_dir(path).ok()?.filter_map(Result::ok).take(MAX_ENTRIES) {
        folder.entries += 1;
        let inner = entry.path();
        let name = entry.file_name();
        if name == ".git" && !is_top {
            folder.found.trees.push(path.to_owned());
        } else if name != ".git" && is_protected(path.parent().unwrap_or(path), &inner) {
            folder.found.protected.push(inner);
        } else if entry.file_type().is_ok_and(|kind| kind.is_dir())
            && !SKIPPED_FOLDERS.iter().any(|skipped| name == *skipped)
        {
            folder.inner.push(inner);
        }
    }
    Some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make(root: &Path, files: &[&str]) {
        for file in files {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), "").unwrap();
        }
    }

    fn found(surveys: &WorkspaceScans, root: &Path) -> Vec<String> {
        let NestedPaths { trees, protected } = surveys.nested(root);
        let names = trees.iter().chain(&protected).filter_map(|path| path.strip_prefix(root).ok());
        let mut names: Vec<String> = names.map(|name| name.display().to_string()).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn files_and_repositories_are_found_within_bounds_and_again_after_a_change() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        make(
            root,
            &["a/AGENTS.md", "a/b/.env", "a/b/notes.txt", "lib/.git/config", "tree/.git", ".git/config"],
        );
        make(root, &["node_modules/x/.env", "target/AGENTS.md", "a/.github/workflows/ci.yml", "a/.github/x"]);
        make(root, &["1/2/3/4/5/6/AGENTS.md", "1/2/3/4/5/6/7/AGENTS.md"]);
        let surveys = WorkspaceScans::default();
        let mut expected =
            ["1/2/3/4/5/6/AGENTS.md", "a/.github/workflows", "a/AGENTS.md", "a/b/.env", "lib", "tree"]
                .to_vec();
        assert_eq!(found(&surveys, root), expected);
        make(root, &["a/b/CLAUDE.md"]);
        fs::remove_dir_all(root.join("lib")).unwrap();
        expected.retain(|name| *name != "lib");
        expected.insert(4, "a/b/CLAUDE.md");
        assert_eq!(found(&surveys, root), expected);
        assert_eq!(found(&surveys, root), expected);
        for number in 0..2 * MAX_FOUND {
            make(root, &[&format!("many/{number}/.env")]);
        }
        assert!(found(&surveys, root).len() <= MAX_FOUND + 8);
    }
}
