//! Agent files: Markdown files in which a project or a user defines subagents, in the format of Gemini CLI.
//!
//! The front matter is YAML and defines one agent, or a list of remote ones. The text after it instructs a local agent. A
//! file that is wrong never stops the others: its problems are collected, each with its line.

mod auth;
mod definition;
mod dynamic_value;
mod fields;
mod front_matter;
mod load;
mod parse;
#[cfg(test)]
mod parse_tests;

pub use auth::{AgentAuth, HttpCredential};
pub use definition::{AgentDefinition, AgentKind, AgentScope, CardSource, LocalAgent, RemoteAgent};
pub use dynamic_value::DynamicValue;
pub(crate) use load::load;
pub use load::{AgentFileError, LoadedAgents};
