//! The commands that talk to a server, or about files: `attache call`, `tasks`, `agents`, `card`, `keys`, `mcp`, `config`
//! and `trust`.
//!
//! Also the texts about every command: flags, help, the banner, mistyped commands, failures.
//!
//! Results go to standard output, messages for people to standard error. The binary parses the command line, hands in the
//! environment and what only it can construct.

mod agent_arguments;
pub mod agents;
mod banner;
pub mod call;
pub mod card;
pub mod card_signatures;
pub mod config;
mod environment_help;
mod help_pages;
pub mod keys;
pub mod mcp;
mod message_input;
pub mod network;
mod output_lines;
mod printable;
mod process;
pub mod report;
mod run_trust;
mod serve_arguments;
mod shell_word;
mod shown_artifacts;
mod sign_in;
pub mod signing_keys;
mod standard_streams;
pub mod tasks;
mod terminal_line;
#[cfg(test)]
mod tests;
pub mod trust;
pub mod typo;

pub use agent_arguments::AgentArguments;
pub use banner::{Banner, print_banner};
pub use environment_help::environment_help;
pub use help_pages::help_pages;
pub use process::ProcessContext;
pub use run_trust::{TrustRefusal, resolve_trust};
pub use serve_arguments::ServeArguments;
