//! Merges the layers of settings.

use std::collections::BTreeMap;

use attache_config::{ApprovalMode, SettingOrigin};
use attache_document::NodeKind;
use serde_json::Value;

use super::gather::{GatheredSettings, LayerValue};
use super::keys::{KEYS, Merge, SettingKey, ValueType};
use super::mcp::McpServerSettings;
use super::typed::tool_of_entry;
use crate::settings::layer::Layer;

/// The merged settings.
#[derive(Debug, Clone, Default)]
pub(crate) struct ResolvedSettings {
    pub(crate) values: BTreeMap<&'static str, EffectiveValue>,
    pub(crate) servers: BTreeMap<String, (Layer, McpServerSettings)>,
}

/// The value of one key, and its origin.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EffectiveValue {
    pub(crate) value: Value,
    /// The strongest layer that sets it.
    pub(crate) layer: Layer,
    /// The strongest first; several if lists are joined.
    pub(crate) origins: Vec<SettingOrigin>,
    /// The entries of joined lists, each with its layer.
    pub(crate) items: Vec<(String, Layer, SettingOrigin)>,
    /// Whether the strongest layer may grant a permission.
    pub(crate) allows: bool,
}

pub(crate) fn resolve(gathered: &GatheredSettings) -> ResolvedSettings {
    let values = KEYS
        .iter()
        .filter(|key| !matches!(key.value_type, ValueType::Servers | ValueType::Agents))
        .map(|key| (key.name, value(key, &gathered.values)));
    let mut servers: BTreeMap<String, (Layer, McpServerSettings)> = BTreeMap::new();
    for (layer, name, server) in &gathered.servers {
        let stronger = servers.get(name).is_none_or(|(known, _)| known <= layer);
        if stronger {
            servers.insert(name.clone(), (*layer, server.clone()));
        }
    }
    ResolvedSettings { values: values.collect(), servers }
}

fn value(key: &'static SettingKey, layers: &[LayerValue]) -> EffectiveValue {
    let mut layers: Vec<&LayerValue> = layers.iter().filter(|layer| layer.key == key).collect();
    layers.sort_by_key(|value| std::cmp::Reverse(value.layer));
    let Some(strongest) = layers.first() else {
        let value = serde_json::from_str(key.default).unwrap_or(Value::Null);
        let origins = vec![SettingOrigin::BuiltIn];
        return EffectiveValue { value, layer: Layer::BuiltIn, origins, items: Vec::new(), allows: true };
    };
    let strongest = match key.merge {
        Merge::Together => strongest,
        Merge::Strongest => return alone(key, strongest),
        Merge::Narrower => {
            let other = layers.iter().find(|value| !value.layer.is_project());
            return match other.filter(|_| strongest.layer.is_project()) {
                Some(other) => narrower(alone(key, strongest), alone(key, other)),
                None => alone(key, strongest),
            };
        }
    };
    let mut items: Vec<(String, Layer, SettingOrigin)> = Vec::new();
    for value in &layers {
        let NodeKind::List(nodes) = &value.node.kind else { continue };
        for node in nodes {
            let NodeKind::Text(text) = &node.kind else { continue };
            if !items.iter().any(|(known, _, _)| known == text) {
                items.push((text.clone(), value.layer, value.origin.clone()));
            }
        }
    }
    EffectiveValue {
        value: Value::Array(items.iter().map(|(text, _, _)| Value::String(text.clone())).collect()),
        layer: strongest.layer,
        origins: layers.iter().map(|value| value.origin.clone()).collect(),
        items,
        allows: strongest.allows,
    }
}

fn alone(key: &SettingKey, layer_value: &LayerValue) -> EffectiveValue {
    let value = match (&layer_value.node.kind, key.value_type) {
        (NodeKind::Text(text), ValueType::TextOrTexts) => Value::Array(vec![Value::String(text.clone())]),
        _ => layer_value.node.to_json(),
    };
    let items = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    let items = items.map(|item| (item.to_owned(), layer_value.layer, layer_value.origin.clone())).collect();
    let origins = vec![layer_value.origin.clone()];
    EffectiveValue { value, layer: layer_value.layer, origins, items, allows: layer_value.allows }
}

/// The value after the removals of a project.
fn narrower(project: EffectiveValue, other: EffectiveValue) -> EffectiveValue {
    if let (Some(one), Some(two)) = (project.value.as_str(), other.value.as_str()) {
        let freedom = |name: &str| ApprovalMode::from_name(name).unwrap_or_default().freedom();
        // A more permissive mode is here only because it was accepted.
        return if project.allows || freedom(one) < freedom(two) { project } else { other };
    }
    // A tool without arguments covers all narrower entries of it.
    let covers = |list: &EffectiveValue, text: &str| {
        let tool = |item: &str| tool_of_entry(item) == (tool_of_entry(text).0, false);
        list.items.iter().any(|(item, _, _)| item == text || tool(item))
    };
    let mut items: Vec<_> =
        other.items.iter().filter(|(text, _, _)| covers(&project, text)).cloned().collect();
    let new = |text: &String| !other.items.iter().any(|(known, _, _)| known == text);
    items.extend(project.items.iter().filter(|(text, _, _)| new(text) && covers(&other, text)).cloned());
    EffectiveValue {
        value: items.iter().map(|(text, _, _)| Value::String(text.clone())).collect(),
        layer: project.layer,
        origins: project.origins.into_iter().chain(other.origins).collect(),
        items,
        allows: project.allows,
    }
}

impl ResolvedSettings {
    pub(crate) fn get(&self, name: &str) -> Option<&EffectiveValue> {
        self.values.get(name)
    }

    pub(crate) fn bool(&self, name: &str) -> bool {
        self.get(name).is_some_and(|effective| effective.value == Value::Bool(true))
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.get(name)?.value.as_str().map(str::to_owned)
    }

    pub(crate) fn whole(&self, name: &str) -> i64 {
        self.get(name).and_then(|effective| effective.value.as_i64()).unwrap_or(0)
    }

    pub(crate) fn texts(&self, name: &str) -> Option<Vec<String>> {
        let values = self.get(name)?.value.as_array()?;
        Some(values.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    }
}
