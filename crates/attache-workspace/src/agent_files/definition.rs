//! What an agent file defines.

use std::path::PathBuf;

use serde_json::Value;

use super::auth::AgentAuth;
use crate::{AgentSignatures, AgentTls, visible};

#[derive(Debug, Clone, PartialEq)]
pub struct AgentDefinition {
    /// Lower-case letters, digits, dashes and underscores.
    pub name: String,
    pub display_name: Option<String>,
    /// Written by the author of the file. It is data for the model, never an instruction.
    pub description: Option<String>,
    pub kind: AgentKind,
    pub scope: AgentScope,
    pub path: PathBuf,
    /// The line in which its definition begins.
    pub line: u32,
    /// The certificates that the settings name for it (`agents.overrides.NAME.tls`).
    pub tls: Option<AgentTls>,
    /// What the settings say about the signatures of its card (`agents.overrides.NAME.signatures`).
    pub signatures: Option<AgentSignatures>,
}

impl AgentDefinition {
    /// Whether calls of both go to the same place with the same credentials.
    pub(crate) fn calls_as(&self, other: &Self) -> bool {
        self.path == other.path && self.kind == other.kind
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum AgentKind {
    Local(LocalAgent),
    Remote(Box<RemoteAgent>),
}

/// An agent that would run in this process, with instructions and tools of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalAgent {
    /// None: all tools of the agent that calls it.
    pub tools: Option<Vec<String>>,
    /// Names of the MCP servers that it brings.
    pub mcp_servers: Vec<String>,
    pub model: Option<String>,
    pub temperature: Option<f64>,
    pub max_turns: u64,
    pub timeout_minutes: u64,
    pub instructions: String,
}

/// An A2A agent.
#[derive(Debug, Clone, PartialEq)]
pub struct RemoteAgent {
    pub card: CardDefinition,
    pub auth: Option<AgentAuth>,
    /// Origins besides that of its card that the card may lead to, and that may have the credential.
    pub allowed_origins: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum CardDefinition {
    /// The exact URL of the card.
    Url(String),
    Inline(Value),
}

/// Who wrote the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentScope {
    Project,
    User,
    /// An extension that the user has installed.
    Extension,
}

impl CardDefinition {
    /// The URL of the card for people: one line, and without the values of its query, which may be a credential.
    pub fn shown_url(&self) -> Option<String> {
        let Self::Url(url) = self else { return None };
        let shown = match url.split_once('?') {
            Some((before, query)) => {
                let names = query.split('&').map(|pair| match pair.split_once('=') {
                    Some((name, _)) => format!("{name}=…"),
                    None => "…".to_owned(),
                });
                format!("{before}?{}", names.collect::<Vec<_>>().join("&"))
            }
            None => url.clone(),
        };
        Some(visible(&shown))
    }

    /// The addresses that tasks may go to, as far as the file says: that of the card, or those in it.
    pub fn addresses(&self) -> Vec<&str> {
        match self {
            Self::Url(url) => vec![url],
            Self::Inline(card) => {
                let interfaces = |name: &str| card.get(name).and_then(Value::as_array).into_iter().flatten();
                let below = interfaces("supportedInterfaces").chain(interfaces("additionalInterfaces"));
                let urls = card.get("url").into_iter().chain(below.filter_map(|it| it.get("url")));
                let mut found: Vec<&str> = Vec::new();
                for url in urls.filter_map(Value::as_str).map(str::trim) {
                    if !found.contains(&url) {
                        found.push(url);
                    }
                }
                found
            }
        }
    }
}

impl AgentKind {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Local(_) => "local",
            Self::Remote(_) => "remote",
        }
    }
}

impl AgentScope {
    pub fn name(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
            Self::Extension => "extension",
        }
    }
}
