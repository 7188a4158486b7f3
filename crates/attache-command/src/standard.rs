//! The built-in commands, one file each.

mod about;
mod agents;
mod compress;
mod extensions;
mod help;
mod init;
mod list_command;
mod list_extensions;
mod mcp;
mod memory;
mod model;
mod restore;
mod stats;
mod tools;

use std::sync::Arc;

use crate::Command;

pub(crate) use help::Help;

/// All but `help`, which has to know the others.
pub(crate) fn all() -> Vec<Arc<dyn Command>> {
    vec![
        Arc::new(about::About),
        Arc::new(agents::Agents),
        Arc::new(compress::Compress),
        Arc::new(extensions::Extensions),
        Arc::new(init::Init),
        Arc::new(list_extensions::ListExtensions),
        Arc::new(mcp::MCP),
        Arc::new(memory::Memory),
        Arc::new(model::Model),
        Arc::new(restore::Restore),
        Arc::new(stats::Stats),
        Arc::new(tools::TOOLS),
    ]
}
