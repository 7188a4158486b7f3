//! The seam to whoever says what a call may do.

use attache_domain::{Answer, Proposal};
use attache_tool::ToolSpec;

/// What is to become of a proposed call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    Allow {
        /// The rule that decided, for people.
        why: String,
    },
    /// A person decides, with one of these answers.
    Ask {
        choices: Vec<String>,
        why: String,
    },
    Deny {
        message: String,
    },
}

pub trait Referee: Send + Sync + 'static {
    /// The same for the same rules and the same proposal.
    fn rule(&self, tool: &ToolSpec, proposal: &Proposal) -> Ruling;

    /// Somebody agreed for longer than this once.
    fn learn(&self, tool: &ToolSpec, proposal: &Proposal, answer: &Answer);
}
