//! The part of the operator's file that is about the agent. `attache-workspace` checks and uses it.

use std::path::PathBuf;

use attache_document::Node;

/// What the operator's file says about the agent.
#[derive(Debug, Clone)]
pub struct OperatorAgentSettings {
    pub path: PathBuf,
    pub enforced: Node,
    pub defaults: Node,
    /// The keys that stand at the top of the file and not in a table: name, value and line.
    pub named: Vec<(&'static str, String, u32)>,
}

impl Default for OperatorAgentSettings {
    fn default() -> Self {
        Self { path: PathBuf::new(), enforced: Node::empty(), defaults: Node::empty(), named: Vec::new() }
    }
}
