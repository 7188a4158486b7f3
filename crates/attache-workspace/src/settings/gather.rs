//! Reads the known keys of one file.

use std::path::Path;
use std::sync::Arc;

use attache_config::{ConfigError, SettingOrigin};
use attache_document::{Node, NodeKind};

use super::agent_overrides::{self, AgentOverride};
use super::check::check;
use super::keys::{
    FLAT, ProjectEffect, SettingKey, ValueType, find, is_section, is_unused, names, project_effect,
};
use super::mcp::{self, McpServerSettings};
use super::nearest::{nearest, shown};
use crate::settings::layer::Layer;
use crate::{Allowance, ProjectReport, ProjectTrust};

/// The values of all layers.
#[derive(Debug, Default)]
pub(crate) struct GatheredSettings {
    pub(crate) values: Vec<LayerValue>,
    pub(crate) servers: Vec<(Layer, String, McpServerSettings)>,
    pub(crate) overrides: Vec<AgentOverride>,
    pub(crate) warnings: Vec<String>,
    /// The permissions in the project's files, and which of them are ignored.
    pub(crate) project: ProjectReport,
}

/// One value of one layer.
#[derive(Debug, Clone)]
pub(crate) struct LayerValue {
    pub(crate) key: &'static SettingKey,
    pub(crate) node: Node,
    pub(crate) layer: Layer,
    pub(crate) origin: SettingOrigin,
    /// Whether it may grant a permission. Values of a project may not.
    pub(crate) allows: bool,
}

impl GatheredSettings {
    /// Adds the tree of a file.
    pub(crate) fn file(&mut self, path: &Path, layer: Layer, tree: &Node) -> Result<(), ConfigError> {
        let file = File { path: path.into(), layer };
        let NodeKind::Table(entries) = &tree.kind else {
            return Err(file.error(
                tree.line,
                None,
                format!("must hold a table of settings, not {}", tree.describe()),
            ));
        };
        // Deprecated names first, so that current ones override them.
        for (name, node) in entries {
            if let Some(renamed) = renamed(name, node) {
                self.entry(&file, renamed, node)?;
            }
        }
        for (name, node) in entries.iter().filter(|(name, node)| renamed(name, node).is_none()) {
            self.entry(&file, name, node)?;
        }
        Ok(())
    }

    /// Adds the file of a project, as far as its trust allows. `written` is the same tree with only the project's own
    /// variables expanded: people see and accept that one.
    pub(crate) fn project_file(
        &mut self,
        path: &Path,
        layer: Layer,
        (tree, written): (&Node, &Node),
        project_trust: &ProjectTrust,
    ) -> Result<(), ConfigError> {
        let mut gathered = Self::default();
        gathered.file(path, layer, tree)?;
        let mut shown = Self::default();
        // A value that is valid only with the user's variables cannot be shown before expansion, so the expanded value
        // is shown.
        let _ = shown.file(path, layer, written);
        self.warnings.extend(gathered.warnings);
        self.overrides.extend(gathered.overrides);
        for value in gathered.values {
            let node = shown.values.iter().find(|it| it.key == value.key).map_or(&value.node, |it| &it.node);
            let allowance = Allowance::setting(value.key.name, &node.to_json(), value.origin.clone());
            self.project_value(value, allowance, project_trust);
        }
        for (layer, name, server) in gathered.servers {
            let found = shown.servers.iter().find(|(_, known, _)| *known == name);
            let settings = found.map_or(&server, |(_, _, settings)| settings);
            let node = written.at("mcpServers").and_then(|servers| servers.entry(&name));
            let canonical = node.map(Node::to_json).unwrap_or_default();
            let allowance = Allowance::server(&name, settings, &canonical);
            let counts = project_trust.admits(&allowance);
            self.project.allowances.push((allowance, counts));
            if counts {
                self.servers.push((layer, name, server));
            }
        }
        Ok(())
    }

    fn project_value(&mut self, value: LayerValue, allowance: Allowance, project_trust: &ProjectTrust) {
        match project_effect(value.key, &value.node) {
            ProjectEffect::Nothing => {}
            // A list of allowed servers excludes others. Whether their tools run without approval is a separate
            // decision.
            ProjectEffect::Restricts if value.key.name == "mcp.allowed" => {
                let allows = project_trust.admits(&allowance);
                self.project.allowances.push((allowance, allows));
                self.push(LayerValue { allows, ..value });
            }
            ProjectEffect::Restricts => self.push(LayerValue { allows: false, ..value }),
            ProjectEffect::Configures if project_trust.is_trusted() => self.push(value),
            ProjectEffect::Configures => {
                self.project.ignored.push((value.origin, value.key.name.to_owned()));
            }
            ProjectEffect::Allows => {
                let counts = project_trust.admits(&allowance);
                self.project.allowances.push((allowance, counts));
                if counts {
                    self.push(value);
                }
            }
        }
    }

