//! What the client of a conversation asks for: model, workspace, mode, servers.
//!
//! Said in the metadata of a message, under `attache`; the latest word counts, for the task and for those that follow in
//! its conversation. Asking is not getting: whoever furnishes the workplace decides.

use std::path::PathBuf;

use attache_domain::{Fault, Message, Metadata, Role, TaskView};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The member of a message's metadata that holds them.
pub const WISHES: &str = "attache";

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Wishes {
    #[serde(default)]
    pub model: Option<String>,
    #[serde(default)]
    pub workspace: Option<PathBuf>,
    #[serde(default)]
    pub approval_mode: Option<String>,
    /// By name; each as in the settings of an MCP server.
    #[serde(default)]
    pub mcp_servers: Map<String, Value>,
}

impl Wishes {
    /// What `message` asks for; nothing when it says nothing about it.
    pub fn in_message(message: &Message) -> Result<Option<Self>, Fault> {
        let Some(said) = message.metadata.as_ref().and_then(|metadata| metadata.get(WISHES)) else {
            return Ok(None);
        };
        let wishes = Self::deserialize(said).map_err(|error| {
            let members = "model, workspace, approvalMode and mcpServers";
            Fault::invalid(field(""), format!("cannot be read: {error}; it may hold {members}"))
        })?;
        Ok(Some(wishes))
    }

    /// What the people of these tasks asked for, the latest word last.
    pub(crate) fn of<'a>(views: impl IntoIterator<Item = &'a TaskView>) -> Self {
        let mut wishes = Self::default();
        for view in views {
            let said = view.history.iter().filter(|message| message.role == Role::User);
            for message in said.filter(|message| mentions_wishes(message.metadata.as_ref())) {
                // What cannot be read was refused when it came.
                if let Ok(Some(latest)) = Self::in_message(message) {
                    wishes.take(latest);
                }
            }
        }
        wishes
    }

    fn take(&mut self, latest: Self) {
        self.model = latest.model.or_else(|| self.model.take());
        self.workspace = latest.workspace.or_else(|| self.workspace.take());
        self.approval_mode = latest.approval_mode.or_else(|| self.approval_mode.take());
        self.mcp_servers.extend(latest.mcp_servers);
    }
}

fn mentions_wishes(metadata: Option<&Metadata>) -> bool {
    metadata.is_some_and(|metadata| metadata.contains_key(WISHES))
}

/// How a caller spells a member of the wishes.
pub(crate) fn field(member: &str) -> String {
    let dot = if member.is_empty() { "" } else { "." };
    format!("message.metadata.{WISHES}{dot}{member}")
}

#[cfg(test)]
mod tests {
    use attache_domain::{ContextId, MessageId};
    use serde_json::json;

    use super::*;

    fn message(wishes: Value) -> Message {
        let mut message = Message::from_agent(MessageId::from("m"), ContextId::from("c"), None, "hi");
        message.role = Role::User;
        message.metadata = Some(Map::from_iter([(WISHES.to_owned(), wishes)]));
        message
    }

    #[test]
    fn wishes_are_read_from_a_message() {
        let wishes =
            Wishes::in_message(&message(json!({"model": "flash", "workspace": "/w"}))).unwrap().unwrap();
        assert_eq!(wishes.model.as_deref(), Some("flash"));
        assert_eq!(wishes.workspace, Some("/w".into()));
    }

    #[test]
    fn what_is_not_understood_is_refused_with_what_would_be() {
        for wrong in [json!({"modle": "flash"}), json!({"model": 3}), json!("flash")] {
            let fault = Wishes::in_message(&message(wrong.clone())).unwrap_err().to_string();
            assert!(fault.contains("message.metadata.attache"), "{wrong}: {fault}");
            assert!(fault.contains("approvalMode"), "{wrong}: {fault}");
        }
    }

    #[test]
    fn the_latest_word_counts_and_the_rest_stays() {
        let mut wishes =
            Wishes { model: Some("pro".into()), workspace: Some("/w".into()), ..Wishes::default() };
        wishes.take(Wishes { model: Some("flash".into()), ..Wishes::default() });
        assert_eq!(wishes.model.as_deref(), Some("flash"));
        assert_eq!(wishes.workspace, Some("/w".into()));
    }
}
