//! Commands: what people tell the agent itself to do, rather than its model.
//!
//! One [`Registry`] serves every surface. A [`Command`] sees the conversation it is given in through a [`Desk`] and says
//! what comes next: words for the person, tools to use, or a prompt for the model. It keeps nothing in memory between
//! two steps, so a command that waits for an approval goes on after a restart.

mod bare_desk;
mod command;
pub mod custom;
mod desk;
mod found;
pub mod fuzz;
mod listing;
mod name;
mod nearest;
mod outcome;
mod registry;
mod spec;
mod standard;
mod unknown;

pub use bare_desk::BareDesk;
pub use command::{Command, CommandError, Next, Request, ToolUse};
pub use desk::{Desk, ExtensionEntry, Memory, MemoryFile, ServerEntry, Stats, ToolEntry};
pub use found::Found;
pub use registry::Registry;
pub use spec::usage;
