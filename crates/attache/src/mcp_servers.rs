//! MCP servers, shared by the conversations of one caller that want the same ones.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use attache_config::{SecretText, Settings};
use attache_domain::Scope;
use attache_net::Secret;
use attache_tool::Access;
use attache_tool_mcp::{ConnectContext, McpServers, ServerOptions, Transport};
use attache_workspace::{HttpKind, McpServerSettings, McpTransport, WorkspaceSettings};

/// Servers that a conversation wants, and how they are reached.
pub(crate) struct ServerGroup {
    pub(crate) servers: Vec<ServerOptions>,
    pub(crate) context: ConnectContext,
}

/// Connections that somebody uses. They end with the last conversation that does.
#[derive(Default)]
pub(crate) struct SharedServers {
    connected: Mutex<Vec<SharedGroup>>,
}

struct SharedGroup {
    scope: Scope,
    options: Vec<ServerOptions>,
    context: ConnectContext,
    servers: Weak<McpServers>,
}

impl SharedServers {
    /// Connected to, failed, or not there yet after `first_wait`: each tells itself. Connecting goes on.
    pub(crate) async fn connect(
        &self,
        scope: &Scope,
        wanted: Vec<ServerGroup>,
        first_wait: Duration,
    ) -> Vec<Arc<McpServers>> {
        let groups: Vec<_> = wanted.into_iter().map(|wanted| self.group(scope, wanted)).collect();
        let settled = async {
            for servers in &groups {
                servers.settled().await;
            }
        };
        let _ = tokio::time::timeout(first_wait, settled).await;
        groups
    }

    fn group(&self, scope: &Scope, ServerGroup { servers, context }: ServerGroup) -> Arc<McpServers> {
        let mut connected = self.connected.lock().unwrap_or_else(PoisonError::into_inner);
        connected.retain(|connected| connected.servers.strong_count() > 0);
        let same = |known: &&SharedGroup| {
            known.scope == *scope && known.options == servers && known.context == context
        };
        if let Some(found) = connected.iter().find(same).and_then(|known| known.servers.upgrade()) {
            return found;
        }
        let started = Arc::new(McpServers::start(servers.clone(), context.clone()));
        let servers_now = Arc::downgrade(&started);
        connected.push(SharedGroup { scope: scope.clone(), options: servers, context, servers: servers_now });
        started
    }
}

/// The servers of the settings, as they are connected to.
///
/// In a folder that is not trusted, programs start in an empty one of ours: what `npx`, `uvx` and others find where they
/// start (`.npmrc`, `node_modules`, `uv.toml`) decides what they run. Servers are still told that they work in the folder.
pub(crate) fn configured_servers(
    operator: &Settings,
    settings: &WorkspaceSettings,
) -> io::Result<Vec<ServerOptions>> {
    let servers = settings.mcp_servers.iter();
    if settings.trusted || settings.mcp_servers.is_empty() {
        return Ok(servers.map(|(name, server)| server_options(name, server)).collect());
    }
    let elsewhere = operator.scratch.join("servers");
    std::fs::create_dir_all(&elsewhere)?;
    let moved = |(name, server): (&String, &McpServerSettings)| {
        let mut options = server_options(name, server);
        if let Transport::Stdio { directory, .. } = &mut options.transport {
            *directory = directory.take().filter(|it| it.is_absolute()).or_else(|| Some(elsewhere.clone()));
        }
        options
    };
    Ok(servers.map(moved).collect())
}

/// A server of the settings, as it is connected to.
pub(crate) fn server_options(name: &str, server: &McpServerSettings) -> ServerOptions {
    let secrets = |values: &BTreeMap<String, SecretText>| {
        values.iter().map(|(name, value)| (name.clone(), Secret::new(value.expose()))).collect()
    };
    let transport = match &server.transport {
        McpTransport::Stdio { command, arguments, environment, folder } => Transport::Stdio {
            command: command.clone(),
            args: arguments.clone(),
            env: secrets(environment),
            directory: folder.clone(),
        },
        McpTransport::Http { url, headers, kind } => {
            let (url, headers) = (url.clone(), secrets(headers));
            match kind {
                HttpKind::Unknown => Transport::Detect { url, headers },
                HttpKind::Streamable => Transport::Http { url, headers },
                HttpKind::Events => Transport::Sse { url, headers },
            }
        }
    };
    ServerOptions {
        timeout: server.timeout,
        trust: server.trust,
        include: server.include_tools.clone(),
        exclude: server.exclude_tools.clone(),
        description: server.description.clone(),
        access: Access::new(server.confinement),
        ..ServerOptions::new(name, transport)
    }
}
