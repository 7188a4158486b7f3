//! Checks which requested settings are permitted.

use std::path::{Path, PathBuf};

use attache_agent::SettingsRefusal;
use attache_config::{ConfigError, Settings};
use attache_domain::RequestedSettings;
use attache_tool::policy::PolicyMode;
use attache_tool::{AccessLevel, Confinement};
use serde_json::Value;

use super::policy_mode;
use crate::implementations::{ServerGroup, ServerSource};
use crate::{AgentFlags, McpServerSettings, McpTransport, WorkspaceSettings};

const MAX_CLIENT_SERVERS: usize = 16;

/// Bytes of the name of a server that a client brings.
const MAX_BROUGHT_NAME: usize = 32;

/// The checks that need no workspace. `settings`: those of the requested workspace if the rest of the request depends
/// on them, otherwise those of the server's own workspace.
pub(super) fn check(
    operator: &Settings,
    settings: &WorkspaceSettings,
    requested: &RequestedSettings,
    confinement: &Confinement,
) -> Result<(), SettingsRefusal> {
    if let Some(named) = &requested.workspace {
        workspace(operator, named).map(drop)?;
    }
    let mode = mode(operator, settings, requested)?;
    can_be_confined(mode, confinement)?;
    flags(operator, &AgentFlags::default(), requested).map(drop)?;
    client_servers(settings, requested).map(drop)
}

pub(super) fn workspace(operator: &Settings, named: &Path) -> Result<PathBuf, SettingsRefusal> {
    crate::client_permissions::allowed_workspace(operator, named).map_err(refusal("workspace"))
}

/// A client can always request a more careful mode, and a more permissive one only if the operator allows it.
pub(super) fn mode(
    operator: &Settings,
    settings: &WorkspaceSettings,
    requested: &RequestedSettings,
) -> Result<PolicyMode, SettingsRefusal> {
    let own = settings.general.approval_mode;
    let mode = match &requested.approval_mode {
        Some(named) => settings.allowed_mode(named, operator),
        // Clients of Gemini CLI's server always send this. If it is refused, calls need approval.
        None if requested.auto_execute => Ok(settings.allowed_mode("yolo", operator).unwrap_or(own)),
        None => Ok(own),
    };
    mode.map(policy_mode).map_err(refusal("approvalMode"))
}

/// The mode confined needs a kernel that can confine.
pub(crate) fn can_be_confined(mode: PolicyMode, confinement: &Confinement) -> Result<(), SettingsRefusal> {
    if mode != PolicyMode::Confined || confinement.holds(AccessLevel::Work) {
        return Ok(());
    }
    let missing = confinement.gap(AccessLevel::Work).unwrap_or_else(|| "it is not supported".to_owned());
    let what = format!(
        "the approval mode confined cannot be had on this system: {missing}; choose default or auto_edit"
    );
    Err(SettingsRefusal { field: "approvalMode", what })
}

/// Notifies a client that its `autoExecute` was refused.
pub(super) fn not_granted(requested: &RequestedSettings, mode: PolicyMode) -> Option<String> {
    let refused = requested.auto_execute && requested.approval_mode.is_none() && mode != PolicyMode::Yolo;
    refused.then(|| {
        "autoExecute is not granted here, so you will be asked: the operator has to set client_auto_execute, and the \
         workspace has to be trusted."
            .to_owned()
    })
}

/// The flags of the program, with the tools that the client allows to run unasked.
pub(super) fn flags(
    operator: &Settings,
    flags: &AgentFlags,
    requested: &RequestedSettings,
) -> Result<AgentFlags, SettingsRefusal> {
    let mut flags = flags.clone();
    if requested.allowed_tools.is_empty() {
        return Ok(flags);
    }
    if !operator.client_auto_execute {
        let what = "may not be given: only where the operator has set client_auto_execute may clients say what runs \
                    unasked"
            .to_owned();
        return Err(SettingsRefusal { field: "allowedTools", what });
    }
    flags.allowed_tools.extend(requested.allowed_tools.iter().cloned());
    Ok(flags)
}

