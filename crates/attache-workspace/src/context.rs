//! Context files such as `GEMINI.md` and `AGENTS.md`, which people write for the agent.
//!
//! The user's own files apply to every conversation. A project's files are in its folders, from the top of the
//! repository down to the working folder; further ones are added when the agent touches a folder. A project's file is
//! written by its authors, trusted or not: it is never read through a link that leads out of the project, and its size
//! is limited.

mod budget;
mod imports;
mod tree;

use std::path::{Path, PathBuf};

use budget::Budget;
use imports::Import;

use crate::HomeFolders;
use crate::file_stamps;
use crate::project_root::top_of;
use crate::read_file;
pub(crate) use tree::{TreeOptions, folder_tree};

/// The folders of context files.
#[derive(Clone, Copy)]
pub(crate) struct ContextSources<'a> {
    /// Absolute and without links.
    pub(crate) workspace: &'a Path,
    /// Further folders of the workspace, absolute and without links.
    pub(crate) include: &'a [PathBuf],
    pub(crate) homes: &'a HomeFolders,
    /// The names of context files.
    pub(crate) names: &'a [String],
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LoadedContext {
    /// The user's own, for the instructions.
    pub(crate) global: String,
    /// The project's, for the opening prompt.
    pub(crate) project: String,
    /// The files that were read, including imports, with their sizes.
    pub(crate) files: Vec<(PathBuf, usize)>,
    /// Files that could not be read or were cut, in sentences for people.
    pub(crate) notices: Vec<String>,
}

/// Reads all files that are known at the start.
pub(crate) fn load(sources: &ContextSources<'_>) -> LoadedContext {
    let mut budget = Budget::default();
    let mut global = String::new();
    if let Some(gemini) = sources.homes.gemini()
        && let Some(gemini) = real(gemini)
    {
        read_folder(&gemini, &gemini, sources, &mut budget, &mut global);
    }
    let mut project = String::new();
    for workspace in std::iter::once(sources.workspace).chain(sources.include.iter().map(PathBuf::as_path)) {
        let top = top_of(workspace, sources.homes.home.as_deref());
        for folder in downwards(&top, workspace) {
            read_folder(&folder, &top, sources, &mut budget, &mut project);
        }
    }
    budget.into_files(global, project)
}

/// The context files on the way to `touched`, a path below the workspace, that are not in `known`. Empty if there are
/// none.
pub(crate) fn between(
    sources: &ContextSources<'_>,
    touched: &Path,
    known: &[PathBuf],
) -> Option<LoadedContext> {
    let roots = std::iter::once(sources.workspace).chain(sources.include.iter().map(PathBuf::as_path));
    // A new file does not exist yet, but its folder may.
    let touched = touched.ancestors().find_map(|path| read_file::real_path(path).ok())?;
    let folder = if touched.is_dir() { touched.as_path() } else { touched.parent()? };
    let root = roots.filter(|root| folder.starts_with(root)).max_by_key(|root| root.components().count())?;
    let folders = downwards(root, folder);
    let has_some = |folder: &PathBuf| sources.names.iter().any(|name| folder.join(name).exists());
    // Most folders have no context files; then the project's root need not be found.
    if !folders.iter().any(has_some) {
        return None;
    }
    let top = top_of(root, sources.homes.home.as_deref());
    let mut budget = Budget::excluding(known);
    let mut project = String::new();
    for folder in folders {
        read_folder(&folder, &top, sources, &mut budget, &mut project);
    }
    let found = budget.into_files(String::new(), project);
    (!found.project.is_empty()).then_some(found)
}

/// The target of a path.
fn real(path: &Path) -> Option<PathBuf> {
    file_stamps::location(path);
    read_file::real_path(path).ok()
}

/// The folders from `top` to `folder`, including both.
fn downwards(top: &Path, folder: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        folder.ancestors().take_while(|above| above.starts_with(top)).map(Path::to_owned).collect();
    folders.reverse();
    folders
}

/// Adds the files of one folder, each framed with the name of its author.
fn read_folder(
    folder: &Path,
    root: &Path,
    sources: &ContextSources<'_>,
    budget: &mut Budget,
    into: &mut String,
) {
    for name in sources.names {
        let path = folder.join(name);
        let Some(text) = budget.read(&path, root) else { continue };
        let text = Import::new(root, &text.path).expand(&text.text, budget);
        if text.trim().is_empty() {
            continue;
        }
        let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let end = if text.ends_with('\n') { "" } else { "\n" };
        into.push_str(&format!("=== Context from: {shown} ===\n{text}{end}=== end of {shown} ===\n\n"));
    }
}

#[cfg(test)]
#[path = "context_tests.rs"]
mod tests;
