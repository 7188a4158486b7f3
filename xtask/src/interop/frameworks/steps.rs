//! The steps of the conversation, the two interfaces, and the known gaps.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::interop) enum FrameworkStep {
    Connect,
    ExactText,
    Stream,
    Approval,
    TextAfterApproval,
    SecondMessage,
}

/// Where a server puts its answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::interop) enum Interface {
    /// Into artifacts, piece by piece.
    Default,
    /// Into the message of the final status: `--answers message`.
    Message,
}

/// Steps that a framework does not pass, and why.
#[derive(Debug)]
pub(in crate::interop) struct KnownGap {
    pub(in crate::interop) interfaces: &'static [Interface],
    pub(in crate::interop) steps: &'static [FrameworkStep],
    pub(in crate::interop) gap: Gap,
    pub(in crate::interop) reason: &'static str,
    /// The file and line of the framework that shows it.
    pub(in crate::interop) source: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::interop) enum Gap {
    /// The framework gets it wrong.
    Fails,
    /// The framework has no interface for it.
    Missing,
}

pub(super) const DEFAULT: &[Interface] = &[Interface::Default];
pub(super) const BOTH: &[Interface] = &[Interface::Default, Interface::Message];

pub(super) const fn fails(
    interfaces: &'static [Interface],
    steps: &'static [FrameworkStep],
    reason: &'static str,
    source: &'static str,
) -> KnownGap {
    KnownGap { interfaces, steps, gap: Gap::Fails, reason, source }
}

/// Steps for which a framework has no interface.
pub(super) const fn lacks(
    steps: &'static [FrameworkStep],
    reason: &'static str,
    source: &'static str,
) -> KnownGap {
    KnownGap { interfaces: BOTH, steps, gap: Gap::Missing, reason, source }
}

impl FrameworkStep {
    pub(in crate::interop) const ALL: [Self; 6] = [
        Self::Connect,
        Self::ExactText,
        Self::Stream,
        Self::Approval,
        Self::TextAfterApproval,
        Self::SecondMessage,
    ];

    /// As the programs print it.
    pub(in crate::interop) const fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::ExactText => "exact text",
            Self::Stream => "stream",
            Self::Approval => "approval",
            Self::TextAfterApproval => "text after approval",
            Self::SecondMessage => "second message",
        }
    }
}

impl Interface {
    pub(in crate::interop) const ALL: [Self; 2] = [Self::Default, Self::Message];

    /// The steps that count. An answer in the final status cannot be streamed.
    pub(in crate::interop) fn steps(self) -> Vec<FrameworkStep> {
        FrameworkStep::ALL
            .into_iter()
            .filter(|step| self == Self::Default || *step != FrameworkStep::Stream)
            .collect()
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Message => "message",
        }
    }

    /// Further arguments of the server.
    pub(super) const fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Default => &[],
            Self::Message => &["--answers", "message"],
        }
    }
}
