//! Opens many files below one root and keeps the root's handle.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use attache_tool::{ToolError, Workspace};

use crate::workspace::locate_resolved;

pub(crate) struct FileOpener<'walk> {
    workspace: &'walk Workspace,
    root: PathBuf,
    handle: OwnedFd,
}

impl<'walk> FileOpener<'walk> {
    pub(super) fn new(workspace: &'walk Workspace, root: &Path) -> Result<Self, ToolError> {
        let handle = locate_resolved(workspace, root)?.open_directory()?;
        Ok(Self { workspace, root: root.to_owned(), handle })
    }

    /// Opens a file of the walk. No part of its path may be a link.
    pub(crate) fn open(&self, path: &Path) -> Result<File, ToolError> {
        let below = path.strip_prefix(&self.root).ok().filter(|below| !below.as_os_str().is_empty());
        match below.and_then(|below| self.open_at_once(below)) {
            Some(file) => Ok(file),
            // The slow way works everywhere and has better errors.
            None => locate_resolved(self.workspace, path)?.open_file(),
        }
    }

    #[cfg(target_os = "linux")]
    fn open_at_once(&self, below: &Path) -> Option<File> {
        use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};

        // Without NONBLOCK, a pipe in place of the file would block the search.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        openat2(&self.handle, below, flags, Mode::empty(), resolve).ok().map(File::from)
    }

    #[cfg(not(target_os = "linux"))]
    fn open_at_once(&self, _: &Path) -> Option<File> {
        let _ = &self.handle;
        None
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_folder_or_file_that_became_a_link_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        let (root, outside) = (real.join("root"), real.join("outside"));
        for folder in [root.join("plain"), outside.clone()] {
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("file"), "text").unwrap();
        }
        symlink(&outside, root.join("out")).unwrap();
        symlink("plain", root.join("in")).unwrap();
        symlink("plain/file", root.join("link")).unwrap();
        let workspace = Workspace {
            roots: vec![root.clone()],
            scratch: real.join("scratch"),
            environment: Vec::new(),
            ignore: Default::default(),
        };
        let opener = FileOpener::new(&workspace, &root).unwrap();

        let mut text = String::new();
        opener.open(&root.join("plain/file")).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "text");
        for name in ["out/file", "in/file", "link", "plain/missing", "../outside/file"] {
            assert!(opener.open(&root.join(name)).is_err(), "{name}");
        }
        assert!(opener.open(&outside.join("file")).is_err());
    }
}
