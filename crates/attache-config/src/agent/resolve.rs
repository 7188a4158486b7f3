//! Puts what all layers said on top of each other.

use std::collections::BTreeMap;

use serde_json::Value;

use super::gather::{Gathered, Said};
use super::keys::{KEYS, Key, Merge, Takes};
use super::mcp::McpServerSettings;
use crate::origin::{Layer, Origin};
use crate::tree::Kind;

/// What counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Resolved {
    pub(crate) values: BTreeMap<&'static str, Effective>,
    pub(crate) servers: BTreeMap<String, (Layer, McpServerSettings)>,
}

/// The value of one key, and who said it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Effective {
    pub(crate) value: Value,
    /// The strongest layer that said something.
    pub(crate) layer: Layer,
    /// The strongest first; several where lists go together.
    pub(crate) origins: Vec<Origin>,
    /// The parts of such lists, each with the layer that said it.
    pub(crate) items: Vec<(String, Layer, Origin)>,
}

pub(crate) fn resolve(gathered: &Gathered) -> Resolved {
    let values = KEYS
        .iter()
        .filter(|key| key.takes != Takes::Servers)
        .map(|key| (key.name, value(key, &gathered.said)));
    let mut servers: BTreeMap<String, (Layer, McpServerSettings)> = BTreeMap::new();
    for (layer, name, server) in &gathered.servers {
        let stronger = servers.get(name).is_none_or(|(known, _)| known <= layer);
        if stronger {
            servers.insert(name.clone(), (*layer, server.clone()));
        }
    }
    Resolved { values: values.collect(), servers }
}

fn value(key: &'static Key, said: &[Said]) -> Effective {
    let mut said: Vec<&Said> = said.iter().filter(|said| said.key == key).collect();
    said.sort_by_key(|said| std::cmp::Reverse(said.layer));
    let Some(strongest) = said.first() else {
        let value = serde_json::from_str(key.default).unwrap_or(Value::Null);
        return Effective { value, layer: Layer::BuiltIn, origins: vec![Origin::BuiltIn], items: Vec::new() };
    };
    if key.merge == Merge::Strongest {
        let value = match (&strongest.node.kind, key.takes) {
            (Kind::Text(text), Takes::TextOrTexts) => Value::Array(vec![Value::String(text.clone())]),
            _ => strongest.node.to_json(),
        };
        let origins = vec![strongest.origin.clone()];
        return Effective { value, layer: strongest.layer, origins, items: Vec::new() };
    }
    let mut items: Vec<(String, Layer, Origin)> = Vec::new();
    for said in &said {
        let Kind::List(nodes) = &said.node.kind else { continue };
        for node in nodes {
            let Kind::Text(text) = &node.kind else { continue };
            if !items.iter().any(|(known, _, _)| known == text) {
                items.push((text.clone(), said.layer, said.origin.clone()));
            }
        }
    }
    Effective {
        value: Value::Array(items.iter().map(|(text, _, _)| Value::String(text.clone())).collect()),
        layer: strongest.layer,
        origins: said.iter().map(|said| said.origin.clone()).collect(),
        items,
    }
}

impl Resolved {
    pub(crate) fn get(&self, name: &str) -> Option<&Effective> {
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
