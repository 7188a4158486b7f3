//! What a call would do. Recorded before the call runs, so it survives a restart and cannot change.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Access;

/// Everything a call would do. An approval is bound to exactly this.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// The input as the tool understood it.
    pub input: Map<String, Value>,
    /// For rules.
    pub effects: Vec<Effect>,
    /// For people.
    pub shown: Preview,
}

impl Proposal {
    /// What its command may reach; `None` when it runs no command.
    pub fn access(&self) -> Option<&Access> {
        self.effects.iter().find_map(|effect| match effect {
            Effect::Run { access, .. } => Some(access),
            _ => None,
        })
    }

    /// The agent that it would ask, and the agent's origin.
    pub fn agent(&self) -> Option<(&str, &str)> {
        self.effects.iter().find_map(|effect| match effect {
            Effect::Delegate { agent, origin } => Some((agent.as_str(), origin.as_str())),
            _ => None,
        })
    }

    /// Gives every command this access.
    pub fn set_access(&mut self, granted: &Access) {
        for effect in &mut self.effects {
            if let Effect::Run { access, .. } = effect {
                access.clone_from(granted);
            }
        }
    }
}

/// One effect of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Reads below this path, resolved and inside the workspace.
    Read { path: PathBuf },
    /// Writes this file, resolved and inside the workspace.
    Write { path: PathBuf },
    /// Runs this in a shell.
    Run {
        command: String,
        directory: PathBuf,
        /// The access that the tool asks for; after the ruling, the access that it gets.
        #[serde(default = "Access::open", skip_serializing_if = "Access::is_plainly_open")]
        access: Access,
    },
    /// Fetches this URL.
    Fetch { url: String },
    /// Uses a tool of an MCP server.
    UseServer { server: String, tool: String },
    /// Needs a person to answer.
    AskPerson,
    /// Sends text to another agent.
    Delegate {
        /// The name under which people know the agent.
        agent: String,
        /// Scheme, host and port to which it is sent.
        origin: String,
    },
}

/// What a person sees before deciding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum Preview {
    /// A file would have this content.
    Edit {
        path: PathBuf,
        /// Unified.
        diff: String,
        /// The current file; `None` when it does not exist. An approval is valid only while the file has this digest.
        original: Option<String>,
        original_digest: Option<String>,
        new_content: String,
    },
    /// A command would run.
    Exec {
        command: String,
        directory: PathBuf,
        /// The names of the programs it would start, as far as they are known.
        programs: Vec<String>,
    },
    Mcp {
        server: String,
        tool: String,
        title: String,
        /// The address of the server, if the client named the server.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        address: Option<String>,
    },
    /// A fetch, or another effect that is best described in words.
    Info {
        prompt: String,
        urls: Vec<String>,
    },
    Questions {
        questions: Value,
    },
    /// Another agent would be asked.
    Agent {
        agent: String,
        /// Where it is sent.
        url: String,
        /// What is sent.
        prompt: String,
        /// The names of the files that are sent with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<String>,
    },
    /// It only reads, so there is nothing to show.
    Plain {
        summary: String,
    },
}
