//! Shows one agent.

use std::process::ExitCode;

use attache_workspace::agent_files::{AgentDefinition, AgentKind, BUILT_IN_AGENTS, CardDefinition};
use attache_workspace::{Project, visible};
use serde_json::{Value, json};

use super::{first_line, loaded, not_found, print, print_json};

pub(super) fn run(project: &Project, name: &str, json: bool) -> anyhow::Result<ExitCode> {
    let disabled_in = project.settings.agent_overrides.disabled_in(name);
    let state = disabled_in.map_or("enabled".to_owned(), |origin| format!("disabled in {origin}"));
    if let Some(agent) = BUILT_IN_AGENTS.iter().find(|agent| agent.name == name) {
        let rows = [
            ("name", agent.name.to_owned()),
            ("kind", "built-in".to_owned()),
            ("display name", agent.display_name.to_owned()),
            ("description", agent.description.to_owned()),
            ("state", state),
        ];
        let value = json!({"name": agent.name, "kind": "built-in", "displayName": agent.display_name,
            "description": agent.description, "enabled": disabled_in.is_none()});
        if json {
            print_json(&value)?
        } else {
            print(&table(&rows))?
        }
        return Ok(ExitCode::SUCCESS);
    }
    let agents = loaded(project)?;
    let unaccepted = || agents.unaccepted.iter().find(|agent| agent.name == name);
    let (agent, state) = match agents.find_any(name) {
        Some(agent) => (agent, state),
        None => (
            unaccepted().ok_or_else(|| not_found(project, name))?,
            "not used before you accept it with `attache trust`".to_owned(),
        ),
    };
    if json {
        let mut value = agent_json(agent);
        value["enabled"] = json!(agents.find(name).is_some());
        print_json(&value)?;
    } else {
        print(&table(&rows(agent, state)))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn rows(agent: &AgentDefinition, state: String) -> Vec<(&'static str, String)> {
    let mut rows = vec![("name", agent.name.clone()), ("kind", agent.kind.name().to_owned())];
    rows.extend(agent.display_name.iter().map(|name| ("display name", first_line(name))));
    rows.extend(agent.description.iter().map(|text| ("description", first_line(text))));
    rows.push(("state", visible(&state)));
    match &agent.kind {
        AgentKind::Remote(remote) => {
            rows.push(("card", target(agent)));
            let auth = remote.auth.as_ref().map_or("none", |auth| auth.name());
            rows.push(("authentication", auth.to_owned()));
            if !remote.allowed_origins.is_empty() {
                rows.push(("also at", visible(&remote.allowed_origins.join(", "))));
            }
        }
        AgentKind::Local(local) => {
            let tools = local.tools.as_ref().map_or("all".to_owned(), |tools| tools.join(", "));
            rows.push(("tools", visible(&tools)));
            rows.push(("note", "local agents are checked, and cannot be run yet".to_owned()));
        }
    }
    rows.push(("file", visible(&format!("{}:{}", agent.path.display(), agent.line))));
    rows.push(("defined by", agent.scope.name().to_owned()));
    rows
}

pub(super) fn table(rows: &[(&str, String)]) -> String {
    let lines: Vec<String> = rows.iter().map(|(name, value)| format!("{name:<14}  {value}")).collect();
    lines.join("\n")
}

/// Where a remote agent is.
pub(super) fn target(agent: &AgentDefinition) -> String {
    match &agent.kind {
        AgentKind::Local(_) => "-".to_owned(),
        AgentKind::Remote(remote) => match &remote.card {
            card @ CardDefinition::Url(_) => card.shown_url().unwrap_or_default(),
            card @ CardDefinition::Inline(_) => match card.addresses().join(", ") {
                none if none.is_empty() => "card in the file".to_owned(),
                addresses => visible(&format!("card in the file, for {addresses}")),
            },
        },
    }
}

pub(super) fn agent_json(agent: &AgentDefinition) -> Value {
    let mut value = json!({
        "name": agent.name, "kind": agent.kind.name(), "scope": agent.scope.name(), "file": agent.path,
        "line": agent.line, "displayName": agent.display_name, "description": agent.description,
    });
    if let AgentKind::Remote(remote) = &agent.kind {
        value["allowedOrigins"] = json!(remote.allowed_origins);
        value["auth"] = json!(remote.auth.as_ref().map(|auth| auth.name()));
        match &remote.card {
            CardDefinition::Url(url) => value["agentCardUrl"] = json!(url),
            CardDefinition::Inline(card) => value["agentCard"] = card.clone(),
        }
    }
    value
}
