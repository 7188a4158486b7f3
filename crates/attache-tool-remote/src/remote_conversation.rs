//! The remote conversation with an agent, as far as later calls continue it.
//!
//! Calls that come one after the other go on in the same context of the agent, and in the same task while that waits for
//! input. Calls that run at the same time each have their own: only the first goes on with what was before.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use attache_domain::IgnorePoison;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Where the next call to an agent goes on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct RemoteConversation {
    /// Where the agent was. Ids of one agent mean nothing to another.
    pub(crate) origin: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) context: Option<String>,
    /// A task of the agent that waits for input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) task: Option<String>,
}

impl RemoteConversation {
    /// The name under which a conversation keeps it.
    pub(crate) fn key(agent: &str) -> String {
        attache_tool::agent_state_key(agent)
    }

    pub(crate) fn read(value: Option<&Value>, origin: &str) -> Self {
        let kept: Option<Self> = value.and_then(|value| serde_json::from_value(value.clone()).ok());
        let kept = kept.filter(|kept| kept.origin == origin).unwrap_or_default();
        Self { origin: origin.to_owned(), ..kept }
    }
}

/// The agents that calls of one conversation talk with right now.
#[derive(Debug, Default)]
pub(crate) struct BusyAgents(Mutex<BTreeSet<String>>);

/// While it lives, other calls to the agent have a conversation of their own.
pub(crate) struct BusyGuard {
    all: Arc<BusyAgents>,
    agent: String,
}

impl BusyAgents {
    /// None if a call talks with the agent already.
    pub(crate) fn enter(self: &Arc<Self>, agent: &str) -> Option<BusyGuard> {
        let is_first = self.0.lock().ignore_poison().insert(agent.to_owned());
        is_first.then(|| BusyGuard { all: self.clone(), agent: agent.to_owned() })
    }
}

impl Drop for BusyGuard {
    fn drop(&mut self) {
        self.all.0.lock().ignore_poison().remove(&self.agent);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_one_of_the_calls_at_a_time_goes_on_with_what_was_before() {
        let busy = Arc::new(BusyAgents::default());
        let first = busy.enter("a");
        assert!(first.is_some() && busy.enter("a").is_none() && busy.enter("b").is_some());
        drop(first);
        assert!(busy.enter("a").is_some());
    }

    #[test]
    fn ids_of_another_place_do_not_count() {
        let kept = json!({"origin": "https://a.example", "context": "c", "task": "t"});
        assert_eq!(RemoteConversation::read(Some(&kept), "https://a.example").task.as_deref(), Some("t"));
        let other =
            RemoteConversation { origin: "https://b.example".into(), ..RemoteConversation::default() };
        assert_eq!(RemoteConversation::read(Some(&kept), "https://b.example"), other);
        assert_eq!(RemoteConversation::read(Some(&json!(null)), "https://b.example"), other);
    }
}
