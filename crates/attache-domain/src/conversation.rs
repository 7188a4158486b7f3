//! The conversation with a model, independent of the provider.
//!
//! Stored in the log, so that a task can change its model, and continue after a restart.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Base64;

/// One side's contribution. A conversation begins with the user, and after an answer with calls come their results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exchange {
    /// What the person says, or the agent on their behalf.
    User(Vec<Content>),
    /// One answer of the model, in the order it came.
    Model(Vec<ModelPart>),
    /// The results of the calls of the answer before: each exactly once, in the order of the calls.
    Results(Vec<ToolResult>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    Text(String),
    Bytes {
        media_type: String,
        bytes: Base64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    Link {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        media_type: Option<String>,
        url: String,
    },
}

/// A piece of a model's answer, with the data that its provider wants back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelPart {
    pub what: ModelPartContent,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<ProviderData>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelPartContent {
    Text(String),
    Thought(String),
    Call(ToolCall),
    /// No readable content, only data that the provider wants back.
    Hidden,
}

/// A provider's own data about a piece. It goes back unchanged, only to the same family of models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProviderData {
    /// Whose it is, such as `gemini` or `anthropic`.
    pub provider: String,
    pub model: String,
    pub data: Value,
}

/// A request of the model to run a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Unique within the task; made up when the provider gave none.
    pub id: CallId,
    pub name: String,
    pub input: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    pub call: CallId,
    pub name: String,
    pub output: Vec<Content>,
    /// The output says what went wrong.
    pub failed: bool,
}

/// Names one tool call within its task.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub String);

/// What an answer cost, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// The whole prompt, the cached part included.
    pub input: u64,
    pub cached: u64,
    /// Everything generated, thoughts included.
    pub output: u64,
    pub thoughts: u64,
}

impl Usage {
    pub fn add(&mut self, other: &Usage) {
        self.input += other.input;
        self.cached += other.cached;
        self.output += other.output;
        self.thoughts += other.thoughts;
    }
}
