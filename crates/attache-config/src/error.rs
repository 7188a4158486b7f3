//! What is wrong with the configuration, and what would be right.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("cannot read the {what} {}", path.display())]
    Unreadable {
        what: &'static str,
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{} is not a valid configuration file", path.display())]
    BadFile {
        path: PathBuf,
        #[source]
        source: Box<toml::de::Error>,
    },
    #[error("{origin} is {value:?}, which is not {expected}")]
    BadValue { origin: String, value: String, expected: String },
    #[error("the model {model} needs a key")]
    NoKey { model: String },
    #[error("a server on {host} can be reached by others and needs a token")]
    OpenToTheWorld { host: String },
}

impl ConfigError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Unreadable { .. } => Some("check that the file exists and that you may read it"),
            Self::BadFile { .. } => Some("docs/settings.md lists every setting with an example"),
            Self::BadValue { .. } => Some("docs/settings.md lists every setting and what it takes"),
            Self::NoKey { .. } => {
                Some("put one into the variable GEMINI_API_KEY, or choose --model offline, which needs none")
            }
            Self::OpenToTheWorld { .. } => {
                Some("give it one with --token-file FILE or ATTACHE_TOKEN, or listen on 127.0.0.1")
            }
        }
    }
}
