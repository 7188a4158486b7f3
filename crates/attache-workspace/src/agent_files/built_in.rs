//! The agents that are part of this program.

/// Answers questions about this program from its own documentation.
pub const CLI_HELP: &str = "cli_help";

/// An agent that needs no file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuiltInAgent {
    pub name: &'static str,
    pub display_name: &'static str,
    pub description: &'static str,
}

/// All of them, by name.
pub const BUILT_IN_AGENTS: &[BuiltInAgent] = &[BuiltInAgent {
    name: CLI_HELP,
    display_name: "Help on attache",
    description: "Answers questions about attache itself, its settings, commands and agent files, from its own \
                  documentation.",
}];

pub(crate) fn find(name: &str) -> Option<&'static BuiltInAgent> {
    BUILT_IN_AGENTS.iter().find(|agent| agent.name == name)
}
