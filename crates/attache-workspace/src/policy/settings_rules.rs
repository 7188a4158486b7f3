//! Rules that follow from settings.
//!
//! A rule that denies always has the user's tier. A rule that asks or allows has it only if the user or the operator
//! set it, so a project cannot override what a user's rules deny.

use attache_config::ConfigError;
use attache_tool::policy::{PolicyDecision, PolicyMode, PolicyRule, PolicyTier, legacy_rule};

use crate::WorkspaceSettings;
use crate::settings::typed::tool_of_entry;

const SERVER_EXCLUDED: u16 = 900;
const TOOL_EXCLUDED: u16 = 400;
const CONFIRMATION_REQUIRED: u16 = 350;
const TOOL_ALLOWED: u16 = 300;
const CORE: u16 = 250;
const BESIDE_CORE: u16 = 249;
const SERVER_TRUSTED: u16 = 200;
const SERVER_ALLOWED: u16 = 100;

const SHELL: &str = "run_shell_command";

pub(super) fn of_settings(settings: &WorkspaceSettings) -> Result<Vec<PolicyRule>, ConfigError> {
    let allowing = |project: bool| if project { PolicyTier::Workspace } else { PolicyTier::User };
    let mut rules = Vec::new();
    for name in &settings.mcp_excluded {
        rules.push(server(
            name,
            PolicyDecision::Deny,
            PolicyTier::User,
            SERVER_EXCLUDED,
            settings.origin("mcp.excluded"),
        ));
    }
    let tools = &settings.tools;
    for (key, entries, decision, priority) in [
        ("tools.exclude", &tools.exclude, PolicyDecision::Deny, TOOL_EXCLUDED),
        (
            "tools.confirmationRequired",
            &tools.confirmation_required,
            PolicyDecision::Ask,
            CONFIRMATION_REQUIRED,
        ),
        ("tools.allowed", &tools.allowed, PolicyDecision::Allow, TOOL_ALLOWED),
    ] {
        for entry in entries {
            let project = decision != PolicyDecision::Deny && settings.item_is_project(key, entry);
            rules.push(short(settings, key, entry, decision, allowing(project), priority)?);
        }
    }
    rules.extend(core(settings)?);
    for (name, known) in settings.mcp_servers.iter().filter(|(_, server)| server.trust) {
        let tier = allowing(settings.server_is_project(name));
        let source = format!("mcpServers.{name}.trust in {}", known.origin);
        rules.push(server(name, PolicyDecision::Allow, tier, SERVER_TRUSTED, source));
    }
    let allowed = settings.resolved.get("mcp.allowed");
    for (name, layer, origin) in allowed.map(|it| it.items.as_slice()).unwrap_or_default() {
        // A project's list always excludes other tools. It allows tools only after a person has accepted it.
        if layer.is_project() && !allowed.is_some_and(|it| it.allows) {
            continue;
        }
        let tier = allowing(layer.is_project());
        rules.push(server(
            name,
            PolicyDecision::Allow,
            tier,
            SERVER_ALLOWED,
            format!("mcp.allowed in {origin}"),
        ));
    }
    Ok(rules)
}

/// A list of core tools with the shell for certain commands excludes other commands. The listed commands need approval
/// as usual.
fn core(settings: &WorkspaceSettings) -> Result<Vec<PolicyRule>, ConfigError> {
    let key = "tools.core";
    let shells: Vec<&String> =
        settings.tools.core.iter().flatten().filter(|entry| tool_of_entry(entry).0 == SHELL).collect();
    if shells.is_empty() || shells.iter().any(|entry| !tool_of_entry(entry).1) {
        return Ok(Vec::new());
    }
    let tier = if settings.is_said_by_project(key) { PolicyTier::Workspace } else { PolicyTier::User };
    let mut rules = Vec::new();
    for entry in shells {
        let rule = |decision| short(settings, key, entry, decision, tier, CORE);
        rules.push(PolicyRule {
            modes: vec![PolicyMode::Default, PolicyMode::AutoEdit],
            ..rule(PolicyDecision::Ask)?
        });
        rules.push(PolicyRule { modes: vec![PolicyMode::Yolo], ..rule(PolicyDecision::Allow)? });
    }
    rules.push(PolicyRule {
        tools: vec![SHELL.to_owned()],
        priority: BESIDE_CORE,
        deny_message: Some("tools.core allows only some commands, and this is none of them.".to_owned()),
        ..PolicyRule::new(PolicyDecision::Deny, tier, settings.origin(key))
    });
    Ok(rules)
}

fn short(
    settings: &WorkspaceSettings,
    key: &str,
    entry: &str,
    decision: PolicyDecision,
    tier: PolicyTier,
    priority: u16,
) -> Result<PolicyRule, ConfigError> {
    let source = settings.origin(key);
    let rule = legacy_rule(entry, decision, tier, &source).ok_or_else(|| ConfigError::BadSetting {
        place: source.clone(),
        key: None,
        message: format!("{entry:?} must be the name of a tool, or {SHELL}(COMMAND)"),
    })?;
    Ok(PolicyRule { priority, ..rule })
}

fn server(
    name: &str,
    decision: PolicyDecision,
    tier: PolicyTier,
    priority: u16,
    source: String,
) -> PolicyRule {
    PolicyRule { server: Some(name.to_owned()), priority, ..PolicyRule::new(decision, tier, source) }
}
