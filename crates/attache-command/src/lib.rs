//! Commands: what people tell the agent itself to do, rather than its model.
//!
//! One [`Registry`] serves every surface. A [`Command`] sees the conversation it is given in through a [`Desk`] and says
//! what comes next: words for the person, tools to use, or a prompt for the model. It keeps nothing in memory between
//! two steps, so a command that waits for an approval goes on after a restart.

mod command;
mod context;
pub mod custom;
mod empty_context;
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

pub use command::{Command, CommandError, CommandRequest, CommandStep, ToolUse};
pub use context::{
    CommandContext, ConversationStats, ExtensionEntry, Memory, MemoryFile, ServerEntry, ToolEntry,
};
pub use empty_context::EmptyContext;
pub use matched::MatchedCommand;
pub use registry::CommandRegistry;
pub use spec::usage;
