//! The part of the operator's file that is about the agent. `attache-workspace` checks and uses it.

use std::path::PathBuf;

use attache_document::Node;

/// The operator's settings for the agent.
#[derive(Debug, Clone)]
pub struct OperatorAgentSettings {
    pub path: PathBuf,
    pub enforced: Node,
    pub defaults: Node,
    /// The keys at the top of the file, outside the tables: name, value and line.
    pub named: Vec<(&'static str, String, u32)>,
}

impl Default for OperatorAgentSettings {
    fn default() -> Self {
        Self { path: PathBuf::new(), enforced: Node::empty(), defaults: Node::empty(), named: Vec::new() }
    }
}
