//! Errors of the configuration, each with a hint.

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
    #[error("the path of the {what} {} is not text in UTF-8, so what is done there cannot be recorded", path.display())]
    Unrecordable { what: &'static str, path: PathBuf },
    #[error("{} is not a valid configuration file", path.display())]
    BadFile {
        path: PathBuf,
        #[source]
        source: Box<toml::de::Error>,
    },
    #[error("{origin} is {value:?}, which is not {expected}")]
    BadValue { origin: String, value: String, expected: String },
    /// A setting of the agent: its place, its key and what would be right.
    #[error("{place}: {}{message}", key.as_ref().map(|key| format!("{key}: ")).unwrap_or_default())]
    BadSetting { place: String, key: Option<String>, message: String },
    #[error(transparent)]
    BadRules(Box<dyn std::error::Error + Send + Sync>),
    #[error("the rules in {} are not used: {why}", path.display())]
    UnsafeRules { path: PathBuf, why: &'static str },
    #[error("cannot save {}", path.display())]
    Unsaved {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{named:?} cannot be the workspace: {why}")]
    NotAWorkspace { named: String, why: String },
    #[error("the model {model} needs {}", if *variable == "GOOGLE_CLOUD_PROJECT" { "a project" } else { "a key" })]
    NoKey { model: String, variable: &'static str },
    #[error("a server on {host} can be reached by others and needs a token")]
    OpenToTheWorld { host: String },
    #[error("{origin} is empty, and an empty token would let every client in")]
    EmptyToken { origin: String },
    #[error("the token file {} can be read by other users", path.display())]
    ReadableToken { path: PathBuf },
    /// `what` never contains the token.
    #[error("the token file {}: line {line} {what}", path.display())]
    BadTokenLine { path: PathBuf, line: usize, what: String },
    #[error("the settings have an extended card, which is for callers with a token, and there is no token")]
    ExtendedCardWithoutToken,
}

impl ConfigError {
    /// A flag has an invalid value.
    pub fn is_about_flag(&self) -> bool {
        matches!(self, Self::BadValue { origin, .. } if origin.starts_with("--"))
    }

    /// The hint.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Unreadable { .. } => Some("check that the file exists and that you may read it"),
            Self::Unrecordable { .. } => Some("rename the folder, or name another one"),
            Self::BadFile { .. } => Some("docs/settings.md lists every setting with an example"),
            Self::BadValue { .. } => Some("docs/settings.md lists every setting and what it takes"),
            Self::BadSetting { .. } => Some("docs/settings.md lists the keys and what they take"),
            Self::BadRules(_) => Some("docs/settings.md shows a file of rules"),
            Self::Unsaved { .. } => Some("check that you may write there"),
            Self::UnsafeRules { .. } => Some("make it belong to root and writable by root only"),
            Self::NotAWorkspace { .. } => Some("name a folder below one of the allowed roots"),
            Self::NoKey { variable, .. } => Some(match *variable {
                "OPENAI_API_KEY" => {
                    "put one into the variable OPENAI_API_KEY, or say with OPENAI_BASE_URL which server needs none"
                }
                "ANTHROPIC_API_KEY" => "put one into the variable ANTHROPIC_API_KEY",
                "GOOGLE_CLOUD_PROJECT" => {
                    "put one into the variable GOOGLE_CLOUD_PROJECT, or a key into GOOGLE_API_KEY, or take \
                     GOOGLE_GENAI_USE_VERTEXAI away"
                }
                _ => "put one into the variable GEMINI_API_KEY, or choose --model offline, which needs none",
            }),
            Self::ExtendedCardWithoutToken => Some(
                "give the server one with --token-file FILE or ATTACHE_TOKEN, or take `card.extended` away",
            ),
            Self::EmptyToken { .. } => Some(
                "put a token of at least 16 printable characters there, or unset it; without one, a server on this \
                 machine serves only the user who runs it",
            ),
            Self::BadTokenLine { .. } => Some(
                "each line is NAME: RIGHTS: TOKEN, for example `phone: view, approve: ` and a long random text",
            ),
            Self::ReadableToken { .. } => Some("make it its owner's alone with chmod 600"),
            Self::OpenToTheWorld { .. } => {
                Some("give it one with --token-file FILE or ATTACHE_TOKEN, or listen on 127.0.0.1")
            }
        }
    }
}
