//! Why a turn stopped without an answer, as metadata for programs.

/// A short code in the member `reason` of the status message's metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StatusReason {
    /// The model's credential is missing or wrong.
    Credential,
    /// The request to the provider is invalid.
    Request,
    NoSuchModel,
    /// The model's window is full.
    TooLong,
    Quota,
    /// The model, or something else that is required, cannot be reached.
    Unavailable,
    /// The model returns no usable answer.
    Unusable,
    /// The answer was cut off at the model's output limit.
    MaxTokens,
    /// The model or its provider refuses to answer.
    Refused,
    /// The turn has reached its limit of answers.
    TurnLimit,
    /// The conversation has reached its limit of answers.
    SessionLimit,
    /// The model repeats itself.
    Loop,
    /// A person refused.
    Declined,
    /// A command failed.
    Command,
}

impl StatusReason {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Credential => "credential",
            Self::Request => "request",
            Self::NoSuchModel => "no_such_model",
            Self::TooLong => "too_long",
            Self::Quota => "quota",
            Self::Unavailable => "unavailable",
            Self::Unusable => "unusable",
            Self::MaxTokens => "max_tokens",
            Self::Refused => "refused",
            Self::TurnLimit => "turn_limit",
            Self::SessionLimit => "session_limit",
            Self::Loop => "loop",
            Self::Declined => "declined",
            Self::Command => "command",
        }
    }
}
