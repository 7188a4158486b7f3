//! The origin of a value.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Where a value was set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingOrigin {
    BuiltIn,
    /// The client that sent the task.
    Client,
    /// A flag, with its dashes.
    Flag(&'static str),
    /// A variable of the environment.
    Variable(String),
    /// Lines count from one; zero means unknown.
    File {
        path: Arc<Path>,
        line: u32,
    },
    /// A variable that a `.env` file sets.
    VariableIn {
        name: String,
        path: Arc<Path>,
        line: u32,
    },
}

impl SettingOrigin {
    /// The file that sets the value.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File { path, .. } | Self::VariableIn { path, .. } => Some(path),
            Self::BuiltIn | Self::Client | Self::Flag(_) | Self::Variable(_) => None,
        }
    }
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => formatter.write_str("built in"),
            Self::Client => formatter.write_str("the client"),
            Self::Flag(name) => formatter.write_str(name),
            Self::Variable(name) => write!(formatter, "${name}"),
            Self::File { path, line: 0 } => write!(formatter, "{}", path.display()),
            Self::File { path, line } => write!(formatter, "{}:{line}", path.display()),
            Self::VariableIn { name, path, line } => {
                write!(formatter, "${name} in {}:{line}", path.display())
            }
        }
    }
}
