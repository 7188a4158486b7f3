//! `agents.overrides.NAME.signatures`: the keys that must sign the card of one agent.

use std::path::PathBuf;

use attache_document::{Node, NodeKind};

use super::agent_overrides::OverrideMistake;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentSignatures {
    pub policy: AgentSignaturePolicy,
    /// A JWK set, absolute or beginning with `~/`.
    pub keys: Option<PathBuf>,
}

/// The reaction to a card without a signature of these keys.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AgentSignaturePolicy {
    Ignore,
    Warn,
    /// The default if the settings contain only keys.
    #[default]
    Require,
}

const MEMBERS: [&str; 2] = ["policy", "keys"];

pub(super) fn read(path: &str, node: &Node) -> Result<AgentSignatures, OverrideMistake> {
    let path = format!("{path}.signatures");
    let NodeKind::Table(entries) = &node.kind else {
        return Err((node.line, path, format!("must be a table, not {}", node.describe())));
    };
    let mut signatures = AgentSignatures::default();
    for (key, node) in entries.iter().filter(|(_, node)| node.kind != NodeKind::Null) {
        let mistake = |what: &str| Err((node.line, format!("{path}.{key}"), what.to_owned()));
        match (key.as_str(), &node.kind) {
            ("policy", NodeKind::Text(word)) => match word.as_str() {
                "ignore" => signatures.policy = AgentSignaturePolicy::Ignore,
                "warn" => signatures.policy = AgentSignaturePolicy::Warn,
                "require" => signatures.policy = AgentSignaturePolicy::Require,
                _ => return mistake("must be \"ignore\", \"warn\" or \"require\""),
            },
            ("policy", _) => return mistake("must be \"ignore\", \"warn\" or \"require\""),
            ("keys", NodeKind::Text(file)) if file.starts_with('/') || file.starts_with("~/") => {
                signatures.keys = Some(PathBuf::from(file));
            }
            ("keys", _) => return mistake("must be the path of a file, absolute or beginning with ~/"),
            _ => {
                let message = format!("has no member {key:?}; it has {}", MEMBERS.join(", "));
                return Err((node.line, path, message));
            }
        }
    }
    Ok(signatures)
}
