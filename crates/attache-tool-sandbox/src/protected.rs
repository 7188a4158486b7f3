//! Finds the protected paths of a workspace. Existing ones are mounted read-only; missing ones are checked after the
//! command has ended.

use std::fs;
use std::path::{Path, PathBuf};

use attache_tool::protected_files;

use crate::git::git_paths;
use crate::workspace_scan::WorkspaceScans;

/// The protected paths of a command at level work.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Protection {
    /// Git folders outside the workspace that belong to it and are writable.
    pub(crate) writes: Vec<PathBuf>,
    /// Paths that exist.
    pub(crate) read_only: Vec<PathBuf>,
    /// Paths that do not exist or are links. They must not change.
    pub(crate) watched: Vec<WatchedPath>,
}

/// A path that cannot be a mount point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WatchedPath {
    pub(crate) root: PathBuf,
    pub(crate) path: PathBuf,
    /// The target, if it is a link.
    pub(crate) target: Option<PathBuf>,
}

/// Finds them in all roots and their folders, except the paths in `allowed`, which the approval names.
pub(crate) fn protection(roots: &[PathBuf], allowed: &[PathBuf], surveys: &WorkspaceScans) -> Protection {
    let mut found = Protection::default();
    for root in roots {
        let git = git_paths(root);
        let outside = git.writes.into_iter().filter(|path| !roots.iter().any(|root| path.starts_with(root)));
        found.writes.extend(outside);
        let nested = surveys.nested(root);
        // Git folders of nested repositories outside the workspace stay read-only.
        let trees = nested.trees.iter().flat_map(|tree| git_paths(tree).protected);
        let own = protected_files().map(|name| root.join(name)).chain(environment_files(root));
        let writable: Vec<PathBuf> = roots.iter().chain(&found.writes).cloned().collect();
        for path in own.chain(git.protected).chain(nested.protected).chain(trees) {
            if !allowed.iter().any(|allowed| path.starts_with(allowed)) {
                found.add(path, &writable);
            }
        }
    }
    found.read_only.sort_unstable();
    found.read_only.dedup();
    found.watched.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    found.watched.dedup();
    found
}

impl Protection {
    /// `writable` are the writable folders of the command.
    fn add(&mut self, path: PathBuf, writable: &[PathBuf]) {
        let Some(root) = writable.iter().find(|folder| path.starts_with(folder) && path != **folder) else {
            return;
        };
        let link = first_link(root, &path);
        match link {
            None if path.symlink_metadata().is_ok() => self.read_only.push(path),
            None => self.watched.push(WatchedPath { root: root.clone(), path, target: None }),
            // The link must not change, and its target is protected instead.
            Some(link) => {
                let target = fs::read_link(&link).ok();
                let leads_to = resolve_target(&path);
                self.watched.push(WatchedPath { root: root.clone(), path: link, target });
                if let Some(real) = leads_to.filter(|real| *real != path) {
                    self.add(real, writable);
                }
            }
        }
    }
}

/// The first component below the root that is a link.
fn first_link(root: &Path, path: &Path) -> Option<PathBuf> {
    let mut at = root.to_owned();
    for component in path.strip_prefix(root).ok()?.components() {
        at.push(component);
        if at.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink()) {
            return Some(at);
        }
    }
    None
}

/// Resolves the links of a path. The part that does not exist stays unchanged.
fn resolve_target(path: &Path) -> Option<PathBuf> {
    if let Ok(real) = path.canonicalize() {
        return Some(real);
    }
    let (parent, name) = (path.parent()?, path.file_name()?);
    match fs::read_link(path) {
        // A link to what does not exist yet.
        Ok(target) => {
            let target = parent.join(target);
            Some(target.parent()?.canonicalize().ok()?.join(target.file_name()?))
        }
        Err(_) => Some(resolve_target(parent)?.join(name)),
    }
}

/// Files such as `.env.local`. Examples contain no secrets.
fn environment_files(root: &Path) -> Vec<PathBuf> {
    const EXAMPLES: &[&str] = &["example", "sample", "template", "dist"];
    let Ok(entries) = fs::read_dir(root) else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let names = names.filter(|name| name.strip_prefix(".env.").is_some_and(|end| !EXAMPLES.contains(&end)));
    names.map(|name| root.join(name)).collect()
}
