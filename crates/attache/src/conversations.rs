//! Furnishes conversations: each gets its own workspace, model, tools and rules, and keeps them for as long as its wishes
//! stay the same.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use attache_agent::{AgentModel, ConversationSetup, Conversations, SettingsRefusal};
use attache_command::CommandRegistry;
use attache_domain::{ContextId, IgnorePoison, RequestedSettings, Scope};
use attache_tool_mcp::{McpServers, ServerState};

use crate::command_context::WorkspaceCommandContext;
use crate::conversation_tools::ConversationTools;
use crate::mcp_servers::SharedServers;
use crate::setup_builder::{PreparedSetup, SetupBuilder, WorkspaceSnapshot};

/// Conversations whose workplaces are kept; what the oldest have in the background ends with them.
const MAX_CONVERSATIONS: usize = 256;

/// How long a new conversation waits for its MCP servers before it begins without those that do not answer. Without people
/// there is mostly one prompt, which should have its tools; a program may have to be fetched from a package registry first.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const CONNECT_TIMEOUT_UNATTENDED: Duration = Duration::from_secs(20);

pub(crate) struct WorkspaceConversations {
    builder: Arc<SetupBuilder>,
    servers: SharedServers,
    open: Mutex<OpenConversations>,
}

type Conversation = (Scope, ContextId);

#[derive(Default)]
struct OpenConversations {
    setups: HashMap<Conversation, (RequestedSettings, Arc<ConversationSetup>)>,
    order: VecDeque<Conversation>,
}

impl WorkspaceConversations {
    pub(crate) fn new(furnishing: SetupBuilder) -> Self {
        Self { builder: Arc::new(furnishing), servers: SharedServers::default(), open: Mutex::default() }
    }

    fn lock_open(&self) -> MutexGuard<'_, OpenConversations> {
        self.open.lock().ignore_poison()
    }

    async fn build_setup(
        &self,
        conversation: &Conversation,
        wishes: &RequestedSettings,
    ) -> Result<ConversationSetup, SettingsRefusal> {
        let ground = self.snapshot(wishes).await?;
        let prepared = self.builder.build(&ground, conversation, wishes)?;
        let PreparedSetup { setup: mut place, command_context: premises, own_tools, servers } = prepared;
        let first_wait = if place.attended { CONNECT_TIMEOUT } else { CONNECT_TIMEOUT_UNATTENDED };
        let servers = self.servers.connect(&conversation.0, servers, first_wait).await;
        place.notices.extend(servers.iter().flat_map(|servers| server_warnings(servers)));
        place.info = Some(Arc::new(WorkspaceCommandContext { servers: servers.clone(), ..premises }));
        place.toolbox = Arc::new(ConversationTools::new(own_tools, ground.declared.clone(), servers));
        Ok(place)
    }

    /// What the conversation has in common with others.
    async fn snapshot(&self, wishes: &RequestedSettings) -> Result<Arc<WorkspaceSnapshot>, SettingsRefusal> {
        let site = self.builder.workspace_key(wishes)?;
        if let Some(ground) = self.builder.cached_snapshot(&site) {
            return Ok(ground);
        }
        let (furnishing, wished) = (self.builder.clone(), wishes.clone());
        // Settings, rules and context are files: reading them may take a while.
        let read = tokio::task::spawn_blocking(move || furnishing.snapshot(&site, &wished)).await;
        read.map_err(|_| SettingsRefusal { field: "workspace", what: "its settings cannot be read".into() })?
    }
}

#[async_trait]
impl Conversations for WorkspaceConversations {
    fn check(&self, wishes: &RequestedSettings) -> Result<(), SettingsRefusal> {
        self.builder.check(wishes)
    }

    fn model(&self, wishes: &RequestedSettings) -> Result<AgentModel, SettingsRefusal> {
        self.builder.model(wishes)
    }

    async fn open(
        &self,
        scope: &Scope,
        context: &ContextId,
        wishes: &RequestedSettings,
    ) -> Result<Arc<ConversationSetup>, SettingsRefusal> {
        let conversation = (scope.clone(), context.clone());
        let known = self.lock_open().setups.get(&conversation).cloned();
        let place = match known {
            Some((granted, place)) if granted == *wishes => return Ok(place),
            // Another model goes on with everything that is there: files it knows, programs that run, agreements.
            Some((granted, place)) if differs_only_in_model(&granted, wishes) => {
                ConversationSetup { model: self.model(wishes)?, ..place.as_ref().clone() }
            }
            _ => self.build_setup(&conversation, wishes).await?,
        };
        let place = Arc::new(place);
        self.lock_open().keep(conversation, (wishes.clone(), place.clone()));
        Ok(place)
    }

    async fn commands(&self, wishes: &RequestedSettings) -> Result<CommandRegistry, SettingsRefusal> {
        let (furnishing, wishes) = (self.builder.clone(), wishes.clone());
        let read = tokio::task::spawn_blocking(move || furnishing.commands(&wishes)).await;
        read.map_err(|_| SettingsRefusal { field: "workspace", what: "its commands cannot be read".into() })?
    }

    async fn refresh(&self, scope: &Scope, context: &ContextId) {
        let conversation = (scope.clone(), context.clone());
        let Some((wishes, place)) = self.lock_open().setups.get(&conversation).cloned() else { return };
        let Ok(ground) = self.snapshot(&wishes).await else { return };
        if let Ok(PreparedSetup { setup: fresh, .. }) = self.builder.build(&ground, &conversation, &wishes) {
            // Everything else stays: files it knows, programs that run, agreements.
            let ConversationSetup { instructions, opening, context_files: surroundings, .. } = fresh;
            let place = ConversationSetup {
                instructions,
                opening,
                context_files: surroundings,
                ..place.as_ref().clone()
            };
            self.lock_open().keep(conversation, (wishes, Arc::new(place)));
        }
    }
}

impl OpenConversations {
    fn keep(&mut self, conversation: Conversation, place: (RequestedSettings, Arc<ConversationSetup>)) {
        if self.setups.insert(conversation.clone(), place).is_none() {
            self.order.push_back(conversation);
        }
        while self.order.len() > MAX_CONVERSATIONS {
            let Some(oldest) = self.order.pop_front() else { break };
            self.setups.remove(&oldest);
        }
    }
}

/// Servers that people counted on and that are not there.
fn server_warnings(servers: &McpServers) -> Vec<String> {
    let told = servers.statuses().into_iter().filter_map(|status| match status.state {
        ServerState::Failed { why } => Some(format!("The MCP server {} cannot be used: {why}.", status.name)),
        ServerState::Connecting => Some(format!(
            "The MCP server {} does not answer yet: I begin without its tools, and use them once it does.",
            status.name
        )),
        ServerState::Connected => None,
    });
    told.collect()
}

fn differs_only_in_model(granted: &RequestedSettings, wishes: &RequestedSettings) -> bool {
    RequestedSettings { model: wishes.model.clone(), ..granted.clone() } == *wishes
}
