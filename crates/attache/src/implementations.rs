//! The implementations that conversations use: models, standard tools, MCP servers and remote agents.

use std::sync::Arc;

use anyhow::Context;
use async_trait::async_trait;
use attache_agent::{AgentModel, SettingsRefusal};
use attache_config::Settings;
use attache_domain::{Content, Scope};
use attache_net::{AddressRules, HttpClient};
use attache_tool::ruling::FileLookup;
use attache_tool::{Confiner, LeftoverProcesses, ToolContext, ToolRegistry, Workspace};
use attache_tool_mcp::{ConnectContext, McpServerOptions, ServerConfinement};
use attache_tool_remote::OwnOrigin;
use attache_tool_std::{
    GoogleWebSearch, MarkedProcesses, WebFetch, WebFetchOptions, WorkspaceFiles, mentions,
};
use attache_workspace::{
    AgentGroup, Implementations, Interactivity, ModelChoice, RemoteAgents, ServerGroup, ServerSource,
    ToolServers, WorkspaceSettings,
};
use uuid::Uuid;

use crate::mcp_servers::{SharedServers, outside_the_folder, server_options};
use crate::models::Models;
use crate::remote_agents::{AgentsOfConversation, SharedAgents};
use crate::standard_tools::{GeminiWebSearch, SharedTools, standard_tools};

pub(crate) struct StandardImplementations {
    operator: Settings,
    models: Models,
    tools: SharedTools,
    confiner: Arc<dyn Confiner>,
    interactivity: Interactivity,
    servers: SharedServers,
    /// On the MCP servers that this process starts.
    server_mark: String,
    agents: Arc<SharedAgents>,
}

impl StandardImplementations {
    pub(crate) fn new(
        operator: &Settings,
        models: Models,
        choice: &ModelChoice,
        confiner: Arc<dyn Confiner>,
        interactivity: Interactivity,
        own_origin: OwnOrigin,
    ) -> anyhow::Result<Self> {
        let tools = shared_tools(operator, &models, choice)?;
        let agents = SharedAgents::new(models.network().clone(), own_origin);
        Ok(Self {
            operator: operator.clone(),
            models,
            tools,
            confiner,
            interactivity,
            servers: SharedServers::default(),
            server_mark: Uuid::new_v4().to_string(),
            agents: Arc::new(agents),
        })
    }

    /// Where the programs of MCP servers run, and which addresses the others may be at.
    fn connect_context(&self, group: &ServerGroup) -> anyhow::Result<ConnectContext> {
        let scratch = self.operator.scratch.join("mcp-servers");
        let context = ConnectContext {
            confinement: Some(ServerConfinement { confiner: self.confiner.clone(), scratch }),
            mark: Some(self.server_mark.clone()),
            network: self.models.network().clone(),
            ..ConnectContext::new(&group.root, self.operator.child_environment.clone())
        };
        let mut rules = AddressRules::public_only();
        match group.source {
            ServerSource::Settings { .. } => return Ok(context),
            // A client on this machine may name servers on this machine.
            ServerSource::LocalClient => {
                for loopback in ["127.0.0.0/8", "::1/128"] {
                    rules = rules.allow(loopback)?;
                }
            }
            // Any other must not send the agent to addresses that the client cannot reach itself.
            ServerSource::RemoteClient => {}
        }
        Ok(ConnectContext { addresses: address_rules(&self.operator, rules)?, ..context })
    }

    fn server_options(&self, group: &ServerGroup) -> anyhow::Result<Vec<McpServerOptions>> {
        let named_by_client = !matches!(group.source, ServerSource::Settings { .. });
        // Such a server may be on this machine: a person agrees before anything is sent to it.
        let needs_approval = group.source == ServerSource::LocalClient;
        let options = group.servers.iter().map(|(name, server)| McpServerOptions {
            named_by_client,
            needs_approval,
            ..server_options(name, server)
        });
        let options = options.collect();
        match group.source {
            ServerSource::Settings { trusted: false } => outside_the_folder(&self.operator, options)
                .context("there is no place for servers to start in"),
            _ => Ok(options),
        }
    }
}

#[async_trait]
impl Implementations for StandardImplementations {
    fn model(&self, choice: &ModelChoice) -> Result<AgentModel, String> {
        self.models.model(choice).map_err(|error| format!("{error:#}"))
    }

    fn own_model(&self, choice: &ModelChoice) -> Result<AgentModel, String> {
        self.models.own_model(choice).map_err(|error| format!("{error:#}"))
    }

    fn tools(&self, settings: &WorkspaceSettings) -> ToolRegistry {
        standard_tools(settings, &self.tools, self.interactivity, &self.confiner)
    }

    fn files(&self, workspace: &Workspace) -> Arc<dyn FileLookup> {
        Arc::new(WorkspaceFiles::new(workspace.clone()))
    }

    fn leftovers(&self) -> Arc<dyn LeftoverProcesses> {
        Arc::new(MarkedProcesses::other_than(self.server_mark.clone()))
    }

    async fn mentioned(&self, text: &str, context: &ToolContext) -> Vec<Content> {
        match mentions::expand(text, context).await {
            Ok(expanded) => expanded.contents,
            Err(error) => {
                tracing::warn!(%error, "what was mentioned cannot be read");
                Vec::new()
            }
        }
    }

    fn connect(&self, scope: &Scope, group: ServerGroup) -> Result<Arc<dyn ToolServers>, SettingsRefusal> {
        let refused =
            |error: anyhow::Error| SettingsRefusal { field: "mcpServers", what: format!("{error:#}") };
        let options = self.server_options(&group).map_err(refused)?;
        let context = self.connect_context(&group).map_err(refused)?;
        Ok(self.servers.connect(scope, options, context))
    }

    fn remote_agents(&self, group: AgentGroup) -> Arc<dyn RemoteAgents> {
        Arc::new(AgentsOfConversation::new(self.agents.clone(), group))
    }
}

fn shared_tools(operator: &Settings, models: &Models, choice: &ModelChoice) -> anyhow::Result<SharedTools> {
    let rules = address_rules(operator, AddressRules::public_only())?;
    let client = HttpClient::new(&WebFetch::client_options(rules, models.network()))
        .context("cannot make the client for web pages")?;
    let search = models.search(choice)?;
    let search = search.map(|search| GoogleWebSearch::new(Arc::new(GeminiWebSearch(search))));
    Ok(SharedTools::new(WebFetch::new(client, WebFetchOptions::default()), search))
}

/// Adds the addresses that the operator allows.
pub(crate) fn address_rules(operator: &Settings, rules: AddressRules) -> anyhow::Result<AddressRules> {
    operator.allow_private_addresses.iter().try_fold(rules, |rules, place| {
        rules.allow(place).context("the setting `allow_private_addresses` cannot be used")
    })
}
