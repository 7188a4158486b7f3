//! What a client may have of what it wishes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use attache_agent::SettingsRefusal;
use attache_config::{ConfigError, Settings};
use attache_domain::RequestedSettings;
use attache_net::AddressRules;
use attache_tool::policy::PolicyMode;
use attache_tool::{AccessLevel, Confinement, Confiner};
use attache_tool_mcp::{ConnectContext, ServerConfinement, ServerOptions};
use attache_workspace::{AgentFlags, McpServerSettings, McpTransport, WorkspaceSettings};
use serde_json::Value;

use super::{address_rules, policy_mode};
use crate::mcp_servers::{ServerGroup, configured_servers, server_options};

const MAX_CLIENT_SERVERS: usize = 16;

/// Everything that can be told without opening anything; `settings` are those of the workspace that is wished for where
/// the rest of the wishes depends on them, else those of the server's own.
pub(super) fn check(
    operator: &Settings,
    settings: &WorkspaceSettings,
    wishes: &RequestedSettings,
    confinement: &Confinement,
) -> Result<(), SettingsRefusal> {
    if let Some(wished) = &wishes.workspace {
        workspace(operator, wished).map(drop)?;
    }
    let mode = mode(operator, settings, wishes)?;
    can_be_confined(mode, confinement).map_err(|what| SettingsRefusal { field: "approvalMode", what })?;
    flags(operator, &AgentFlags::default(), wishes).map(drop)?;
    client_servers(settings, wishes).map(drop)
}

pub(super) fn workspace(operator: &Settings, wished: &Path) -> Result<PathBuf, SettingsRefusal> {
    attache_workspace::allowed_workspace(operator, wished).map_err(refusal("workspace"))
}

/// A client may always be more careful; less careful only where the operator lets it.
pub(super) fn mode(
    operator: &Settings,
    settings: &WorkspaceSettings,
    wishes: &RequestedSettings,
) -> Result<PolicyMode, SettingsRefusal> {
    let own = settings.general.approval_mode;
    let mode = match &wishes.approval_mode {
        Some(wished) => settings.allowed_mode(wished, operator),
        // Clients of Gemini CLI's server say this as a matter of course: where it is not granted, they are asked.
        None if wishes.auto_execute => Ok(settings.allowed_mode("yolo", operator).unwrap_or(own)),
        None => Ok(own),
    };
    mode.map(policy_mode).map_err(refusal("approvalMode"))
}

/// The mode confined needs a kernel that can confine.
pub(crate) fn can_be_confined(mode: PolicyMode, confinement: &Confinement) -> Result<(), String> {
    if mode != PolicyMode::Confined || confinement.holds(AccessLevel::Work) {
        return Ok(());
    }
    let missing = confinement.gap(AccessLevel::Work).unwrap_or_else(|| "it is not supported".to_owned());
    Err(format!(
        "the approval mode confined cannot be had on this system: {missing}; choose default or auto_edit"
    ))
}

/// What people should know who wanted not to be asked.
pub(super) fn not_granted(wishes: &RequestedSettings, mode: PolicyMode) -> Option<String> {
    let refused = wishes.auto_execute && wishes.approval_mode.is_none() && mode != PolicyMode::Yolo;
    refused.then(|| {
        "autoExecute is not granted here, so you will be asked: the operator has to set client_auto_execute, and the \
         workspace has to be trusted."
            .to_owned()
    })
}

/// The flags of the program, with the tools that the client wants to be used unasked.
pub(super) fn flags(
    operator: &Settings,
    flags: &AgentFlags,
    wishes: &RequestedSettings,
) -> Result<AgentFlags, SettingsRefusal> {
    let mut flags = flags.clone();
    if wishes.allowed_tools.is_empty() {
        return Ok(flags);
    }
    if !operator.client_auto_execute {
        let what = "may not be given: only where the operator has set client_auto_execute may clients say what runs \
                    unasked"
            .to_owned();
        return Err(SettingsRefusal { field: "allowedTools", what });
    }
    flags.allowed_tools.extend(wishes.allowed_tools.iter().cloned());
    Ok(flags)
}

