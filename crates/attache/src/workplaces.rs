//! Furnishes conversations: each gets its own workspace, model, tools and rules, and keeps them for as long as its wishes
//! stay the same.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use attache_agent::{Mind, Refusal, Workplace, Workplaces};
use attache_command::Registry;
use attache_domain::{ContextId, Scope, Wishes};
use attache_tool_mcp::{McpServers, ServerState};

use crate::furnishing::{Furnishing, Ground, Prepared};
use crate::premises::WorkspacePremises;
use crate::servers::SharedServers;
use crate::toolbox::Kit;

/// Conversations whose workplaces are kept; what the oldest have in the background ends with them.
const MOST_CONVERSATIONS: usize = 256;

/// How long a new conversation waits for its MCP servers before it begins without those that do not answer. Without people
/// there is mostly one prompt, which should have its tools; a program may have to be fetched from a package registry first.
const FIRST_WAIT: Duration = Duration::from_secs(5);
const FIRST_WAIT_UNATTENDED: Duration = Duration::from_secs(20);

pub(crate) struct Furnisher {
    furnishing: Arc<Furnishing>,
    servers: SharedServers,
    open: Mutex<Open>,
}

type Conversation = (Scope, ContextId);

#[derive(Default)]
struct Open {
    places: HashMap<Conversation, (Wishes, Arc<Workplace>)>,
    order: VecDeque<Conversation>,
}

impl Furnisher {
    pub(crate) fn new(furnishing: Furnishing) -> Self {
        Self { furnishing: Arc::new(furnishing), servers: SharedServers::default(), open: Mutex::default() }
    }

    fn opened(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn furnish(&self, conversation: &Conversation, wishes: &Wishes) -> Result<Workplace, Refusal> {
        let ground = self.ground(wishes).await?;
        let prepared = self.furnishing.prepare(&ground, conversation, wishes)?;
        let Prepared { mut place, premises, own_tools, servers } = prepared;
        let first_wait = if place.attended { FIRST_WAIT } else { FIRST_WAIT_UNATTENDED };
        let servers = self.servers.connect(&conversation.0, servers, first_wait).await;
        place.notices.extend(servers.iter().flat_map(|servers| troubles(servers)));
        place.premises = Some(Arc::new(WorkspacePremises { servers: servers.clone(), ..premises }));
        place.toolbox = Arc::new(Kit::new(own_tools, ground.declared.clone(), servers));
        Ok(place)
    }

    /// What the conversation has in common with others.
    async fn ground(&self, wishes: &Wishes) -> Result<Arc<Ground>, Refusal> {
        let site = self.furnishing.site(wishes)?;
        if let Some(ground) = self.furnishing.at_hand(&site) {
            return Ok(ground);
        }
        let (furnishing, wished) = (self.furnishing.clone(), wishes.clone());
        // Settings, rules and context are files: reading them may take a while.
        let read = tokio::task::spawn_blocking(move || furnishing.ground(&site, &wished)).await;
        read.map_err(|_| Refusal { field: "workspace", what: "its settings cannot be read".into() })?
    }
}

#[async_trait]
impl Workplaces for Furnisher {
    fn check(&self, wishes: &Wishes) -> Result<(), Refusal> {
        self.furnishing.check(wishes)
    }

    fn mind(&self, wishes: &Wishes) -> Result<Mind, Refusal> {
        self.furnishing.mind(wishes)
    }

    async fn open(
        &self,
        scope: &Scope,
        context: &ContextId,
        wishes: &Wishes,
    ) -> Result<Arc<Workplace>, Refusal> {
        let conversation = (scope.clone(), context.clone());
        let known = self.opened().places.get(&conversation).cloned();
        let place = match known {
            Some((granted, place)) if granted == *wishes => return Ok(place),
            // Another model goes on with everything that is there: files it knows, programs that run, agreements.
            Some((granted, place)) if differs_in_model(&granted, wishes) => {
                Workplace { mind: self.mind(wishes)?, ..place.as_ref().clone() }
            }
            _ => self.furnish(&conversation, wishes).await?,
        };
        let place = Arc::new(place);
        self.opened().keep(conversation, (wishes.clone(), place.clone()));
        Ok(place)
    }

    async fn commands(&self, wishes: &Wishes) -> Result<Registry, Refusal> {
        let (furnishing, wishes) = (self.furnishing.clone(), wishes.clone());
        let read = tokio::task::spawn_blocking(move || furnishing.commands(&wishes)).await;
        read.map_err(|_| Refusal { field: "workspace", what: "its commands cannot be read".into() })?
    }

    async fn refresh(&self, scope: &Scope, context: &ContextId) {
        let conversation = (scope.clone(), context.clone());
        let Some((wishes, place)) = self.opened().places.get(&conversation).cloned() else { return };
        let Ok(ground) = self.ground(&wishes).await else { return };
        if let Ok(Prepared { place: fresh, .. }) = self.furnishing.prepare(&ground, &conversation, &wishes) {
            // Everything else stays: files it knows, programs that run, agreements.
            let Workplace { instructions, opening, surroundings, .. } = fresh;
            let place = Workplace { instructions, opening, surroundings, ..place.as_ref().clone() };
            self.opened().keep(conversation, (wishes, Arc::new(place)));
        }
    }
}

impl Open {
    fn keep(&mut self, conversation: Conversation, place: (Wishes, Arc<Workplace>)) {
        if self.places.insert(conversation.clone(), place).is_none() {
            self.order.push_back(conversation);
        }
        while self.order.len() > MOST_CONVERSATIONS {
            let Some(oldest) = self.order.pop_front() else { break };
            self.places.remove(&oldest);
        }
    }
}

/// Servers that people counted on and that are not there.
fn troubles(servers: &McpServers) -> Vec<String> {
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

fn differs_in_model(granted: &Wishes, wishes: &Wishes) -> bool {
    Wishes { model: wishes.model.clone(), ..granted.clone() } == *wishes
}
