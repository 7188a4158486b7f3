//! What a tool is, for models and for people.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// What models call it.
    pub name: String,
    /// What people call it.
    pub title: String,
    pub description: String,
    pub kind: ToolKind,
    /// JSON Schema of the input, an object.
    pub parameters: Value,
    /// May run again by itself when it is not known whether it ran: it changes nothing.
    pub repeatable: bool,
    /// May run beside other calls of the same answer.
    pub parallel: bool,
    /// Whose tool it is; none for our own.
    pub origin: Option<ToolOrigin>,
}

/// A tool that an MCP server offers.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOrigin {
    /// The server's name in the settings.
    pub server: String,
    /// What the server calls the tool.
    pub tool: String,
    /// What the server says about it, such as `readOnlyHint`; a claim, not a fact.
    pub annotations: Map<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    Read,
    Edit,
    Search,
    Execute,
    Fetch,
    Think,
    Communicate,
    Other,
}