/// How the programs of MCP servers are started.
pub(super) struct ServerLaunch {
    pub(super) confiner: Arc<dyn Confiner>,
    /// On every one of them.
    pub(super) mark: String,
}

/// The servers of the settings, and those that the client brings.
pub(super) fn servers(
    operator: &Settings,
    settings: &WorkspaceSettings,
    root: &Path,
    wishes: &RequestedSettings,
    ServerLaunch { confiner, mark }: ServerLaunch,
) -> Result<Vec<ServerGroup>, SettingsRefusal> {
    let confinement = ServerConfinement { confiner, scratch: operator.scratch.join("mcp-servers") };
    let context = || ConnectContext {
        confinement: Some(confinement.clone()),
        mark: Some(mark.clone()),
        ..ConnectContext::new(root, operator.child_environment.clone())
    };
    let mut wanted = Vec::new();
    if !settings.mcp_servers.is_empty() {
        let servers = configured_servers(operator, settings).map_err(|error| SettingsRefusal {
            field: "mcpServers",
            what: format!("there is no place for servers to start in: {error}"),
        })?;
        wanted.push(ServerGroup { servers, context: context() });
    }
    let brought = client_servers(settings, wishes)?.into_iter();
    let (local, remote): (Vec<_>, Vec<_>) =
        brought.partition(|server| wishes.local_servers.contains(&server.name));
    for (servers, client) in [(local, ClientLocation::Local), (remote, ClientLocation::Elsewhere)] {
        if !servers.is_empty() {
            let context = ConnectContext { addresses: client_addresses(operator, client)?, ..context() };
            wanted.push(ServerGroup { servers, context });
        }
    }
    Ok(wanted)
}

/// A client names servers it can reach itself, never a program to start here.
fn client_servers(
    settings: &WorkspaceSettings,
    wishes: &RequestedSettings,
) -> Result<Vec<ServerOptions>, SettingsRefusal> {
    if wishes.mcp_servers.len() > MAX_CLIENT_SERVERS {
        let what = format!("may name at most {MAX_CLIENT_SERVERS} servers");
        return Err(SettingsRefusal { field: "mcpServers", what });
    }
    let server = |(name, value): (&String, &Value)| {
        let server = settings
            .may_bring_server(name)
            .and_then(|()| McpServerSettings::requested(name, value))
            .map_err(refusal("mcpServers"))?;
        refuse_secrets(name, &server)?;
        Ok(ServerOptions { named_by_client: true, ..server_options(name, &server) })
    };
    wishes.mcp_servers.iter().map(server).collect()
}

/// What a message says is kept with its task and shown to whoever may read it: no place for a credential.
fn refuse_secrets(name: &str, server: &McpServerSettings) -> Result<(), SettingsRefusal> {
    match &server.transport {
        McpTransport::Http { headers, .. } if !headers.is_empty() => {
            let what = format!(
                "{name}: headers would be kept with the task for everybody who can read it; name a server that needs none, \
                 or let the operator put it into the settings"
            );
            Err(SettingsRefusal { field: "mcpServers", what })
        }
        _ => Ok(()),
    }
}

/// Where the client is that named a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClientLocation {
    /// On this machine.
    Local,
    Elsewhere,
}

/// A client on this machine may name what is on this machine. Any other must not send the agent to places that it cannot
/// reach itself.
fn client_addresses(operator: &Settings, client: ClientLocation) -> Result<AddressRules, SettingsRefusal> {
    let refused = |error: anyhow::Error| SettingsRefusal { field: "mcpServers", what: format!("{error:#}") };
    let mut rules = AddressRules::public_only();
    if client == ClientLocation::Local {
        for place in ["127.0.0.0/8", "::1/128"] {
            rules = rules.allow(place).map_err(|error| refused(error.into()))?;
        }
    }
    address_rules(operator, rules).map_err(refused)
}

fn refusal(field: &'static str) -> impl Fn(ConfigError) -> SettingsRefusal {
    move |error| SettingsRefusal { field, what: error.to_string() }
}
