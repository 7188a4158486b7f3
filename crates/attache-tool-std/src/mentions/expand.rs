//! Reads the files and folders that a prompt mentions.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use attache_domain::Content;
use attache_tool::{ToolContext, ToolError, ToolErrorKind, Workspace};

use super::{Mention, find_mentions};
use crate::ignore_rules::{IgnoreRules, IgnoreSelection};
use crate::read_many_files::{FileSelection, FilesReport, SelectedFile};
use crate::read_only::{blocking, cancelled, root_of};
use crate::walk::{WALK_TIMEOUT, WalkDeadline};
use crate::workspace::locate;

const FIRST_LINE: &str = "--- Content from referenced files ---";

/// What is added to a prompt, and notes about it.
#[derive(Debug, Default, PartialEq)]
pub struct Expansion {
    /// The files with their names, between a first and a last line. Empty if nothing was read.
    pub contents: Vec<Content>,
    /// For people: what is missing, and why.
    pub notes: Vec<String>,
    /// Mentions that are clearly paths but cannot be read.
    pub unresolved: Vec<UnresolvedMention>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnresolvedMention {
    pub mention: Mention,
    /// `path_not_in_workspace` if a person could allow it, `file_not_found` if it does not exist.
    pub error: ToolError,
}

/// Reads what `text` mentions, if it is inside the workspace and not ignored. A folder means all its files that
/// `read_many_files` would read.
pub async fn expand(text: &str, context: &ToolContext) -> Result<Expansion, ToolError> {
    let mentions = find_mentions(text);
    if mentions.is_empty() {
        return Ok(Expansion::default());
    }
    let (workspace, cancel) = (context.workspace.clone(), context.cancel.clone());
    blocking(move || {
        let stop = WalkDeadline::after(WALK_TIMEOUT, cancel);
        let mut gathered = MentionReader {
            workspace: &workspace,
            stop: &stop,
            files: Vec::new(),
            places: HashMap::new(),
            expanded: Expansion::default(),
        };
        for mention in mentions {
            gathered.take(mention)?;
        }
        gathered.read()
    })
    .await
}

struct MentionReader<'call> {
    workspace: &'call Workspace,
    stop: &'call WalkDeadline,
    files: Vec<SelectedFile>,
    /// Indexes into the list of files.
    places: HashMap<PathBuf, usize>,
    expanded: Expansion,
}

impl MentionReader<'_> {
    fn take(&mut self, mention: Mention) -> Result<(), ToolError> {
        if self.stop.is_due() {
            self.stop.check_end()?;
            let note = format!("@{} was left out: looking for files took too long", mention.path);
            self.expanded.notes.push(note);
            return Ok(());
        }
        let found = locate(self.workspace, &mention.path).and_then(|place| place.resolve());
        let path = match found {
            Ok(path) => path,
            Err(error) => {
                let is_word = error.kind == ToolErrorKind::FileNotFound && !mention.plainly_a_path;
                if !is_word && !matches!(error.kind, ToolErrorKind::InvalidToolParams) {
                    self.expanded.unresolved.push(UnresolvedMention { mention, error });
                }
                return Ok(());
            }
        };
        let is_folder = path.is_dir();
        if IgnoreRules::new(self.workspace, root_of(self.workspace, &path), IgnoreSelection::ALL)
            .hides(&path, is_folder)
        {
            let note = format!("@{} was left out: the project ignores it", mention.path);
            self.expanded.notes.push(note);
        } else if is_folder {
            self.take_folder(&mention, &path)?;
        } else {
            self.add(SelectedFile { path, by_name: true });
        }
        Ok(())
    }

    fn take_folder(&mut self, mention: &Mention, folder: &Path) -> Result<(), ToolError> {
        let mut found =
            FileSelection::everything()?.files(self.workspace, folder, Default::default(), self.stop)?;
        if self.stop.check_end()? {
            self.expanded.notes.push(format!("@{} is too large to be looked through whole", mention.path));
        }
        if found.is_empty() {
            self.expanded.notes.push(format!("@{} has no files to read", mention.path));
        }
        found.sort_unstable();
        found.into_iter().for_each(|file| self.add(file));
        Ok(())
    }

    fn add(&mut self, file: SelectedFile) {
        match self.places.get(&file.path) {
            Some(place) => self.files[*place].by_name |= file.by_name,
            None => {
                self.places.insert(file.path.clone(), self.files.len());
                self.files.push(file);
            }
        }
    }

    fn read(self) -> Result<Expansion, ToolError> {
        let Self { workspace, stop, files, mut expanded, .. } = self;
        let mut answer = FilesReport::beginning_with(FIRST_LINE);
        for file in files {
            if stop.is_due() && stop.check_end().is_err() {
                return Err(cancelled());
            }
            answer.add(workspace, file);
        }
        let (skipped, more) = answer.skipped();
        expanded.notes.extend(skipped.map(|(name, why)| format!("{name} was left out: {why}")));
        if more > 0 {
            expanded.notes.push(format!("{more} more files were left out"));
        }
        expanded.contents = answer.into_content();
        Ok(expanded)
    }
}
