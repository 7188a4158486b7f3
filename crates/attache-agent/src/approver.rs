//! The seam to whoever says what a call may do.

use std::collections::BTreeMap;

use attache_domain::{Access, CallAnswer, Proposal};
use attache_tool::ToolSpec;

/// A call that is to be judged.
#[derive(Debug, Clone, Copy)]
pub struct ApprovalRequest<'a> {
    pub tool: &'a ToolSpec,
    pub proposal: &'a Proposal,
}

/// What is to become of a proposed call.
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

    /// Somebody agreed, perhaps for longer than this once.
    fn remember_answer(&self, case: ApprovalRequest<'_>, answer: &CallAnswer);

    /// Somebody agreed for longer, before a restart perhaps; what was kept for good is kept already.
    fn restore_answer(&self, case: ApprovalRequest<'_>, answer: &CallAnswer);
}
