//! Installs what the tests need and this machine lacks, by name, under the target folder.
//!
//! A second run finds everything in place and takes no time. Debian packages are the one thing that goes
//! elsewhere, and only for a program that is missing.

mod cargo_tools;
mod debian;
pub(crate) mod environment;
mod examples;
pub(crate) mod gemini_server;
mod live_clients;
mod manifest;
mod mcp_servers;
mod oauth_server;
mod rest_clients;

use std::path::PathBuf;

use crate::interop::Client;
use crate::test::Counts;
use crate::workspace::Workspace;
pub(crate) use cargo_tools::{Runner, components, has_deny};

/// What was found or installed.
#[derive(Debug, Default)]
pub(crate) struct Tools {
    pub(crate) runner: Runner,
    /// Where the MCP servers are that the tests connect to, if they are there.
    pub(crate) mcp_servers: Option<PathBuf>,
}

/// Prepares the tools of the Rust tests and of `clients`. One passed check, or one failed for each tool.
pub(crate) fn prepare(workspace: &Workspace, clients: &[Client]) -> (Tools, Counts) {
    let folder = workspace.test_tools();
    let mut counts = Counts::default();
    let runner = cargo_tools::runner(&folder);
    if !clients.is_empty() {
        note(&mut counts, "Debian packages", debian::provide());
    }
    for client in clients {
        note(&mut counts, client.name, environment::provide(&folder, client));
    }
    if !clients.is_empty() {
        note(&mut counts, "MCP servers", mcp_servers::provide(&workspace.root, &folder));
        note(&mut counts, "clients of the live endpoint", live_clients::provide(&workspace.root, &folder));
        note(&mut counts, "Gemini CLI's server", gemini_server::provide(&workspace.root, &folder));
        note(&mut counts, "the authorization server", oauth_server::provide(&workspace.root, &folder));
        note(&mut counts, "examples", examples::provide(&workspace.root, &folder));
        note(&mut counts, "clients of the REST API", rest_clients::provide(&workspace.root, &folder));
    }
    if counts.failed == 0 {
        counts.passed = 1;
    }
    let mcp_servers = mcp_servers::found(&folder);
    (Tools { runner, mcp_servers }, counts)
}

fn note(counts: &mut Counts, name: &str, installed: Result<(), String>) {
    if let Err(message) = installed {
        eprintln!("error: setting up {name}: {message}");
        counts.add(Counts::failure(&format!("setting up {name}")));
    }
}
