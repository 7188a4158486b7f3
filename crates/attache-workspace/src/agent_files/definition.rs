//! What an agent file defines.

use std::path::PathBuf;

use serde_json::Value;

use super::auth::AgentAuth;

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
    pub card: CardSource,
    pub auth: Option<AgentAuth>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum CardSource {
    /// Fetched as it is.
    Url(String),
    Inline(Value),
}

/// Who wrote the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentScope {
    Project,
    User,
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
        }
    }
}
