//! Why a turn stopped without an answer, as metadata for programs.

/// A short code under `reason` in the metadata of the status message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StatusReason {
    /// The model's credential is missing or wrong.
    Credential,
    /// What was asked of the model's provider is at fault.
    Request,
    NoSuchModel,
    /// There is no room for more in the model's window.
    TooLong,
    Quota,
    /// The model, or something else that is needed, cannot be reached.
    Unavailable,
    /// The model gives no usable answer.
    Unusable,
    /// The answer was cut off at the model's output limit.
    MaxTokens,
    /// The model, or its provider, will not answer.
    Refused,
    /// The turn has reached its limit of answers.
    TurnLimit,
    /// The conversation has.
    SessionLimit,
    /// The model repeats itself.
    Loop,
    /// The person said no.
    Declined,
    /// A command did not work out.
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
