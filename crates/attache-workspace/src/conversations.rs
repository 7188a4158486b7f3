//! Opens conversations. Each gets its own workspace, model, tools and rules, and keeps them until its request changes.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use attache_agent::{AgentModel, ConversationSetup, Conversations, SettingsRefusal, ToolsGuard};
use attache_command::CommandRegistry;
use attache_domain::{BoundedCache, ContextId, IgnorePoison, RequestedSettings, Scope};
use attache_tool::ServerState;

use crate::RemoteAgents;
use crate::agent_directory::{KnownAgents, WorkspaceAgents};
use crate::agent_switches::AgentSwitches;
use crate::brought_servers::{BroughtServers, BroughtTools, ConversationKey};
use crate::command_context::WorkspaceCommandContext;
use crate::configure_agent::ConfigureAgent;
use crate::conversation_tools::{AgentTools, ConversationTools};
use crate::implementations::{ServerGroup, ToolServers};
use crate::setup_builder::{PreparedSetup, SetupBuilder, WorkspaceSnapshot};

/// With more, the least recently used conversation is closed, and its background processes end.
const MAX_CONVERSATIONS: usize = 256;

/// How long a new conversation waits for its MCP servers before it begins without those that have not connected. An
/// unattended run usually has one prompt, which needs its tools, and a server program may first be downloaded from a
/// package registry.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const CONNECT_TIMEOUT_UNATTENDED: Duration = Duration::from_secs(20);

/// The conversations that are open, each with its own setup.
pub struct WorkspaceConversations {
    builder: Arc<SetupBuilder>,
    open: Mutex<OpenConversations>,
    brought: Arc<BroughtServers>,
}

type OpenConversations = BoundedCache<ConversationKey, OpenConversation>;

#[derive(Clone)]
struct OpenConversation {
    requested: RequestedSettings,
    setup: Arc<ConversationSetup>,
    agents: Arc<dyn RemoteAgents>,
}

impl WorkspaceConversations {
    pub fn new(builder: SetupBuilder) -> Self {
        let open = BoundedCache::new(MAX_CONVERSATIONS, MAX_CONVERSATIONS);
        Self { builder: Arc::new(builder), open: Mutex::new(open), brought: Arc::default() }
    }

    /// Begins to read the cards of the workspace's agents, as the first conversation does. Waits for no card; what is wrong with
    /// agents is reported as a warning.
    pub async fn read_agent_cards(&self) {
        // A conversation says what cannot be read when it begins.
        if let Ok(snapshot) = self.builder.current_snapshot(&RequestedSettings::default()).await {
            drop(self.builder.agents(&snapshot));
        }
    }

    fn lock_open(&self) -> MutexGuard<'_, OpenConversations> {
        self.open.lock().ignore_poison()
    }

    async fn build_setup(
        &self,
        conversation: &ConversationKey,
        requested: &RequestedSettings,
    ) -> Result<(ConversationSetup, Arc<dyn RemoteAgents>), SettingsRefusal> {
        let snapshot = self.builder.current_snapshot(requested).await?;
        let agents = self.builder.agents(&snapshot);
        let prepared = self.builder.build(&snapshot, conversation, requested, &agents)?;
        let PreparedSetup { mut setup, command_context, own_tools, servers } = prepared;
        let connect_timeout = if setup.attended { CONNECT_TIMEOUT } else { CONNECT_TIMEOUT_UNATTENDED };
        let servers = self.connect(&conversation.0, servers, connect_timeout).await?;
        setup.notices.extend(servers.iter().flat_map(|servers| server_warnings(servers.as_ref())));
        let brought = BroughtTools { all: self.brought.clone(), conversation: conversation.clone() };
        let directory = self.agent_directory(&snapshot, requested, &agents);
        setup.info = Some(Arc::new(WorkspaceCommandContext {
            agents: Some(directory.clone()),
            servers: servers.clone(),
            brought: Some(brought.clone()),
            ..command_context
        }));
        let declared = snapshot.declared.clone();
        let switches = AgentSwitches::new(directory.clone());
        let configure = Arc::new(ConfigureAgent::new(directory));
        let agent_tools =
            AgentTools { agents: agents.clone(), declared: snapshot.help_tool.clone(), switches, configure };
        setup.tool_source =
            Arc::new(ConversationTools::new(own_tools, declared, servers, brought, agent_tools));
        Ok((setup, agents))
    }

    /// The agents of a conversation, for `/agents`.
    fn agent_directory(
        &self,
        snapshot: &WorkspaceSnapshot,
        requested: &RequestedSettings,
        agents: &Arc<dyn RemoteAgents>,
    ) -> Arc<WorkspaceAgents> {
        let known = KnownAgents {
            settings: snapshot.settings.clone(),
            agents: snapshot.agents.clone(),
            notice: snapshot.agents_notice.clone(),
        };
        Arc::new(WorkspaceAgents::new(self.builder.clone(), requested.clone(), agents.clone(), known))
    }

    /// Waits for the servers. After `timeout` it returns; connecting continues.
    async fn connect(
        &self,
        scope: &Scope,
        groups: Vec<ServerGroup>,
        timeout: Duration,
    ) -> Result<Vec<Arc<dyn ToolServers>>, SettingsRefusal> {
        let connect = |group| self.builder.implementations().connect(scope, group);
        let groups: Vec<_> = groups.into_iter().map(connect).collect::<Result<_, _>>()?;
        let settled = async {
            for servers in &groups {
                servers.settled().await;
            }
        };
        let _ = tokio::time::timeout(timeout, settled).await;
        Ok(groups)
    }
}

