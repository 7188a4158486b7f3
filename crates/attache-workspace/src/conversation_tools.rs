//! The tools of one conversation: the standard ones, and those of its MCP servers.

use std::sync::Arc;

use attache_agent::{ClientServer, Toolbox, declarations};
use attache_model::ToolDeclaration;
use attache_tool::{Tool, ToolRegistry};

use crate::brought_servers::BroughtTools;
use crate::connect_tool::ConnectTool;
use crate::implementations::ToolServers;

/// One conversation's tools.
pub(crate) struct ConversationTools {
    own: ToolRegistry,
    /// The declarations of the conversation's own tools.
    declared: Arc<[ToolDeclaration]>,
    servers: Vec<Arc<dyn ToolServers>>,
    /// The servers that clients have brought and may take away.
    brought: BroughtTools,
}

impl ConversationTools {
    pub(crate) fn new(
        own: ToolRegistry,
        declared: Arc<[ToolDeclaration]>,
        servers: Vec<Arc<dyn ToolServers>>,
        brought: BroughtTools,
    ) -> Self {
        Self { own, declared, servers, brought }
    }
}

impl Toolbox for ConversationTools {
    fn tools(&self) -> ToolRegistry {
        let mut tools = self.own.clone();
        for tool in self.servers.iter().flat_map(|servers| servers.tools()) {
            tools.add(tool);
        }
        // Never in the place of another.
        for tool in self.brought.tools() {
            if !tools.contains(&tool.spec().name) {
                tools.add(tool);
            }
        }
        tools
    }

    fn declarations(&self) -> Arc<[ToolDeclaration]> {
        let is_plain = self.servers.is_empty() && self.brought.is_empty();
        if is_plain { self.declared.clone() } else { declarations(&self.tools()) }
    }

    fn version(&self) -> u64 {
        let own: u64 = self.servers.iter().map(|servers| servers.version()).sum();
        own.wrapping_add(self.brought.version())
    }

    fn unapproved_servers(&self) -> Vec<ClientServer> {
        let own = self.servers.iter().flat_map(|servers| servers.unapproved());
        own.chain(self.brought.unapproved()).collect()
    }

    fn connect_tool(&self) -> Option<Arc<dyn Tool>> {
        let own = self.servers.iter().filter_map(|servers| servers.connect_tool());
        ConnectTool::of(own.chain(self.brought.connect_tools()))
    }
}
