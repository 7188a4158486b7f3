//! The description of a tool, for models and people.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// The name for models.
    pub name: String,
    /// The name for people.
    pub title: String,
    pub description: String,
    pub kind: ToolKind,
    /// JSON Schema of the input, an object.
    pub parameters: Value,
    /// Changes nothing, so it may run again when it is unknown whether it ran.
    pub repeatable: bool,
    /// May run in parallel with other calls of the same answer.
    pub parallel: bool,
    /// Its MCP server; none for built-in tools.
    pub origin: Option<ToolOrigin>,
}

/// A tool that an MCP server offers.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOrigin {
    /// The server's name in the settings.
    pub server: String,
    /// The tool's name on the server.
    pub tool: String,
    /// Annotations of the server, such as `readOnlyHint`; claims, not facts.
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
