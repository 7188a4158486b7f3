//! MCP servers that clients add to conversations, each until its client leaves.
//!
//! A conversation reads the list whenever it needs its tools, so servers can be added and removed while it runs.
//! Approvals belong to the conversation: they name the address, and apply again when the same server is added again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use attache_agent::{ClientServer, SettingsRefusal};
use attache_domain::{ContextId, IgnorePoison, Scope};
use attache_tool::{ServerStatus, Tool};

use crate::implementations::ToolServers;

/// The maximum in one conversation, of all clients together.
const MAX_SERVERS: usize = 16;

pub(crate) type ConversationKey = (Scope, ContextId);

/// The added servers of all conversations.
#[derive(Default)]
pub(crate) struct BroughtServers(Mutex<Registry>);

#[derive(Default)]
struct Registry {
    conversations: HashMap<ConversationKey, Vec<BroughtServer>>,
    /// The number of changes so far.
    changes: u64,
}

struct BroughtServer {
    name: String,
    /// The client that added it.
    by: String,
    /// The order in which the servers were added.
    number: u64,
    /// None while it is being added.
    servers: Option<Arc<dyn ToolServers>>,
}

/// Removes the server from the conversation when it is dropped. Its connection ends, and its running calls fail.
pub(crate) struct BroughtGuard {
    all: Arc<BroughtServers>,
    conversation: ConversationKey,
    number: u64,
}

impl BroughtServers {
    /// Reserves a name in a conversation. The server is used once it was [given](BroughtGuard::connected).
    pub(crate) fn reserve(
        self: &Arc<Self>,
        conversation: &ConversationKey,
        name: &str,
        by: &str,
    ) -> Result<BroughtGuard, SettingsRefusal> {
        let refused = |what: String| SettingsRefusal { field: "mcpServers", what };
        let mut registry = self.lock();
        let known = registry.conversations.get(conversation).map(Vec::as_slice).unwrap_or_default();
        if let Some(other) = known.iter().find(|known| known.name == name) {
            let what = format!(
                "{name}: {} has brought a server of this name already; choose another name",
                other.by
            );
            return Err(refused(what));
        }
        if known.len() >= MAX_SERVERS {
            return Err(refused(format!(
                "{name}: clients have brought {MAX_SERVERS} servers, which is the most"
            )));
        }
        registry.changes += 1;
        let number = registry.changes;
        let brought = BroughtServer { name: name.to_owned(), by: by.to_owned(), number, servers: None };
        registry.conversations.entry(conversation.clone()).or_default().push(brought);
        Ok(BroughtGuard { all: self.clone(), conversation: conversation.clone(), number })
    }

    fn lock(&self) -> MutexGuard<'_, Registry> {
        self.0.lock().ignore_poison()
    }
}

impl BroughtGuard {
    pub(crate) fn connected(&self, servers: Arc<dyn ToolServers>) {
        let mut registry = self.all.lock();
        registry.changes += 1;
        let known = registry.conversations.get_mut(&self.conversation);
        let place = known.and_then(|known| known.iter_mut().find(|known| known.number == self.number));
        if let Some(place) = place {
            place.servers = Some(servers);
        }
    }
}

impl Drop for BroughtGuard {
    fn drop(&mut self) {
        let mut registry = self.all.lock();
        registry.changes += 1;
        let Some(known) = registry.conversations.get_mut(&self.conversation) else { return };
        let place = known.iter().position(|known| known.number == self.number);
        let gone = place.map(|place| known.remove(place));
        if known.is_empty() {
            registry.conversations.remove(&self.conversation);
        }
        drop(registry);
        // Dropped here, because it ends the connection, which must not happen under the lock.
        drop(gone);
    }
}

/// The servers that were added to one conversation.
#[derive(Clone)]
pub(crate) struct BroughtTools {
    pub(crate) all: Arc<BroughtServers>,
    pub(crate) conversation: ConversationKey,
}

impl BroughtTools {
    pub(crate) fn is_empty(&self) -> bool {
        !self.all.lock().conversations.contains_key(&self.conversation)
    }

    /// A number that changes whenever a server is added or removed, or changes its tools.
    pub(crate) fn version(&self) -> u64 {
        let changes = self.all.lock().changes;
        let own: u64 = self.servers().iter().map(|(servers, _)| servers.version()).sum();
        (changes << 32).wrapping_add(own)
    }

    /// The tools whose names begin with the prefix of their server. Other names are left out.
    pub(crate) fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let tools = self.servers().into_iter().flat_map(|(servers, _)| servers.tools());
        tools.filter(|tool| tool.spec().origin.is_some()).collect()
    }

    pub(crate) fn unapproved(&self) -> Vec<ClientServer> {
        self.servers().iter().flat_map(|(servers, _)| servers.unapproved()).collect()
    }

    pub(crate) fn connect_tools(&self) -> Vec<Arc<dyn Tool>> {
        self.servers().iter().filter_map(|(servers, _)| servers.connect_tool()).collect()
    }

    /// The status of each server and the client that added it.
    pub(crate) fn statuses(&self) -> Vec<(ServerStatus, String)> {
        let each = |(servers, by): (Arc<dyn ToolServers>, String)| {
            servers.statuses().into_iter().map(move |status| (status, by.clone()))
        };
        self.servers().into_iter().flat_map(each).collect()
    }

    fn servers(&self) -> Vec<(Arc<dyn ToolServers>, String)> {
        let registry = self.all.lock();
        let known = registry.conversations.get(&self.conversation).map(Vec::as_slice).unwrap_or_default();
        known.iter().filter_map(|known| Some((known.servers.clone()?, known.by.clone()))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_taken_until_its_client_has_gone() {
        let all = Arc::new(BroughtServers::default());
        let conversation = (Scope::new("", "me"), ContextId::from("c"));
        let tools = BroughtTools { all: all.clone(), conversation: conversation.clone() };
        assert!(tools.is_empty());
        let before = tools.version();
        let guard = all.reserve(&conversation, "notes", "phone").unwrap();
        assert!(!tools.is_empty());
        assert_ne!(tools.version(), before);
        let taken = all.reserve(&conversation, "notes", "wall").err().unwrap();
        assert!(taken.what.contains("phone has brought a server of this name"), "{taken}");
        let other = (Scope::new("", "me"), ContextId::from("d"));
        all.reserve(&other, "notes", "wall").unwrap();
        drop(guard);
        assert!(tools.is_empty());
        all.reserve(&conversation, "notes", "wall").unwrap();
    }

    #[test]
    fn a_conversation_takes_so_many_and_no_more() {
        let all = Arc::new(BroughtServers::default());
        let conversation = (Scope::new("", "me"), ContextId::from("c"));
        let reserve = |name: usize| all.reserve(&conversation, &name.to_string(), "phone");
        let mut guards: Vec<_> = (0..MAX_SERVERS).map(|name| reserve(name).unwrap()).collect();
        assert!(reserve(MAX_SERVERS).is_err());
        guards.pop();
        assert!(reserve(MAX_SERVERS).is_ok());
    }
}
