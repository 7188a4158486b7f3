//! Agent files: Markdown files in which a project or a user defines subagents, in the format of Gemini CLI.
//!
//! The front matter is YAML and defines one agent, or a list of remote ones. The text after it instructs a local agent. A
//! file that is wrong never stops the others: its problems are collected, each with its line.

mod auth;
mod built_in;
mod credential_source;
mod definition;
mod dynamic_value;
mod fields;
mod front_matter;
mod load;
mod parse;
#[cfg(test)]
mod parse_tests;
mod static_credential;
mod switch;
mod tool_names;
mod unquoted_commands;
mod validation;
mod variables;
mod web_address;

pub use auth::{AgentAuth, HttpCredential};
pub use built_in::{BUILT_IN_AGENTS, BuiltInAgent, CLI_HELP};
pub use credential_source::{AgentSource, SourceContext, credential_source, oauth_source, sign_out};
pub use definition::{AgentDefinition, AgentKind, AgentScope, CardDefinition, LocalAgent, RemoteAgent};
pub use dynamic_value::DynamicValue;
pub use load::{AgentFileError, DisabledAgent, LoadedAgents};
pub(crate) use load::{AgentSources, count_files, load};
pub(crate) use switch::SwitchContext;
pub use switch::{AgentSwitch, SwitchError, SwitchedAgent};
pub use validation::missing_authentication;
