//! Finds the command files below a folder, in a fixed order and within bounds.

use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

use super::{CommandFileProblem, CustomSource, shown};
use crate::name;

const MAX_DEPTH: usize = 8;
const MAX_FILES: usize = 1_000;
/// Files and folders that are examined, of any kind.
const MAX_ENTRIES: usize = 10_000;

/// A file, and the name of the command that it makes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FoundFile {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    /// Where it really is, with every link followed.
    pub(crate) real_path: PathBuf,
    pub(crate) within: PathBuf,
}

/// The files whose names end in `.toml`, but for hidden ones.
pub(crate) fn files(source: &CustomSource, problems: &mut Vec<CommandFileProblem>) -> Vec<FoundFile> {
    let top = match fs::canonicalize(&source.folder) {
        Ok(top) => top,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => {
            problems.push(unreadable(&source.folder, &error));
            return Vec::new();
        }
    };
    let within = source.within.as_ref().map_or_else(|| Ok(top.clone()), fs::canonicalize);
    let within = match within {
        Ok(within) => within,
        Err(error) => {
            problems.push(unreadable(&source.folder, &error));
            return Vec::new();
        }
    };
    let mut search = Search { within, problems, files: Vec::new(), entries: 0, open: Vec::new() };
    if search.may_be_at(&source.folder, &top) {
        search.look_into(&source.folder, top, &[]);
    }
    search.files
}

struct Search<'a> {
    within: PathBuf,
    problems: &'a mut Vec<CommandFileProblem>,
    files: Vec<FoundFile>,
    entries: usize,
    /// The folders that are being looked into: a link to one of them leads in circles.
    open: Vec<PathBuf>,
}

impl Search<'_> {
    fn look_into(&mut self, path: &Path, real_path: PathBuf, names: &[String]) {
        if self.open.len() == MAX_DEPTH {
            let what = format!("it lies more than {MAX_DEPTH} folders deep; move it up");
            return self.problem(path, what);
        }
        if self.open.contains(&real_path) {
            return self.problem(path, "it is a link that leads in a circle; take it away".into());
        }
        let entries = match self.entries_of(path, &real_path) {
            Ok(entries) => entries,
            Err(error) => return self.problems.push(unreadable(path, &error)),
        };
        self.open.push(real_path);
        for entry in entries {
            self.look_at(&path.join(entry.file_name()), &entry, names);
        }
        self.open.pop();
    }

    /// Sorted by name, up to the limit.
    fn entries_of(&mut self, path: &Path, real_path: &Path) -> io::Result<Vec<DirEntry>> {
        let left = MAX_ENTRIES - self.entries;
        let mut entries: Vec<DirEntry> =
            fs::read_dir(real_path)?.take(left + 1).collect::<io::Result<_>>()?;
        if entries.len() > left {
            entries.truncate(left);
            let what = format!("there are more than {MAX_ENTRIES} files and folders; the rest is left out");
            self.problem(path, what);
        }
        self.entries += entries.len();
        entries.sort_by_key(DirEntry::file_name);
        Ok(entries)
    }

    fn look_at(&mut self, path: &Path, entry: &DirEntry, names: &[String]) {
        let file_name = entry.file_name();
        let Some(file_name) = file_name.to_str() else {
            return self.problem(path, "its name is not UTF-8; rename it".into());
        };
        let Ok(file_type) = entry.file_type() else { return };
        let stem = file_name.strip_suffix(".toml");
        if file_name.starts_with('.') || (stem.is_none() && file_type.is_file()) {
            return;
        }
        let real_path = match fs::canonicalize(path) {
            Ok(real_path) => real_path,
            Err(error) => return self.problems.push(unreadable(path, &error)),
        };
        if !self.may_be_at(path, &real_path) {
            return;
        }
        let is_folder = real_path.is_dir();
        match stem {
            _ if is_folder => self.look_into(path, real_path, &with(names, file_name)),
            Some(stem) => self.take(path, real_path, &with(names, stem)),
            None => {}
        }
    }

    fn take(&mut self, path: &Path, real_path: PathBuf, names: &[String]) {
        if self.files.len() == MAX_FILES {
            return self.problem(path, format!("there are {MAX_FILES} commands already; have fewer"));
        }
        let name = names.join(":");
        match name::check(&name) {
            Ok(()) => {
                let (path, within) = (path.to_owned(), self.within.clone());
                self.files.push(FoundFile { name, path, real_path, within });
            }
            Err(what) => self.problem(path, format!("{what}; rename the file")),
        }
    }

    fn may_be_at(&mut self, path: &Path, real_path: &Path) -> bool {
        let inside = real_path.starts_with(&self.within);
        if !inside {
            let what = format!("it leads out of {}; put the file itself there", shown(&self.within));
            self.problem(path, what);
        }
        inside
    }

    fn problem(&mut self, path: &Path, what: String) {
        self.problems.push(CommandFileProblem { path: path.to_owned(), what });
    }
}

/// A colon stands between folders, so one in a name is written as `_`.
fn with(names: &[String], name: &str) -> Vec<String> {
    names.iter().cloned().chain([name.replace(':', "_")]).collect()
}

fn unreadable(path: &Path, error: &io::Error) -> CommandFileProblem {
    CommandFileProblem { path: path.to_owned(), what: format!("it cannot be read: {error}") }
}
