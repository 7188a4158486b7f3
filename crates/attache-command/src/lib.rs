//! Slash commands: instructions to the agent itself instead of its model.
//!
//! One [`CommandRegistry`] serves every surface. A [`Command`] sees its conversation through a [`CommandContext`] and
//! returns the next step: text for the person, tools to use, or a prompt for the model. It keeps no state between two
//! steps, so a command that waits for an approval continues after a restart.

mod agents;
mod command;
mod context;
pub mod custom;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod listing;
mod matched;
mod name;
mod nearest;
mod outcome;
mod registry;
mod spec;
mod standard;
mod unknown;

pub use agents::{
    AgentDirectory, AgentEntry, AgentEntryKind, AgentList, AgentReload, CONFIGURE_AGENT, SwitchRefusal,
};
pub use command::{Command, CommandError, CommandRequest, CommandStep, ToolUse};
pub use context::{
    CommandContext, ConversationStats, ExtensionEntry, LoadedMemory, MemoryFile, NoWorkspaceInfo,
    ServerEntry, ToolEntry, WorkspaceInfo,
};
pub use matched::MatchedCommand;
pub use registry::CommandRegistry;
pub use spec::usage;
