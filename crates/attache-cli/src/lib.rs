//! The commands that talk to a server, or about files: `attache call`, `tasks`, `agents`, `card`, `keys`, `mcp`, `config`
//! and `trust`.
//!
//! Results go to standard output, words for people to standard error. The binary parses the command line, hands in the
//! environment and whatever only it can make.

pub mod agents;
pub mod call;
pub mod card;
pub mod config;
pub mod keys;
pub mod mcp;
mod printable;
mod process;
pub mod report;
pub mod signing_keys;
pub mod tasks;
pub mod trust;

pub use process::ProcessContext;
