//! How a run ends that does not end well, and the exit code that scripts know it by.

use anyhow::Error;
use attache_config::ConfigError;

use crate::report::{self, ErrorWithHint};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    pub(crate) message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    General,
    Authentication,
    /// The command line cannot be used as it is.
    Usage,
    Input,
    Configuration,
    TurnLimit,
    Tool,
    Untrusted,
    Cancelled,
}

impl FailureKind {
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::General => 1,
            Self::Authentication => 41,
            Self::Usage => report::USAGE,
            Self::Input => 42,
            Self::Configuration => 52,
            Self::TurnLimit => 53,
            Self::Tool => 54,
            Self::Untrusted => 55,
            Self::Cancelled => 130,
        }
    }

    /// The name that programs which read the output know it by.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::General => "Error",
            Self::Authentication => "FatalAuthenticationError",
            Self::Usage | Self::Input => "FatalInputError",
            Self::Configuration => "FatalConfigError",
            Self::TurnLimit => "FatalTurnLimitedError",
            Self::Tool => "FatalToolExecutionError",
            Self::Untrusted => "FatalUntrustedWorkspaceError",
            Self::Cancelled => "FatalCancellationError",
        }
    }
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// Something is wrong with the settings, or with what they name.
    pub(crate) fn of_settings(error: &Error) -> Self {
        let kind = match error.downcast_ref::<ConfigError>() {
            Some(ConfigError::NoKey { .. }) => FailureKind::Authentication,
            Some(error) if error.is_about_flag() => FailureKind::Usage,
            _ => FailureKind::Configuration,
        };
        let hint = match error.downcast_ref::<ErrorWithHint>() {
            Some(hinted) => Some(hinted.hint.clone()),
            None => error.downcast_ref::<ConfigError>().and_then(|error| Some(error.hint()?.to_owned())),
        };
        let hint = hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
        Self::new(kind, format!("{error:#}{hint}"))
    }
}
