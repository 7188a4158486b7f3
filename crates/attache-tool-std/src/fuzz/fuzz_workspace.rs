//! A workspace for tools, with a file beside it that no tool may read.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

use attache_domain::{Base64, Content};
use attache_tool::{IgnoreSources, ToolOutput, Workspace};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The content of the file outside the workspace.
pub(super) const OUTSIDE: &[u8] = b"n0body-sees-this";

pub(super) struct FuzzWorkspace {
    /// The path without links.
    folder: PathBuf,
}

impl FuzzWorkspace {
    /// Creates it in this folder; existing files stay unchanged.
    pub(super) fn at(folder: &Path) -> Self {
        fs::create_dir_all(folder).expect("a folder");
        let folder = folder.canonicalize().expect("the real path of a folder");
        let workspace = Self { folder };
        if !workspace.folder.join("outside/file").exists() {
            workspace.write_files().expect("files in a folder of our own");
        }
        workspace
    }

    fn write_files(&self) -> io::Result<()> {
        for name in ["project/src", "project/empty", "second", "scratch", "outside"] {
            fs::create_dir_all(self.folder.join(name))?;
        }
        let project = self.folder.join("project");
        fs::write(project.join("a.txt"), "one\ntwo\r\nthree\n")?;
        fs::write(project.join("src/b.rs"), "fn b() {\n    c();\n}\n")?;
        fs::write(project.join("GEMINI.md"), "## Gemini Added Memories\n- a\n")?;
        fs::write(project.join("bytes"), [0, 159, 146, 150])?;
        // A file name that is not UTF-8.
        fs::write(project.join(OsStr::from_bytes(b"caf\xe9")), "é\n")?;
        fs::write(self.folder.join("second/c.txt"), "three\n")?;
        for (name, target) in [
            ("link", OsStr::new("src/b.rs")),
            ("folder", OsStr::new("src")),
            ("odd", OsStr::from_bytes(b"caf\xe9")),
            ("out", OsStr::new("../outside/file")),
            ("up", OsStr::new("..")),
            ("loop", OsStr::new("loop")),
        ] {
            match symlink(target, project.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
        }
        fs::write(self.folder.join("outside/file"), OUTSIDE)
    }

    pub(super) fn workspace(&self) -> Workspace {
        Workspace {
            roots: vec![self.folder.join("project"), self.folder.join("second")],
            scratch: self.folder.join("scratch"),
            environment: Vec::new(),
            ignore: IgnoreSources::default(),
        }
    }

    /// All files, with size and modification time.
    pub(super) fn listed(&self) -> Vec<(PathBuf, u64, SystemTime)> {
        let mut listed = Vec::new();
        let mut folders = vec![self.folder.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder of our own") {
                let path = entry.expect("an entry of a folder of our own").path();
                let metadata = path.symlink_metadata().expect("what is listed is there");
                if metadata.is_dir() {
                    folders.push(path.clone());
                }
                listed.push((path, metadata.len(), metadata.modified().expect("a time")));
            }
        }
        listed.sort_unstable();
        listed
    }
}

/// Everything that a model and a person get of a result.
pub(super) fn all_text(output: &ToolOutput) -> String {
    let decoded = |bytes: &Base64| {
        let bytes = STANDARD.decode(&bytes.0).expect("bytes are given as base64");
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let content = output.content.iter().map(|content| match content {
        Content::Text(text) => text.clone(),
        Content::Bytes { bytes, .. } => decoded(bytes),
        Content::Link { .. } => String::new(),
    });
    let files = output.files.iter().map(|file| decoded(&file.bytes));
    content.chain(files).chain([output.summary.clone()]).collect::<Vec<_>>().join("\n")
}
