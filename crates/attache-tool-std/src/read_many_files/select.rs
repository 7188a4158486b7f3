//! Selects the files to read.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use attache_domain::IgnorePoison;
use attache_tool::{ToolError, Workspace, check_glob};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use ignore::{DirEntry, WalkState};

use super::Input;
use crate::ignore_rules::FileFiltering;
use crate::path_pattern::PathPattern;
use crate::walk::{NEVER_ENTERED, VERSION_CONTROL, Walk, WalkDeadline};

/// Build output, editor files, secrets, context files and binary files.
const DEFAULT_EXCLUDES: &[&str] = &[
    "**/{.vscode,.idea,dist,build,coverage,__pycache__}/**",
    "**/*.{pyc,pyo,bin,exe,dll,so,dylib,class,jar,war,o,a,wasm}",
    "**/*.{zip,tar,gz,bz2,xz,zst,rar,7z,tgz}",
    "**/*.{doc,docx,xls,xlsx,ppt,pptx,odt,ods,odp}",
    "**/.DS_Store",
    "**/.env",
    "**/GEMINI.md",
];

/// The files that a call selects.
pub(crate) struct FileSelection {
    include: Vec<PathPattern>,
    /// The patterns in lower case. Media files are read only if a pattern names them.
    written: Vec<String>,
    exclude: GlobSet,
    never_entered: &'static [&'static str],
}

/// A file to read.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SelectedFile {
    pub(crate) path: PathBuf,
    /// A pattern names it or its extension.
    pub(crate) by_name: bool,
}

impl FileSelection {
    pub(super) fn new(input: &Input) -> Result<Self, ToolError> {
        let mut include = Vec::new();
        for pattern in &input.include {
            let pattern = pattern.trim_end_matches('/');
            // A plain path may be a file or a folder; the walk finds out.
            for pattern in [pattern.to_owned(), format!("{pattern}/**")] {
                let pattern = if input.recursive { pattern } else { flat(&pattern) };
                include.push(PathPattern::new("read_many_files", "include", &pattern, false)?);
            }
        }
        let own = input.exclude.iter().map(String::as_str);
        let default = DEFAULT_EXCLUDES.iter().copied().filter(|_| input.use_default_excludes);
        Ok(Self {
            include,
            written: input.include.iter().map(|pattern| pattern.to_lowercase()).collect(),
            exclude: excludes(own.chain(default))?,
            never_entered: if input.use_default_excludes { NEVER_ENTERED } else { VERSION_CONTROL },
        })
    }

    /// Everything except the default excludes.
    pub(crate) fn everything() -> Result<Self, ToolError> {
        Self::new(&Input {
            include: vec!["**".to_owned()],
            exclude: Vec::new(),
            recursive: true,
            use_default_excludes: true,
            file_filtering_options: FileFiltering::default(),
        })
    }

    pub(crate) fn files(
        &self,
        workspace: &Workspace,
        root: &Path,
        filtering: FileFiltering,
        stop: &WalkDeadline,
    ) -> Result<Vec<SelectedFile>, ToolError> {
        let chosen = Mutex::new(Vec::new());
        let walk =
            Walk::new(workspace, root, filtering.selection(), stop)?.never_entering(self.never_entered);
        walk.run(|| {
            |entry: &DirEntry| {
                let Ok(below) = entry.path().strip_prefix(root) else { return WalkState::Continue };
                if entry.file_type().is_some_and(|kind| kind.is_dir()) {
                    let enter = self.include.iter().any(|pattern| pattern.may_match_in(below));
                    return if enter { WalkState::Continue } else { WalkState::Skip };
                }
                let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
                let included = is_file && self.include.iter().any(|pattern| pattern.matches(below));
                if included && !self.exclude.is_match(below) {
                    let path = entry.path().to_owned();
                    let file = SelectedFile { by_name: self.is_named(&path), path };
                    chosen.lock().ignore_poison().push(file);
                }
                WalkState::Continue
            }
        });
        Ok(chosen.into_inner().ignore_poison())
    }

    /// Whether the last part of a pattern contains the file's extension or the start of its name.
    fn is_named(&self, path: &Path) -> bool {
        let lower =
            |name: Option<&OsStr>| name.map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        let (name, extension) = (lower(path.file_name()), lower(path.extension()));
        self.written.iter().any(|pattern| {
            let last = pattern.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            let start = last.split(['*', '?', '[', '{']).next().unwrap_or_default();
            let by_start = !start.is_empty() && name.starts_with(start);
            by_start || !extension.is_empty() && last.contains(&extension) && last.contains('.')
        })
    }
}

/// The pattern without a trailing `/**`.
fn flat(pattern: &str) -> String {
    let pattern = pattern.replace("**/", "");
    pattern.replace("**", "*")
}

fn excludes<'pattern>(patterns: impl Iterator<Item = &'pattern str>) -> Result<GlobSet, ToolError> {
    let wrong =
        |error: globset::Error| ToolError::bad_input(format!("read_many_files: \"exclude\": {error}"));
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        check_glob(pattern)
            .map_err(|why| ToolError::bad_input(format!("read_many_files: \"exclude\": {why}")))?;
        // As in `.gitignore`, a name matches in any folder, and a folder matches everything in it.
        let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
        let pattern = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
        for pattern in [format!("{pattern}/**"), pattern] {
            let glob = GlobBuilder::new(&pattern).literal_separator(true).case_insensitive(true).build();
            set.add(glob.map_err(wrong)?);
        }
    }
    set.build().map_err(wrong)
}
