//! Gives rulings access to the files of a workspace.

use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use attache_tool::Workspace;
use attache_tool::ruling::FileLookup;

use crate::ignore_rules::{IgnoreRules, IgnoreSelection};

/// The longest chain of links.
const MAX_LINKS: usize = 40;
/// Larger repository settings are not read.
const MAX_BYTES: u64 = 256 * 1024;

/// The files of one workspace.
#[derive(Debug, Clone)]
pub struct WorkspaceFiles {
    workspace: Workspace,
}

impl WorkspaceFiles {
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }
}

impl FileLookup for WorkspaceFiles {
    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        resolve(path, MAX_LINKS)
    }

    fn is_ignored(&self, path: &Path) -> bool {
        let root = self.workspace.roots.iter().find(|root| path.starts_with(root));
        root.is_some_and(|root| {
            IgnoreRules::new(&self.workspace, root, IgnoreSelection::ALL).hides(path, path.is_dir())
        })
    }

    fn read(&self, path: &Path) -> Option<String> {
        // Reading a pipe or device could block.
        let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let mut bytes = Vec::new();
        let file = fs::File::open(path).ok()?;
        file.take(MAX_BYTES.min(metadata.len())).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Follows links as far as the path exists, including dangling links.
fn resolve(path: &Path, links: usize) -> Option<PathBuf> {
    for start in path.ancestors() {
        let rest = path.strip_prefix(start).ok()?;
        match fs::canonicalize(start) {
            Ok(real) => {
                let plain = rest.components().all(|part| matches!(part, Component::Normal(_)));
                return plain.then(|| extended(real, rest));
            }
            Err(error) if is_missing(&error) => {
                if let Ok(target) = fs::read_link(start) {
                    let target = extended(start.parent()?.join(target), rest);
                    return resolve(&target, links.checked_sub(1)?);
                }
            }
            Err(_) => return None,
        }
    }
    None
}

/// Joining an empty path would add a slash.
fn extended(path: PathBuf, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() { path } else { path.join(rest) }
}

/// Whether the file does not exist or cannot exist.
fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::InvalidFilename
            | io::ErrorKind::InvalidInput
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_followed_also_when_they_lead_to_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let root = base.join("work");
        fs::create_dir_all(root.join("src")).unwrap();
        fs::write(root.join("a"), "").unwrap();
        fs::write(base.join("key"), "").unwrap();
        symlink(base.join("key"), root.join("notes")).unwrap();
        symlink("../missing", root.join("todo")).unwrap();
        symlink("todo", root.join("again")).unwrap();
        symlink("round", root.join("round")).unwrap();
        symlink("src", root.join("near")).unwrap();
        for (name, expected) in [
            ("a", Some(root.join("a"))),
            ("new/file", Some(root.join("new/file"))),
            ("a/below", Some(root.join("a/below"))),
            ("notes", Some(base.join("key"))),
            ("src/../notes", Some(base.join("key"))),
            ("todo", Some(base.join("missing"))),
            ("again", Some(base.join("missing"))),
            ("again/x", Some(base.join("missing/x"))),
            ("near/x", Some(root.join("src/x"))),
            ("new/../../x", None),
            ("round", None),
        ] {
            assert_eq!(resolve(&root.join(name), MAX_LINKS), expected, "{name}");
        }
        assert_eq!(resolve(&root.join("x".repeat(300)), MAX_LINKS), Some(root.join("x".repeat(300))));
    }

    #[test]
    fn ignore_rules_of_the_workspace_count() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::write(root.join(".gitignore"), ".env\n").unwrap();
        fs::write(root.join(".geminiignore"), "private/\n").unwrap();
        fs::create_dir(root.join("private")).unwrap();
        let workspace = Workspace {
            roots: vec![root.clone()],
            scratch: root.clone(),
            environment: Vec::new(),
            ignore: Default::default(),
        };
        let files = WorkspaceFiles::new(workspace);
        for (name, expected) in [(".env", true), ("private", true), ("private/x", true), ("a", false)] {
            assert_eq!(files.is_ignored(&root.join(name)), expected, "{name}");
        }
        assert_eq!(files.read(&root.join(".gitignore")).as_deref(), Some(".env\n"));
        assert_eq!(files.read(&root), None);
    }
}
