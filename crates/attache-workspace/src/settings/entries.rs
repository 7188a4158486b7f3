//! The agent's settings with their origins, to be shown.

use std::path::Path;

use attache_config::{ConfigError, SettingEntry};
use serde_json::Value;

use crate::{ModelChoice, WorkspaceSettings, proxy_setting};

impl WorkspaceSettings {
    /// The agent's keys, by name; every server as a key of its own.
    pub fn entries(&self) -> Vec<SettingEntry> {
        let servers = self.resolved.servers.iter().map(|(name, (_, server))| SettingEntry {
            key: format!("mcpServers.{name}"),
            value: server.to_json(),
            origins: vec![server.origin.clone()],
        });
        let overrides = self.agent_overrides.entries().map(|(name, enabled, origin)| SettingEntry {
            key: format!("agents.overrides.{name}.enabled"),
            value: enabled.into(),
            origins: vec![origin.clone()],
        });
        let values = self.resolved.values.iter().map(|(name, effective)| SettingEntry {
            key: (*name).to_owned(),
            value: shown(name, &effective.value),
            origins: effective.origins.clone(),
        });
        let mut entries: Vec<SettingEntry> = values.chain(servers).chain(overrides).collect();
        entries.sort_by(|one, other| one.key.cmp(&other.key));
        entries
    }

    /// The model that answers in this workspace when a task names none.
    pub fn model_choice(&self, current_dir: &Path) -> Result<ModelChoice, ConfigError> {
        match &self.model.name {
            Some(name) => ModelChoice::named(name, &self.keys, current_dir),
            None => ModelChoice::without_name(&self.keys),
        }
    }
}

/// A proxy is shown without its password.
fn shown(name: &str, value: &Value) -> Value {
    match value.as_str().and_then(|text| text.rsplit_once('@')) {
        Some((_, host)) if name == proxy_setting::KEY => Value::String(format!("…@{host}")),
        _ => value.clone(),
    }
}
