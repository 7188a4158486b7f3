//! What a tool is, for models and for people.

use serde::{Deserialize, Serialize};
use serde_json::Value;

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