/// The servers of the settings, and those of the client.
pub(super) fn servers(
    settings: &WorkspaceSettings,
    root: &Path,
    requested: &RequestedSettings,
) -> Result<Vec<ServerGroup>, SettingsRefusal> {
    let configured = settings.mcp_servers.iter().map(|(name, server)| (name.clone(), server.clone()));
    let is_local = |(name, _): &(String, McpServerSettings)| requested.local_servers.contains(name);
    let (local, remote): (Vec<_>, Vec<_>) =
        client_servers(settings, requested)?.into_iter().partition(is_local);
    let groups = [
        (configured.collect(), ServerSource::Settings { trusted: settings.trusted }),
        (local, ServerSource::LocalClient),
        (remote, ServerSource::RemoteClient),
    ];
    let groups = groups.into_iter().filter(|(servers, _)| !servers.is_empty());
    Ok(groups.map(|(servers, source)| ServerGroup { servers, source, root: root.to_owned() }).collect())
}

/// The one server that a client adds. Its name and its tools' prefix must differ from those of other servers.
pub(super) fn brought_server(
    settings: &WorkspaceSettings,
    root: &Path,
    requested: &RequestedSettings,
    brought: &RequestedSettings,
) -> Result<ServerGroup, SettingsRefusal> {
    let refused = |what: String| SettingsRefusal { field: "mcpServers", what };
    // First, because names in settings have a wider rule.
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let fits = |name: &str| (1..=MAX_BROUGHT_NAME).contains(&name.len()) && name.chars().all(is_plain);
    if let Some(name) = brought.mcp_servers.keys().find(|name| !fits(name)) {
        return Err(refused(format!(
            "must have names of up to {MAX_BROUGHT_NAME} letters, digits and dashes, not {:?}",
            name.chars().take(MAX_BROUGHT_NAME).collect::<String>()
        )));
    }
    let [(name, server)] = <[_; 1]>::try_from(client_servers(settings, brought)?)
        .map_err(|_| refused("must name one server".to_owned()))?;
    if requested.mcp_servers.contains_key(&name) {
        return Err(refused(format!(
            "{name}: a message of the session names a server like this; choose another name"
        )));
    }
    let is_local = brought.local_servers.contains(&name);
    let source = if is_local { ServerSource::LocalClient } else { ServerSource::RemoteClient };
    Ok(ServerGroup { servers: vec![(name, server)], source, root: root.to_owned() })
}

/// A client can add servers on the network only, never a program to start here.
fn client_servers(
    settings: &WorkspaceSettings,
    requested: &RequestedSettings,
) -> Result<Vec<(String, McpServerSettings)>, SettingsRefusal> {
    if requested.mcp_servers.len() > MAX_CLIENT_SERVERS {
        let what = format!("may name at most {MAX_CLIENT_SERVERS} servers");
        return Err(SettingsRefusal { field: "mcpServers", what });
    }
    let server = |(name, value): (&String, &Value)| {
        let server = settings
            .may_bring_server(name)
            .and_then(|()| McpServerSettings::requested(name, value))
            .map_err(refusal("mcpServers"))?;
        refuse_secrets(name, &server)?;
        Ok((name.clone(), server))
    };
    requested.mcp_servers.iter().map(server).collect()
}

/// A message is stored with its task and shown to everyone who can read the task, so it must not contain a credential.
fn refuse_secrets(name: &str, server: &McpServerSettings) -> Result<(), SettingsRefusal> {
    match &server.transport {
        McpTransport::Http { headers, .. } if !headers.is_empty() => {
            let what = format!(
                "{name}: headers would be kept with the task, where every reader sees them; name a server that needs none, \
                 or let the operator put it into the settings"
            );
            Err(SettingsRefusal { field: "mcpServers", what })
        }
        _ => Ok(()),
    }
}

fn refusal(field: &'static str) -> impl Fn(ConfigError) -> SettingsRefusal {
    move |error| SettingsRefusal { field, what: error.to_string() }
}
