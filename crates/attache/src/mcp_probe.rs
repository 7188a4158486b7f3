//! Connects to the MCP servers of a workspace once, to see whether they answer.

use std::path::{Path, PathBuf};

use anyhow::Context;
use attache_config::Settings;
use attache_tool_mcp::{ConnectContext, McpServerOptions, McpServers, ServerConfinement, ServerStatus};
use attache_workspace::WorkspaceSettings;

use crate::mcp_servers::configured_servers;
use crate::{environment, sandbox};

pub(crate) fn probe(
    operator: &Settings,
    settings: &WorkspaceSettings,
    folder: &Path,
) -> anyhow::Result<Vec<ServerStatus>> {
    let options =
        configured_servers(operator, settings).context("there is no place for servers to start in")?;
    let confiner = sandbox::confiner(operator, environment::variable("HOME").map(PathBuf::from))?;
    let confinement = ServerConfinement { confiner, scratch: operator.scratch.join("mcp-servers") };
    let context = ConnectContext {
        confinement: Some(confinement),
        network: attache_cli::network::settings(settings.general.proxy.as_ref(), &environment::variable)?,
        ..ConnectContext::new(folder, operator.child_environment.clone())
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    Ok(runtime.block_on(statuses(options, context)))
}

/// Connects, and ends what was started, also on an interrupt.
async fn statuses(options: Vec<McpServerOptions>, context: ConnectContext) -> Vec<ServerStatus> {
    let servers = McpServers::start(options, context);
    tokio::select! {
        () = servers.settled() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
    let statuses = servers.statuses();
    servers.close().await;
    statuses
}