#[async_trait]
impl Conversations for WorkspaceConversations {
    fn check(&self, requested: &RequestedSettings) -> Result<(), SettingsRefusal> {
        self.builder.check(requested)
    }

    fn model(&self, requested: &RequestedSettings) -> Result<AgentModel, SettingsRefusal> {
        self.builder.model(requested)
    }

    async fn open(
        &self,
        scope: &Scope,
        context: &ContextId,
        requested: &RequestedSettings,
    ) -> Result<Arc<ConversationSetup>, SettingsRefusal> {
        let conversation = (scope.clone(), context.clone());
        let known = self.lock_open().get(&conversation).cloned();
        let (setup, agents) = match known {
            Some(known) if known.requested == *requested => return Ok(known.setup),
            // Changing the model keeps the rest: read files, running programs, approvals.
            Some(known) if differs_only_in_model(&known.requested, requested) => {
                let model = self.builder.model_or_without_key(requested)?;
                (ConversationSetup { model, ..known.setup.as_ref().clone() }, known.agents)
            }
            _ => self.build_setup(&conversation, requested).await?,
        };
        let setup = Arc::new(setup);
        let opened = OpenConversation { requested: requested.clone(), setup: setup.clone(), agents };
        self.lock_open().insert(conversation, opened, 1);
        Ok(setup)
    }

    async fn commands(&self, requested: &RequestedSettings) -> Result<CommandRegistry, SettingsRefusal> {
        let (builder, requested) = (self.builder.clone(), requested.clone());
        let read = tokio::task::spawn_blocking(move || builder.commands(&requested)).await;
        read.map_err(|_| SettingsRefusal { field: "workspace", what: "its commands cannot be read".into() })?
    }

    async fn bring_server(
        &self,
        scope: &Scope,
        context: &ContextId,
        requested: &RequestedSettings,
        brought: &RequestedSettings,
        by: &str,
    ) -> Result<ToolsGuard, SettingsRefusal> {
        let snapshot = self.builder.current_snapshot(requested).await?;
        let group = self.builder.brought_group(&snapshot, requested, brought)?;
        let name = group.servers.first().map(|(name, _)| name.clone()).unwrap_or_default();
        let guard = self.brought.reserve(&(scope.clone(), context.clone()), &name, by)?;
        guard.connected(self.builder.implementations().connect(scope, group)?);
        Ok(Box::new(guard))
    }

    async fn refresh(&self, scope: &Scope, context: &ContextId) {
        let conversation = (scope.clone(), context.clone());
        let Some(known) = self.lock_open().get(&conversation).cloned() else { return };
        let OpenConversation { requested, setup, agents } = known;
        let Ok(snapshot) = self.builder.current_snapshot(&requested).await else { return };
        let WorkspaceSnapshot { settings, agents: loaded, switched_off, .. } = snapshot.as_ref();
        agents.reload(self.builder.agent_group(settings, loaded.as_deref(), switched_off));
        if let Ok(PreparedSetup { setup: fresh, .. }) =
            self.builder.build(&snapshot, &conversation, &requested, &agents)
        {
            // Keeps the rest: read files, running programs, approvals.
            let ConversationSetup { instructions, opening, context_files, .. } = fresh;
            let setup = ConversationSetup { instructions, opening, context_files, ..setup.as_ref().clone() };
            let opened = OpenConversation { requested, setup: Arc::new(setup), agents };
            self.lock_open().insert(conversation, opened, 1);
        }
    }
}

/// Names the servers that are missing.
fn server_warnings(servers: &dyn ToolServers) -> Vec<String> {
    let missing = servers.statuses().into_iter().filter_map(|status| match status.state {
        ServerState::Failed { why } => Some(format!("The MCP server {} cannot be used: {why}.", status.name)),
        ServerState::Connecting => Some(format!(
            "The MCP server {} does not answer yet: I begin without its tools, and use them once it does.",
            status.name
        )),
        ServerState::Connected | ServerState::Unapproved => None,
    });
    missing.collect()
}

fn differs_only_in_model(granted: &RequestedSettings, requested: &RequestedSettings) -> bool {
    let RequestedSettings { model, api_key_name, api_key_model, .. } = requested.clone();
    RequestedSettings { model, api_key_name, api_key_model, ..granted.clone() } == *requested
}
