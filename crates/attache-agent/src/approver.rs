//! The interface that decides whether a call may run.

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
        /// The rule that decided, for people.
        why: String,
        /// How far its command may reach; none when it runs none.
        access: Option<Access>,
    },
    /// A person decides, with one of these answers.
    Ask {
        choices: Vec<String>,
        /// What each answer for longer would allow, in a sentence, by the answer's id.
        grants: BTreeMap<String, String>,
        why: String,
        access: Option<Access>,
    },
    Deny {
        message: String,
    },
}

/// Judges the calls of one conversation.
pub trait Approver: Send + Sync + 'static {
    /// The same for the same rules and the same case.
    fn rule(&self, case: ApprovalRequest<'_>) -> ApprovalDecision;

    /// A person agreed, perhaps for more than this call.
    fn remember_answer(&self, case: ApprovalRequest<'_>, answer: &CallAnswer);

    /// A person agreed for longer, perhaps before a restart. Rules that were saved need no restoring.
    fn restore_answer(&self, case: ApprovalRequest<'_>, answer: &CallAnswer);
}
