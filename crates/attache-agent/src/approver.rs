//! The trait that decides whether a call may run.

use std::collections::BTreeMap;

use attache_domain::{Access, CallAnswer, Proposal};
use attache_tool::ToolSpec;

/// A call that needs a decision.
#[derive(Debug, Clone, Copy)]
pub struct ApprovalRequest<'a> {
    pub tool: &'a ToolSpec,
    pub proposal: &'a Proposal,
}

/// The decision about a proposed call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalDecision {
    Allow {
        /// The source of the rule that decided, for people.
        why: String,
        /// The access of the command; none if the call runs no command.
        access: Option<Access>,
    },
    /// A person decides. These answers are offered.
    Ask {
        choices: Vec<String>,
        /// For each answer that allows more than this call, by its id: a sentence about what it allows.
        grants: BTreeMap<String, String>,
        why: String,
        access: Option<Access>,
    },
    Deny {
        message: String,
    },
}

/// Decides about the calls of one conversation.
pub trait Approver: Send + Sync + 'static {
    /// Deterministic for the same rules and the same request.
    fn rule(&self, case: ApprovalRequest<'_>) -> ApprovalDecision;

    /// Records a person's approval, which may allow more than this call.
    fn remember_answer(&self, case: ApprovalRequest<'_>, answer: &CallAnswer);

    /// Restores a permanent or session-wide approval, for example after a restart. Saved rules need no restoring.
    fn restore_answer(&self, case: ApprovalRequest<'_>, answer: &CallAnswer);
}
