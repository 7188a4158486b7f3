//! The seam to the agents that a conversation can give tasks to.

use async_trait::async_trait;
use serde::Serialize;

/// The tool that switches an agent on or off. Only commands can use it.
pub const CONFIGURE_AGENT: &str = "configure_agent";

/// The agents of one conversation.
#[async_trait]
pub trait AgentDirectory: Send + Sync + 'static {
    /// What is known now. Waits for no network.
    async fn list(&self) -> AgentList;

    /// Reads the agent files and the cards again, and says what has changed. The conversation uses what was read.
    async fn reload(&self) -> Result<AgentReload, String>;

    /// Fetches the agent's card again and returns the agent with its new status.
    async fn test(&self, name: &str) -> Result<AgentEntry, String>;

    /// Signs in to the agent, and describes the result in a sentence.
    async fn sign_in(&self, name: &str) -> Result<String, String>;

    /// Whether tasks can be given to the agent; the error says why not.
    async fn check(&self, name: &str) -> Result<(), String>;

    /// Whether the agent can be switched on or off: none if it can, else what to say.
    async fn refuses_switch(&self, name: &str, enabled: bool) -> Option<SwitchRefusal>;
}

/// Why an agent is not switched on or off, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SwitchRefusal {
    /// It is on, or off, already.
    Already(String),
    Refused(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentList {
    /// Those that can be used first.
    pub entries: Vec<AgentEntry>,
    /// What is wrong with agent files.
    pub errors: Vec<String>,
    /// What else people should know, such as that agents are switched off.
    pub notices: Vec<String>,
}

/// One agent and its connection status.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentEntry {
    pub name: String,
    pub kind: AgentEntryKind,
    pub enabled: bool,
    pub display_name: Option<String>,
    pub description: Option<String>,
    /// Such as `ready` or `not connected`, or what is wrong.
    pub status: String,
    /// Why the last attempt to reach it failed.
    pub error: Option<String>,
    /// How long its card took, in milliseconds.
    pub latency_ms: Option<u64>,
    /// How it is authenticated to, such as `apiKey`; none if it is not.
    pub auth: Option<String>,
    /// Where it is; remote agents only.
    pub url: Option<String>,
    /// `project`, `user`, `extension` or `built-in`.
    pub source: String,
    /// The file and the line that define it.
    pub file: Option<String>,
    /// Further lines about it: name and value.
    pub details: Vec<(String, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentEntryKind {
    #[default]
    Remote,
    Local,
    BuiltIn,
}

/// What a reload has found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct AgentReload {
    pub local: usize,
    pub remote: usize,
    /// Names.
    pub new: Vec<String>,
    pub updated: Vec<String>,
    pub deleted: Vec<String>,
    /// Those of the project that do not count before a person accepts them, such as changed ones.
    pub unaccepted: Vec<String>,
    pub errors: Vec<String>,
}

impl AgentEntryKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Remote => "remote",
            Self::Local => "local",
            Self::BuiltIn => "built-in",
        }
    }
}

impl AgentReload {
    /// In lines for people.
    pub fn text(&self) -> String {
        let total = self.local + self.remote;
        let mut lines =
            vec![format!("Agents reloaded: {total} ({} local, {} remote).", self.local, self.remote)];
        for (what, names) in [("New", &self.new), ("Updated", &self.updated), ("Deleted", &self.deleted)] {
            if !names.is_empty() {
                lines.push(format!("- {what}: {}", names.join(", ")));
            }
        }
        if !self.unaccepted.is_empty() {
            let names = self.unaccepted.join(", ");
            lines.push(format!("- Not used before you accept them (`attache trust`): {names}"));
        }
        if !self.errors.is_empty() {
            lines.push(format!("- Errors: {}", self.errors.len()));
            lines.extend(self.errors.iter().map(|error| format!("  - {}", error.replace('\n', "\n    "))));
        }
        lines.join("\n")
    }
}
