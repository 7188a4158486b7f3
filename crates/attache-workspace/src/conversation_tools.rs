//! The tools of one conversation: the standard ones, those of its MCP servers, and the one for remote agents.

use std::sync::{Arc, Mutex};

use attache_agent::{ClientServer, ToolSource, declarations};
use attache_command::CONFIGURE_AGENT;
use attache_domain::IgnorePoison;
use attache_model::ToolDeclaration;
use attache_tool::{INVOKE_AGENT, Tool, ToolRegistry};

use crate::RemoteAgents;
use crate::agent_switches::AgentSwitches;
use crate::brought_servers::BroughtTools;
use crate::connect_tool::ConnectTool;
use crate::implementations::ToolServers;

/// One conversation's tools.
pub(crate) struct ConversationTools {
    own: ToolRegistry,
    /// The declarations of the standard tools and the built-in agent, shared by all conversations of a workspace.
    declared: Arc<[ToolDeclaration]>,
    servers: Vec<Arc<dyn ToolServers>>,
    /// The servers that clients have added.
    brought: BroughtTools,
    agents: AgentTools,
    /// The declarations of all tools, and their version.
    all_declared: Mutex<Option<(u64, Arc<[ToolDeclaration]>)>>,
}

/// The agents of one conversation, and the tool that switches them on and off.
pub(crate) struct AgentTools {
    pub(crate) agents: Arc<dyn RemoteAgents>,
    /// The tool for them among the declarations that all conversations share.
    pub(crate) declared: Option<Arc<dyn Tool>>,
    /// Which of them may not be called any more.
    pub(crate) switches: AgentSwitches,
    pub(crate) configure: Arc<dyn Tool>,
}

impl ConversationTools {
    pub(crate) fn new(
        own: ToolRegistry,
        declared: Arc<[ToolDeclaration]>,
        servers: Vec<Arc<dyn ToolServers>>,
        brought: BroughtTools,
        agents: AgentTools,
    ) -> Self {
        Self { own, declared, servers, brought, agents, all_declared: Mutex::default() }
    }
}

impl ToolSource for ConversationTools {
    fn tools(&self) -> ToolRegistry {
        let mut tools = self.own.clone();
        for tool in self.servers.iter().flat_map(|servers| servers.tools()) {
            tools.add(tool);
        }
        if let Some(tool) = self.agents.agents.tool() {
            tools.add(self.agents.switches.guard(tool));
        }
        // Never replaces another tool.
        for tool in self.brought.tools() {
            if !tools.contains(&tool.spec().name) {
                tools.add(tool);
            }
        }
        tools
    }

    fn declarations(&self) -> Arc<[ToolDeclaration]> {
        let has_declared_agents = match (&self.agents.declared, self.agents.agents.tool()) {
            (Some(declared), Some(tool)) => Arc::ptr_eq(declared, &tool),
            (declared, tool) => declared.is_none() && tool.is_none(),
        };
        if self.servers.is_empty() && self.brought.is_empty() && has_declared_agents {
            return self.declared.clone();
        }
        let version = self.version();
        let mut known = self.all_declared.lock().ignore_poison();
        match known.as_ref() {
            Some((made_for, declared)) if *made_for == version => declared.clone(),
            _ => {
                let declared = declarations(&self.tools());
                *known = Some((version, declared.clone()));
                declared
            }
        }
    }

    fn version(&self) -> u64 {
        let own: u64 = self.servers.iter().map(|servers| servers.version()).sum();
        own.wrapping_add(self.brought.version()).wrapping_add(self.agents.agents.version() << 48)
    }

    fn unapproved_servers(&self) -> Vec<ClientServer> {
        let own = self.servers.iter().flat_map(|servers| servers.unapproved());
        own.chain(self.brought.unapproved()).collect()
    }

    fn begun_tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        match name {
            INVOKE_AGENT => Some(self.agents.switches.guard(self.agents.agents.begun_tool())),
            _ => self.tools().find(name).ok().cloned(),
        }
    }

    fn command_tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        (name == CONFIGURE_AGENT).then(|| self.agents.configure.clone())
    }

    fn connect_tool(&self) -> Option<Arc<dyn Tool>> {
        let own = self.servers.iter().filter_map(|servers| servers.connect_tool());
        ConnectTool::of(own.chain(self.brought.connect_tools()))
    }
}