    /// Adds one value that its source has already checked.
    pub(crate) fn value(
        &mut self,
        layer: Layer,
        origin: SettingOrigin,
        name: &str,
        kind: NodeKind,
    ) -> Result<(), ConfigError> {
        let Some(key) = find(name) else { return Ok(()) };
        let node = Node::new(0, kind);
        check(key.value_type, &node).map_err(|message| ConfigError::BadSetting {
            place: origin.to_string(),
            key: Some(name.to_owned()),
            message,
        })?;
        self.push(LayerValue { key, node, layer, origin, allows: true });
        Ok(())
    }

    fn entry(&mut self, file: &File, name: &str, node: &Node) -> Result<(), ConfigError> {
        if let Some(key) = find(name) {
            return self.known(file, key, node);
        }
        // A section with some unused keys.
        let is_partly_used = is_section(name) && matches!(node.kind, NodeKind::Table(_));
        if (is_unused(name) && !is_partly_used) || (is_section(name) && node.kind == NodeKind::Null) {
            return Ok(());
        }
        if !is_section(name) {
            let nearest =
                nearest(name, names()).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            self.warnings.push(format!("{}: unknown key {}{nearest}", file.place(node.line), shown(name)));
            return Ok(());
        }
        let NodeKind::Table(entries) = &node.kind else {
            let message = format!("must be a table, not {}", node.describe());
            return Err(file.error(node.line, Some(name), message));
        };
        for (inner, node) in entries {
            self.entry(file, &format!("{name}.{inner}"), node)?;
        }
        Ok(())
    }

    fn known(&mut self, file: &File, key: &'static SettingKey, node: &Node) -> Result<(), ConfigError> {
        if node.kind == NodeKind::Null {
            return Ok(());
        }
        check(key.value_type, node).map_err(|message| file.error(node.line, Some(key.name), message))?;
        if let (ValueType::Servers, NodeKind::Table(entries)) = (key.value_type, &node.kind) {
            for (name, node) in entries {
                let origin = file.origin(node.line);
                let server = mcp::read(name, node, origin, &mut self.warnings)
                    .map_err(|(line, key, message)| file.error(line, Some(&key), message))?;
                self.servers.push((file.layer, name.clone(), server));
            }
            return Ok(());
        }
        if let (ValueType::Agents, NodeKind::Table(entries)) = (key.value_type, &node.kind) {
            for (name, node) in entries.iter().filter(|(_, node)| node.kind != NodeKind::Null) {
                let origin = |line| file.origin(line);
                let read = agent_overrides::read((file.layer, name), node, origin, &mut self.warnings)
                    .map_err(|(line, key, message)| file.error(line, Some(&key), message))?;
                self.overrides.push(read);
            }
            return Ok(());
        }
        let origin = file.origin(node.line);
        self.push(LayerValue { key, node: node.clone(), layer: file.layer, origin, allows: true });
        Ok(())
    }

    fn push(&mut self, layer_value: LayerValue) {
        let why = match (project_effect(layer_value.key, &layer_value.node), &layer_value.node.kind) {
            _ if !layer_value.layer.is_project() => None,
            (ProjectEffect::Nothing, _) if layer_value.key.name == "general.defaultApprovalMode" => {
                Some("cannot be yolo by a project's word")
            }
            (ProjectEffect::Nothing, _) => Some("is not for a project to say"),
            (_, NodeKind::Text(model))
                if layer_value.key.name == "model.name" && model.starts_with("script:") =>
            {
                Some("cannot be a script by a project's word")
            }
            _ => None,
        };
        if let Some(why) = why {
            self.warnings.push(format!(
                "{}: {} {why}; put it into your own settings or say it on the command line",
                layer_value.origin, layer_value.key.name
            ));
            return;
        }
        // A later value of the same layer replaces an earlier one.
        self.values.retain(|known| !(known.layer == layer_value.layer && known.key == layer_value.key));
        self.values.push(layer_value);
    }
}

struct File {
    path: Arc<Path>,
    layer: Layer,
}

impl File {
    fn origin(&self, line: u32) -> SettingOrigin {
        SettingOrigin::File { path: self.path.clone(), line }
    }

    fn place(&self, line: u32) -> String {
        self.origin(line).to_string()
    }

    fn error(&self, line: u32, key: Option<&str>, message: String) -> ConfigError {
        ConfigError::BadSetting { place: self.place(line), key: key.map(shown), message }
    }
}

/// The new name of a deprecated key. Some old names are sections now; they are deprecated keys only if their value is
/// no table.
fn renamed(name: &str, node: &Node) -> Option<&'static str> {
    let (_, new) = FLAT.iter().find(|(old, _)| *old == name)?;
    (!(is_section(name) && matches!(node.kind, NodeKind::Table(_)))).then_some(new)
}
