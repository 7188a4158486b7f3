//! The files that a mentioned folder stands for.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use attache_domain::IgnorePoison;
use attache_tool::{ToolError, Workspace};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use ignore::{DirEntry, WalkState};

use crate::ignore_rules::IgnoreSelection;
use crate::walk::{Walk, WalkDeadline};

/// Build output, editor files, secrets, context files and binary files.
const EXCLUDED: &[&str] = &[
    "**/{.vscode,.idea,dist,build,coverage,__pycache__}/**",
    "**/*.{pyc,pyo,bin,exe,dll,so,dylib,class,jar,war,o,a,wasm}",
    "**/*.{zip,tar,gz,bz2,xz,zst,rar,7z,tgz}",
    "**/*.{doc,docx,xls,xlsx,ppt,pptx,odt,ods,odp}",
    "**/.DS_Store",
    "**/.env",
    "**/GEMINI.md",
];

/// The files in `folder` that are neither ignored nor excluded, by path.
pub(super) fn files_in(
    workspace: &Workspace,
    folder: &Path,
    stop: &WalkDeadline,
) -> Result<Vec<PathBuf>, ToolError> {
    let excluded = excluded()
        .map_err(|error| ToolError::bad_input(format!("the files of a folder cannot be chosen: {error}")))?;
    let chosen = Mutex::new(Vec::new());
    Walk::new(workspace, folder, IgnoreSelection::ALL, stop)?.run(|| {
        |entry: &DirEntry| {
            let Ok(below) = entry.path().strip_prefix(folder) else { return WalkState::Continue };
            if entry.file_type().is_some_and(|kind| kind.is_file()) && !excluded.is_match(below) {
                chosen.lock().ignore_poison().push(entry.path().to_owned());
            }
            WalkState::Continue
        }
    });
    let mut files = chosen.into_inner().ignore_poison();
    files.sort_unstable();
    Ok(files)
}

fn excluded() -> Result<GlobSet, globset::Error> {
    let mut set = GlobSetBuilder::new();
    for pattern in EXCLUDED {
        // A folder of such a name is excluded with everything in it.
        for pattern in [format!("{pattern}/**"), (*pattern).to_owned()] {
            set.add(GlobBuilder::new(&pattern).literal_separator(true).case_insensitive(true).build()?);
        }
    }
    set.build()
}
