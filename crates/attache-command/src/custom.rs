//! Custom commands: prompts in TOML files below `commands` folders.
//!
//! A file is read once, when it is loaded, and becomes a [`Template`](template::Template). Inserted text (arguments,
//! files, output of programs) is not expanded again. Files are untrusted: an invalid one is skipped and becomes a
//! [`CommandFileProblem`]. Not here: which folders are read and whether they are trusted, and whether a program may
//! run.

mod command;
mod file;
mod folder;
#[cfg(feature = "fuzz")]
pub(crate) mod fuzz;
mod quoting;
#[cfg(test)]
mod quoting_tests;
mod read;
mod template;
#[cfg(test)]
mod template_tests;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

pub use command::CustomCommand;

/// Reported problems; a folder may be full of them.
const MAX_PROBLEMS: usize = 100;

/// A folder of command files. A folder that does not exist holds none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomSource {
    pub folder: PathBuf,
    /// Links may lead to anywhere inside; to nowhere but the folder itself when there is none.
    pub within: Option<PathBuf>,
    /// The extension whose commands these are. They never replace others: one whose name is taken is called
    /// `extension.name`.
    pub extension: Option<String>,
}

/// What was found, ready for [`Registry::with_custom`](crate::Registry::with_custom).
#[derive(Debug, Default)]
pub struct LoadedCommands {
    /// People's own by name, then those of extensions.
    pub commands: Vec<CustomCommand>,
    pub problems: Vec<CommandFileProblem>,
}

/// A file that is left out: what is wrong with it, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandFileProblem {
    pub path: PathBuf,
    pub what: String,
}

/// Reads the command files of `sources`; of two commands with one name the one of the later source counts. Waits for
/// the disk.
pub fn load(sources: &[CustomSource]) -> LoadedCommands {
    load_admitted(sources, &mut |_, _| true)
}

/// The same, without the commands that `admits` turns down: one that is turned down replaces no other.
pub fn load_admitted(
    sources: &[CustomSource],
    admits: &mut dyn FnMut(&CustomSource, &CustomCommand) -> bool,
) -> LoadedCommands {
    let mut problems = Vec::new();
    let mut own = BTreeMap::new();
    let mut of_extensions = Vec::new();
    for source in sources {
        let mut commands = load_folder(source, &mut problems);
        commands.retain(|_, command| admits(source, command));
        match &source.extension {
            Some(_) => of_extensions.extend(commands.into_values()),
            None => own.extend(commands),
        }
    }
    let more = problems.len().saturating_sub(MAX_PROBLEMS);
    problems.truncate(MAX_PROBLEMS);
    if let (true, Some(CommandFileProblem { path, .. })) = (more > 0, problems.last().cloned()) {
        problems.push(CommandFileProblem { path, what: format!("and {more} more problems after this one") });
    }
    LoadedCommands { commands: own.into_values().chain(of_extensions).collect(), problems }
}

fn load_folder(
    source: &CustomSource,
    problems: &mut Vec<CommandFileProblem>,
) -> BTreeMap<String, CustomCommand> {
    let mut commands: BTreeMap<String, CustomCommand> = BTreeMap::new();
    for found in folder::files(source, problems) {
        let command = match file::load(&found, source.extension.as_deref()) {
            Ok(command) => command,
            Err(what) => {
                problems.push(CommandFileProblem { path: found.path, what });
                continue;
            }
        };
        if let Some(other) = commands.get(&found.name) {
            let what = format!("`/{}` is {} already; rename one of them", found.name, shown(other.path()));
            problems.push(CommandFileProblem { path: found.path, what });
        } else {
            commands.insert(found.name, command);
        }
    }
    commands
}

impl CustomSource {
    /// The person's own commands.
    pub fn user(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), within: None, extension: None }
    }

    /// The commands of the project at `root`; only for a project that is trusted.
    pub fn project(folder: impl Into<PathBuf>, root: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), within: Some(root.into()), extension: None }
    }

    pub fn extension(folder: impl Into<PathBuf>, name: impl Into<String>) -> Self {
        Self { folder: folder.into(), within: None, extension: Some(name.into()) }
    }
}

impl fmt::Display for CommandFileProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", shown(&self.path), self.what)
    }
}

/// An untrusted path, made safe to show.
fn shown(path: &Path) -> String {
    let letters = path.to_string_lossy();
    letters.chars().map(|letter| if letter.is_control() { '\u{FFFD}' } else { letter }).collect()
}
