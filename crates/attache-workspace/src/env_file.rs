//! Files of variables, `.env`. They do not change the environment of the process.
//!
//! The user's own file counts like the environment, with lower precedence. A project's file only provides values for
//! `$VAR` in that project's settings files: it cannot set a model, a key, a proxy or a setting of the agent.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use attache_config::{SecretText, SettingOrigin, VARIABLES};

use crate::HomeFolders;
use crate::project_root::top_of;
use crate::read_file::read_text;

/// The variables of the user that a project's settings may name as `$VAR`. The user may allow more.
pub(crate) const PROJECTS_MAY_READ: &[&str] =
    &["HOME", "LANG", "PATH", "PWD", "SHELL", "TERM", "TMPDIR", "USER"];

const MAX_BYTES: u64 = 256 << 10;

/// Prefixes of variables that control attache, models or the programs it starts.
const RESERVED: &[&str] = &[
    "ANTHROPIC_",
    "ATTACHE_",
    "AWS_",
    "AZURE_",
    "CODER_AGENT_",
    "DEBUG",
    "DYLD_",
    "GEMINI_",
    "GIT_",
    "GOOGLE_",
    "LD_",
    "NODE_",
    "NPM_CONFIG_",
    "OPENAI_",
    "PYTHON",
    "SSL_",
    "XDG_",
];

#[derive(Debug, Clone)]
pub struct EnvFile {
    path: Arc<Path>,
    values: Vec<Line>,
}

#[derive(Debug, Clone)]
struct Line {
    name: String,
    value: SecretText,
    line: u32,
}

impl EnvFile {
    /// The user's own: `~/.gemini/.env`, else `~/.env`.
    ///
    /// A file that cannot be read is skipped with a warning: it may be meant for another program.
    pub fn of_user(homes: &HomeFolders, warnings: &mut Vec<String>) -> Option<Self> {
        let gemini = homes.gemini().map(|gemini| gemini.join(".env"));
        let home = homes.home.as_ref().map(|home| home.join(".env"));
        let places = gemini.into_iter().chain(home).map(|path| (path, None));
        Self::first(places, warnings)
    }

    /// The project's: the nearest `.gemini/.env` or `.env`, from the workspace up to the top of its repository. Names that
    /// control more than the project are left out, with a warning if attache knows them.
    pub fn of_project(workspace: &Path, homes: &HomeFolders, warnings: &mut Vec<String>) -> Option<Self> {
        let top = top_of(workspace, homes.home.as_deref());
        let mut places: Vec<(PathBuf, Option<PathBuf>)> = Vec::new();
        for folder in workspace.ancestors().take_while(|folder| folder.starts_with(&top)) {
            // In the home folder, the file is the user's own.
            if homes.home.as_deref() != Some(folder) {
                places.push((folder.join(".gemini/.env"), Some(top.clone())));
                places.push((folder.join(".env"), Some(top.clone())));
            }
        }
        let mut file = Self::first(places.into_iter(), warnings)?;
        file.values.retain(|line| {
            let name = line.name.as_str();
            if !is_reserved(name) {
                return true;
            }
            if VARIABLES.iter().any(|(known, _)| *known == name) {
                let place = file.path.display();
                warnings.push(format!(
                    "{place}:{}: {name} is left out: a project's .env sets nothing of the agent or its model; put it into \
                     ~/.gemini/.env or the environment",
                    line.line
                ));
            }
            false
        });
        Some(file)
    }

    fn first(
        places: impl Iterator<Item = (PathBuf, Option<PathBuf>)>,
        warnings: &mut Vec<String>,
    ) -> Option<Self> {
        for (path, beneath) in places {
            match read_text(&path, MAX_BYTES, beneath.as_deref()) {
                Ok(Some(text)) => return Some(Self::parse(&path, &text)),
                Ok(None) => {}
                Err(error) => warnings.push(format!("{} is passed over: {error}", path.display())),
            }
        }
        None
    }

    pub(crate) fn parse(path: &Path, text: &str) -> Self {
        Self { path: path.into(), values: lines(text) }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The last line that sets the variable counts. An empty value counts as not set.
    pub(crate) fn get(&self, name: &str) -> Option<(&str, SettingOrigin)> {
        let line = self.values.iter().rfind(|line| line.name == name)?;
        let origin =
            SettingOrigin::VariableIn { name: name.to_owned(), path: self.path.clone(), line: line.line };
        Some((line.value.expose(), origin)).filter(|(value, _)| !value.is_empty())
    }
}

/// Whether a project's file cannot set the variable.
fn is_reserved(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    RESERVED.iter().any(|start| name.starts_with(start))
        || name.ends_with("_PROXY")
        || PROJECTS_MAY_READ.contains(&name.as_str())
        || VARIABLES.iter().any(|(known, _)| *known == name)
}

/// `NAME=value`, with or without `export` before and quotes around; other lines are skipped.
fn lines(text: &str) -> Vec<Line> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut line = 1;
    while !rest.is_empty() {
        let (taken, set) = first(rest);
        if let Some((name, value)) = set {
            found.push(Line { name, value: SecretText::new(value), line });
        }
        line += u32::try_from(rest[..taken].matches('\n').count()).unwrap_or(0);
        rest = &rest[taken..];
    }
    found
}

/// The length of the first entry with its line break, and the variable it sets.
fn first(text: &str) -> (usize, Option<(String, String)>) {
    let end = text.find('\n').map_or(text.len(), |end| end + 1);
    let line = text[..end].trim_start();
    let line = line.strip_prefix("export ").unwrap_or(line);
    let Some((name, _)) = line.split_once('=') else { return (end, None) };
    let known = |letter: char| letter.is_ascii_alphanumeric() || "_.-".contains(letter);
    let name = name.trim();
    if name.is_empty() || !name.chars().all(known) {
        return (end, None);
    }
    let after = text.find('=').map_or(end, |at| at + 1);
    let value = text[after..].trim_start_matches([' ', '\t']);
    let start = text.len() - value.len();
    match value.chars().next() {
        Some(quote @ ('"' | '\'' | '`')) => match closing(&value[1..], quote) {
            Some(length) => {
                let raw = &value[1..=length];
                let past = start + length + 2;
                let past = text[past..].find('\n').map_or(text.len(), |end| past + end + 1);
                let text = if quote == '"' { unescaped(raw) } else { raw.to_owned() };
                (past, Some((name.to_owned(), text)))
            }
            None => (end, Some((name.to_owned(), bare(&text[start..end.max(start)])))),
        },
        _ => (end, Some((name.to_owned(), bare(text.get(start..end).unwrap_or_default())))),
    }
}

fn closing(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    let found = text.char_indices().find(|(_, letter)| {
        let closes = !escaped && *letter == quote;
        escaped = !escaped && *letter == '\\' && quote == '"';
        closes
    });
    found.map(|(at, _)| at)
}

fn unescaped(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut letters = raw.chars();
    while let Some(letter) = letters.next() {
        match (letter, letter == '\\') {
            (_, true) => match letters.next() {
                Some('n') => text.push('\n'),
                Some('r') => text.push('\r'),
                Some('t') => text.push('\t'),
                Some(other) => text.push(other),
                None => text.push('\\'),
            },
            (letter, false) => text.push(letter),
        }
    }
    text
}

/// An unquoted value ends at a comment.
fn bare(value: &str) -> String {
    let value = if value.starts_with('#') { "" } else { value };
    let end = value.find(" #").or_else(|| value.find("\t#")).unwrap_or(value.len());
    value[..end].trim().to_owned()
}

#[cfg(test)]
#[path = "env_file_tests.rs"]
mod tests;
