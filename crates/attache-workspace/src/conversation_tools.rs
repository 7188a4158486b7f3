//! The tools of one conversation: the standard ones, and those of its MCP servers.

use std::sync::Arc;

use attache_agent::{ClientServer, Toolbox, declarations};
use attache_model::ToolDeclaration;
use attache_tool::{Tool, ToolRegistry};

use crate::implementations::ToolServers;

/// One conversation's tools.
pub(crate) struct ConversationTools {
    own: ToolRegistry,
    /// The declarations of the conversation's own tools.
    declared: Arc<[ToolDeclaration]>,
    servers: Vec<Arc<dyn ToolServers>>,
}

impl ConversationTools {
    pub(crate) fn new(
        own: ToolRegistry,
        declared: Arc<[ToolDeclaration]>,
        servers: Vec<Arc<dyn ToolServers>>,
    ) -> Self {
        Self { own, declared, servers }
    }
}

impl Toolbox for ConversationTools {
    fn tools(&self) -> ToolRegistry {
        let mut tools = self.own.clone();
        for tool in self.servers.iter().flat_map(|servers| servers.tools()) {
            tools.add(tool);
        }
        tools
    }

    fn declarations(&self) -> Arc<[ToolDeclaration]> {
        if self.servers.is_empty() { self.declared.clone() } else { declarations(&self.tools()) }
    }

    fn version(&self) -> u64 {
        self.servers.iter().map(|servers| servers.version()).sum()
    }

    fn unapproved_servers(&self) -> Vec<ClientServer> {
        self.servers.iter().flat_map(|servers| servers.unapproved()).collect()
    }

    fn connect_tool(&self) -> Option<Arc<dyn Tool>> {
        self.servers.iter().find_map(|servers| servers.connect_tool())
    }
}
