//! The settings that a client requests for a conversation: model, workspace, mode, servers.
//!
//! The latest request counts, for the task and for the later tasks of its conversation. The conversation's setup decides
//! which requests are granted.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{ApiKey, Role, TaskView};

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RequestedSettings {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_mode: Option<String>,
    /// By name; each as in the settings of an MCP server.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub mcp_servers: Map<String, Value>,
    /// The servers that a client on this machine named: they may be on this machine too. Set by the server, never by a
    /// client.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub local_servers: Vec<String>,
    /// Tools that may be used without asking.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_tools: Vec<String>,
    /// Run everything without asking.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub auto_execute: bool,
    /// Names the client's own key for the model's provider. The key itself is in memory only, among the
    /// [`ApiKeys`](crate::ApiKeys).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_name: Option<String>,
    /// The model that the key was given for: the one that was requested when the key came. None: the operator's. It is
    /// computed when requests are merged.
    #[serde(skip)]
    pub api_key_model: Option<String>,
    /// The key itself, until the server has put it among the [`ApiKeys`](crate::ApiKeys) under a name.
    #[serde(skip)]
    pub api_key: Option<ApiKey>,
    /// The member of the message's metadata with these settings, for error messages; of one message only. A member of the
    /// request's metadata has [`IN_REQUEST`](Self::IN_REQUEST) before it.
    #[serde(rename = "said_in", skip_serializing_if = "String::is_empty")]
    pub metadata_key: String,
}

impl RequestedSettings {
    /// Prefix of [`metadata_key`](Self::metadata_key) for settings in the metadata of the request, beside the message.
    pub const IN_REQUEST: &str = "metadata.";

    /// The settings requested in these tasks; later requests win.
    pub fn of<'a>(views: impl IntoIterator<Item = &'a TaskView>) -> Self {
        let mut requested = Self::default();
        for view in views {
            let said = view.history.iter().filter(|message| message.role == Role::User);
            for latest in said.filter_map(|message| message.requested.as_deref()) {
                requested.merge(latest.clone());
            }
            if let Some(model) = &view.chosen_model {
                requested.model = Some(model.clone());
            }
        }
        requested
    }

    /// Marks the client of these settings as on the server's machine.
    pub fn mark_local_client(&mut self) {
        self.local_servers = self.mcp_servers.keys().cloned().collect();
    }

    /// Whether tools would run unasked by these settings that are asked about otherwise.
    pub(crate) fn loosens_approvals(&self) -> bool {
        let mode = self.approval_mode.as_deref();
        self.auto_execute
            || !self.allowed_tools.is_empty()
            || mode.is_some_and(|mode| !matches!(mode, "plan" | "default"))
    }

    /// These settings, completed from `before`.
    pub fn over(self, mut before: Self) -> Self {
        before.metadata_key.clone_from(&self.metadata_key);
        before.merge(self);
        before
    }

    fn merge(&mut self, latest: Self) {
        self.model = latest.model.or_else(|| self.model.take());
        self.workspace = latest.workspace.or_else(|| self.workspace.take());
        self.approval_mode = latest.approval_mode.or_else(|| self.approval_mode.take());
        self.local_servers.retain(|name| !latest.mcp_servers.contains_key(name));
        self.local_servers.extend(latest.local_servers);
        self.mcp_servers.extend(latest.mcp_servers);
        for tool in latest.allowed_tools {
            if !self.allowed_tools.contains(&tool) {
                self.allowed_tools.push(tool);
            }
        }
        self.auto_execute |= latest.auto_execute;
        self.api_key = latest.api_key.or_else(|| self.api_key.take());
        if latest.api_key_name.is_some() {
            self.api_key_name = latest.api_key_name;
            self.api_key_model.clone_from(&self.model);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_word_counts_and_the_rest_stays() {
        let mut requested = RequestedSettings {
            model: Some("pro".into()),
            workspace: Some("/w".into()),
            ..RequestedSettings::default()
        };
        requested.merge(RequestedSettings { model: Some("flash".into()), ..RequestedSettings::default() });
        assert_eq!(requested.model.as_deref(), Some("flash"));
        assert_eq!(requested.workspace, Some("/w".into()));
    }

    #[test]
    fn the_name_of_a_key_is_stored_and_older_logs_have_none() {
        let requested = RequestedSettings { api_key_name: Some("k".into()), ..RequestedSettings::default() };
        let stored = serde_json::to_string(&requested).unwrap();
        assert_eq!(stored, r#"{"api_key_name":"k"}"#);
        assert_eq!(serde_json::from_str::<RequestedSettings>(&stored).unwrap(), requested);
        assert_eq!(serde_json::from_str::<RequestedSettings>("{}").unwrap().api_key_name, None);
        let later = RequestedSettings::default().over(requested);
        assert_eq!(later.api_key_name.as_deref(), Some("k"), "silence changes nothing");
    }

    #[test]
    fn a_key_stays_with_the_model_it_was_given_for() {
        let model = |name: &str| RequestedSettings { model: Some(name.into()), ..Default::default() };
        let key = |name: &str| RequestedSettings { api_key_name: Some(name.into()), ..Default::default() };
        let first = model("pro").over(key("k"));
        assert_eq!((first.model.as_deref(), first.api_key_model), (Some("pro"), None), "for the operator's");
        let both = RequestedSettings { model: Some("pro".into()), ..key("k") };
        let later = model("openai:x").over(both.over(RequestedSettings::default()));
        assert_eq!((later.model.as_deref(), later.api_key_model.as_deref()), (Some("openai:x"), Some("pro")));
        let second = key("k2").over(later);
        assert_eq!(second.api_key_name.as_deref(), Some("k2"));
        assert_eq!(second.api_key_model.as_deref(), Some("openai:x"));
    }

    #[test]
    fn a_key_is_never_stored() {
        let key = Some(ApiKey::from("sk-1".to_owned()));
        let requested = RequestedSettings { api_key: key, ..RequestedSettings::default() };
        assert_eq!(serde_json::to_string(&requested).unwrap(), "{}");
    }

    #[test]
    fn a_server_is_local_when_the_latest_client_that_named_it_is() {
        let named = |local: bool| {
            let mut requested = RequestedSettings::default();
            requested.mcp_servers.insert("editor".into(), Value::Null);
            if local {
                requested.mark_local_client();
            }
            requested
        };
        for (first, second, expected) in [
            (true, true, &["editor"][..]),
            (false, true, &["editor"]),
            (true, false, &[]),
            (false, false, &[]),
        ] {
            let requested = named(second).over(named(first));
            assert_eq!(requested.local_servers, expected, "{first} {second}");
            assert_eq!(
                RequestedSettings::default().over(requested).local_servers,
                expected,
                "silence changes nothing"
            );
        }
    }
}
