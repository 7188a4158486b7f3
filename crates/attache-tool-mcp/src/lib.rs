//! The tools of MCP servers.
//!
//! [`McpServers`] connects to all servers at once; a failure of one affects no other. Everything a server sends is
//! bounded, its texts are marked as untrusted, and its claims about its own tools count only if the server is
//! trusted.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! use attache_tool_mcp::{ConnectContext, McpServers, McpServerOptions, ServerState, Transport};
//!
//! let transport = Transport::Stdio { command: "not-there".into(), args: vec![], env: vec![], directory: None };
//! let context = ConnectContext::new("/", vec![]);
//! let servers = McpServers::connect(vec![McpServerOptions::new("notes", transport)], context).await;
//! let ServerState::Failed { why } = &servers.statuses()[0].state else { panic!("there is no such program") };
//! assert!(why.contains("`not-there` cannot be started"));
//! assert!(servers.tools().is_empty());
//! servers.close().await;
//! # }
//! ```
//!
//! Not in this crate: which servers are configured (settings), which calls may run (rules), and OAuth. Only
//! `connection` uses the protocol library.

mod options;
mod servers;

mod connect_server;
mod connection;
mod error;
mod server;

#[cfg(feature = "fuzz")]
pub mod fuzz;
mod input;
mod mcp_tool;
mod resources;
mod selection;
mod tool_list;
mod tool_name;
mod tool_result;
mod visible;

pub use attache_tool::{ServerState, ServerStatus};
pub use options::{ConnectContext, McpServerOptions, ServerConfinement, Transport};
pub use servers::{McpServers, UnapprovedServer};
