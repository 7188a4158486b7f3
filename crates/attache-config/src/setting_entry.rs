//! What counts and who said it, to be shown.

use serde_json::Value;

use crate::origin::Origin;
use crate::{ConfigError, ModelChoice, Settings, WorkspaceSettings};

/// One key. Secrets are already hidden in its value.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingEntry {
    pub key: String,
    pub value: Value,
    /// The strongest first; several where lists go together.
    pub origins: Vec<Origin>,
}

impl SettingEntry {
    /// The value as people like to read it: texts without quotes, nothing as a dash.
    pub fn shown_value(&self) -> String {
        match &self.value {
            Value::Null => "-".to_owned(),
            Value::String(text) => {
                text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
            }
            other => other.to_string(),
        }
    }

    pub fn shown_origin(&self) -> String {
        self.origins.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }
}

impl Settings {
    /// The operator's keys, by name.
    pub fn entries(&self) -> &[SettingEntry] {
        &self.entries
    }
}

impl WorkspaceSettings {
    /// The agent's keys, by name; every server as a key of its own.
    pub fn entries(&self) -> Vec<SettingEntry> {
        let servers = self.resolved.servers.iter().map(|(name, (_, server))| SettingEntry {
            key: format!("mcpServers.{name}"),
            value: server.to_json(),
            origins: vec![server.origin.clone()],
        });
        let values = self.resolved.values.iter().map(|(name, effective)| SettingEntry {
            key: (*name).to_owned(),
            value: effective.value.clone(),
            origins: effective.origins.clone(),
        });
        let mut entries: Vec<SettingEntry> = values.chain(servers).collect();
        entries.sort_by(|one, other| one.key.cmp(&other.key));
        entries
    }

    /// The model that answers in this workspace when a task names none.
    pub fn model_choice(&self, current_dir: &std::path::Path) -> Result<ModelChoice, ConfigError> {
        match &self.model.name {
            Some(name) => ModelChoice::named(name, &self.keys, current_dir),
            None => ModelChoice::without_name(&self.keys),
        }
    }
}
