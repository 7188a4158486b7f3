//! Reads the files and folders that a prompt mentions.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use attache_domain::Content;
use attache_tool::{ToolContext, ToolError, Workspace};

use super::folder::files_in;
use super::report::{FilesReport, SelectedFile};
use super::{Mention, find_mentions};
use crate::ignore_rules::{IgnoreRules, IgnoreSelection};
use crate::read_only::{blocking, cancelled, root_of};
use crate::walk::{WALK_TIMEOUT, WalkDeadline};
use crate::workspace::locate;

/// What is added to a prompt, and notes about it.
#[derive(Debug, Default, PartialEq)]
pub struct Expansion {
    /// The files with their names, between a first and a last line. Empty if nothing was read.
    pub contents: Vec<Content>,
    /// For people: what is missing, and why.
    pub notes: Vec<String>,
}

/// Reads what `text` mentions, if it is inside the workspace and not ignored. A folder means all its files that are
/// neither ignored nor excluded.
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
        // It may be a word.
        let Ok(path) = found else { return Ok(()) };
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
        let found = files_in(self.workspace, folder, self.stop)?;
        if self.stop.check_end()? {
            self.expanded.notes.push(format!("@{} is too large to be looked through whole", mention.path));
        }
        if found.is_empty() {
            self.expanded.notes.push(format!("@{} has no files to read", mention.path));
        }
        found.into_iter().for_each(|path| self.add(SelectedFile { path, by_name: false }));
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
        let mut answer = FilesReport::default();
        for file in files {
            if stop.is_due() && stop.check_end().is_err() {
                return Err(cancelled());
            }
            answer.add(workspace, &file);
        }
        expanded.notes.extend(answer.notes());
        expanded.contents = answer.into_content();
        Ok(expanded)
    }
}
