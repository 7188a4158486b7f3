//! The content of what a prompt mentions.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use attache_domain::Content;
use attache_tool::{ErrorKind, ToolContext, ToolError, Workspace};

use super::{Mention, find_mentions};
use crate::ignoring::{Ignoring, Respected};
use crate::looking::{blocking, cancelled, root_of};
use crate::read_many_files::{Answer, Choice, Chosen};
use crate::walk::{Stop, TIME_LIMIT};
use crate::workspace::locate;

const BEGINNING: &str = "--- Content from referenced files ---";

/// What comes after a prompt, and what is to be said about it.
#[derive(Debug, Default, PartialEq)]
pub struct Expanded {
    /// Between a beginning and an end mark, each file under its name; empty when nothing was read.
    pub contents: Vec<Content>,
    /// For people: what was left out, and why.
    pub notes: Vec<String>,
    /// Plainly meant as paths, and not to be read as they are.
    pub unresolved: Vec<Unresolved>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unresolved {
    pub mention: Mention,
    /// `path_not_in_workspace` where a person could be asked, `file_not_found` where there is nothing.
    pub error: ToolError,
}

/// Reads what `text` mentions. Only what is inside the workspace and not ignored is read; folders stand for all in
/// them that `read_many_files` would read.
pub async fn expand(text: &str, context: &ToolContext) -> Result<Expanded, ToolError> {
    let mentions = find_mentions(text);
    if mentions.is_empty() {
        return Ok(Expanded::default());
    }
    let (workspace, cancel) = (context.workspace.clone(), context.cancel.clone());
    blocking(move || {
        let stop = Stop::after(TIME_LIMIT, cancel);
        let mut gathered = Gathered {
            workspace: &workspace,
            stop: &stop,
            files: Vec::new(),
            places: HashMap::new(),
            expanded: Expanded::default(),
        };
        for mention in mentions {
            gathered.take(mention)?;
        }
        gathered.read()
    })
    .await
}

struct Gathered<'call> {
    workspace: &'call Workspace,
    stop: &'call Stop,
    files: Vec<Chosen>,
    /// Where in the list each of them is.
    places: HashMap<PathBuf, usize>,
    expanded: Expanded,
}

impl Gathered<'_> {
    fn take(&mut self, mention: Mention) -> Result<(), ToolError> {
        if self.stop.is_due() {
            self.stop.was_late()?;
            let note = format!("@{} was left out: looking for files took too long", mention.path);
            self.expanded.notes.push(note);
            return Ok(());
        }
        let found = locate(self.workspace, &mention.path).and_then(|place| place.resolve());
        let path = match found {
            Ok(path) => path,
            Err(error) => {
                let is_word = error.kind == ErrorKind::FileNotFound && !mention.plainly_a_path;
                if !is_word && !matches!(error.kind, ErrorKind::InvalidToolParams) {
                    self.expanded.unresolved.push(Unresolved { mention, error });
                }
                return Ok(());
            }
        };
        let is_folder = path.is_dir();
        if Ignoring::new(self.workspace, root_of(self.workspace, &path), Respected::ALL)
            .hides(&path, is_folder)
        {
            let note = format!("@{} was left out: the project ignores it", mention.path);
            self.expanded.notes.push(note);
        } else if is_folder {
            self.take_folder(&mention, &path)?;
        } else {
            self.add(Chosen { path, by_name: true });
        }
        Ok(())
    }

    fn take_folder(&mut self, mention: &Mention, folder: &Path) -> Result<(), ToolError> {
        let mut found = Choice::everything()?.files(self.workspace, folder, Default::default(), self.stop)?;
        if self.stop.was_late()? {
            self.expanded.notes.push(format!("@{} is too large to be looked through whole", mention.path));
        }
        if found.is_empty() {
            self.expanded.notes.push(format!("@{} has no files to read", mention.path));
        }
        found.sort_unstable();
        found.into_iter().for_each(|file| self.add(file));
        Ok(())
    }

    fn add(&mut self, file: Chosen) {
        match self.places.get(&file.path) {
            Some(place) => self.files[*place].by_name |= file.by_name,
            None => {
                self.places.insert(file.path.clone(), self.files.len());
                self.files.push(file);
            }
        }
    }

    fn read(self) -> Result<Expanded, ToolError> {
        let Self { workspace, stop, files, mut expanded, .. } = self;
        let mut answer = Answer::beginning_with(BEGINNING);
        for file in files {
            if stop.is_due() && stop.was_late().is_err() {
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
