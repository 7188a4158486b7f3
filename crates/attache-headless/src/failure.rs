//! The failure of a run, and its exit code.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFailure {
    pub kind: FailureKind,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    General,
    Authentication,
    /// The command line is wrong.
    Usage,
    Input,
    Configuration,
    TurnLimit,
    Tool,
    Untrusted,
    Cancelled,
}

impl FailureKind {
    pub fn code(self) -> u8 {
        match self {
            Self::General => 1,
            Self::Authentication => 41,
            Self::Usage => 2,
            Self::Input => 42,
            Self::Configuration => 52,
            Self::TurnLimit => 53,
            Self::Tool => 54,
            Self::Untrusted => 55,
            Self::Cancelled => 130,
        }
    }

    /// The name that programs which read the output know it by.
    pub fn name(self) -> &'static str {
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

impl RunFailure {
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}
