//! MCP servers, shared by the conversations of one caller that use the same ones.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, Weak};

use async_trait::async_trait;
use attache_agent::ClientServer;
use attache_config::{SecretText, Settings};
use attache_domain::{IgnorePoison, Scope};
use attache_net::Secret;
use attache_tool::{Access, ServerStatus, Tool};
use attache_tool_mcp::{ConnectContext, McpServerOptions, McpServers, Transport};
use attache_workspace::{HttpKind, McpServerSettings, McpTransport, ToolServers, WorkspaceSettings};

/// Connections that conversations use. A connection ends with the last conversation that uses it.
#[derive(Default)]
pub(crate) struct SharedServers {
    connected: Mutex<Vec<SharedGroup>>,
}

struct SharedGroup {
    scope: Scope,
    options: Vec<McpServerOptions>,
    context: ConnectContext,
    servers: Weak<ConnectedServers>,
}

impl SharedServers {
    /// Starts to connect, unless a conversation of the same scope uses the same servers already.
    pub(crate) fn connect(
        &self,
        scope: &Scope,
        options: Vec<McpServerOptions>,
        context: ConnectContext,
    ) -> Arc<ConnectedServers> {
        // People agree to a connection for one conversation.
        if options.iter().any(|server| server.needs_approval) {
            return Arc::new(ConnectedServers(McpServers::start(options, context)));
        }
        let mut connected = self.connected.lock().ignore_poison();
        connected.retain(|connected| connected.servers.strong_count() > 0);
        let same = |known: &&SharedGroup| {
            known.scope == *scope && known.options == options && known.context == context
        };
        if let Some(found) = connected.iter().find(same).and_then(|known| known.servers.upgrade()) {
            return found;
        }
        let started = Arc::new(ConnectedServers(McpServers::start(options.clone(), context.clone())));
        let servers = Arc::downgrade(&started);
        connected.push(SharedGroup { scope: scope.clone(), options, context, servers });
        started
    }
}

/// Servers of MCP, as a workspace uses them.
pub(crate) struct ConnectedServers(McpServers);

#[async_trait]
impl ToolServers for ConnectedServers {
    async fn settled(&self) {
        self.0.settled().await;
    }

    fn statuses(&self) -> Vec<ServerStatus> {
        self.0.statuses()
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.0.tools()
    }

    fn version(&self) -> u64 {
        *self.0.changes().borrow()
    }

    fn unapproved(&self) -> Vec<ClientServer> {
        let unapproved = self.0.unapproved().into_iter();
        unapproved.map(|server| ClientServer { name: server.name, address: server.address }).collect()
    }

    fn connect_tool(&self) -> Option<Arc<dyn Tool>> {
        self.0.connect_tool()
    }
}

/// The servers of a workspace's settings, as options of the connection.
pub(crate) fn configured_servers(
    operator: &Settings,
    settings: &WorkspaceSettings,
) -> io::Result<Vec<McpServerOptions>> {
    let servers = settings.mcp_servers.iter();
    let options = servers.map(|(name, server)| server_options(name, server)).collect();
    if settings.trusted { Ok(options) } else { outside_the_folder(operator, options) }
}

/// For a folder that is not trusted: programs start in an empty folder of ours. What `npx`, `uvx` and others find where they
/// start (`.npmrc`, `node_modules`, `uv.toml`) decides what they run. Servers are still told that they work in the folder.
pub(crate) fn outside_the_folder(
    operator: &Settings,
    mut servers: Vec<McpServerOptions>,
) -> io::Result<Vec<McpServerOptions>> {
    if servers.is_empty() {
        return Ok(servers);
    }
    let elsewhere = operator.scratch.join("servers");
    std::fs::create_dir_all(&elsewhere)?;
    for server in &mut servers {
        if let Transport::Stdio { directory, .. } = &mut server.transport {
            *directory = directory.take().filter(|it| it.is_absolute()).or_else(|| Some(elsewhere.clone()));
        }
    }
    Ok(servers)
}

/// A server of the settings, as options of the connection.
pub(crate) fn server_options(name: &str, server: &McpServerSettings) -> McpServerOptions {
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
    McpServerOptions {
        timeout: server.timeout,
        trust: server.trust,
        include: server.include_tools.clone(),
        exclude: server.exclude_tools.clone(),
        description: server.description.clone(),
        access: Access::new(server.confinement),
        ..McpServerOptions::new(name, transport)
    }
}
