//! What a call would do. Recorded before it is done, so it survives a restart and cannot be exchanged.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Access;

/// What a call would do, all of it. An approval is given to this and to nothing else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// The input as the tool understood it.
    pub input: Map<String, Value>,
    /// What rules look at.
    pub effects: Vec<Effect>,
    /// What a person looks at.
    pub shown: Preview,
}

impl Proposal {
    /// How far the command may reach that it would run; none when it runs nothing.
    pub fn access(&self) -> Option<&Access> {
        self.effects.iter().find_map(|effect| match effect {
            Effect::Run { access, .. } => Some(access),
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

/// One thing a call would do to the world.
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
        /// What the tool asks for until the ruling has decided; from then on what it gets.
        #[serde(default = "Access::open", skip_serializing_if = "Access::is_plainly_open")]
        access: Access,
    },
    /// Asks this of the network.
    Fetch { url: String },
    /// Uses a tool of an MCP server.
    UseServer { server: String, tool: String },
    /// Needs a person to answer.
    AskPerson,
}

/// What a person is shown before they decide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum Preview {
    /// A file would have this content.
    Edit {
        path: PathBuf,
        /// Unified.
        diff: String,
        /// The file as it is now; none when it does not exist. An approval holds only while its digest is this.
        original: Option<String>,
        original_digest: Option<String>,
        new_content: String,
    },
    /// A command would run.
    Exec {
        command: String,
        directory: PathBuf,
        /// The names of all programs it would start, as far as they can be told.
        programs: Vec<String>,
    },
    Mcp {
        server: String,
        tool: String,
        title: String,
        /// Where the server is, when the client named it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        address: Option<String>,
    },
    /// Something would be fetched, or another thing that words describe best.
    Info {
        prompt: String,
        urls: Vec<String>,
    },
    Questions {
        questions: Value,
    },
    /// Nothing that needs showing: it only looks.
    Plain {
        summary: String,
    },
}
