//! Lists the agents, and what is wrong with agent files.

use std::process::ExitCode;

use attache_workspace::agent_files::{AgentDefinition, AgentFileError, AgentKind, BUILT_IN_AGENTS};
use attache_workspace::{Project, visible};
use serde_json::{Value, json};

use super::show::{agent_json, target};
use super::{first_line, loaded, print, print_json, warn};

/// One line of the table.
struct Row {
    name: String,
    kind: &'static str,
    scope: &'static str,
    state: &'static str,
    target: String,
    description: String,
}

/// Fails when an agent file is wrong, after showing the others.
pub(super) fn run(project: &Project, json: bool) -> anyhow::Result<ExitCode> {
    if json {
        print_json(&list_json(project))?;
    } else {
        print_table(&rows(project))?;
    }
    let agents = loaded(project)?;
    if !json {
        let notes = agents.errors.iter().map(ToString::to_string).chain(agents.warnings.iter().cloned());
        notes.chain(project.notice()).for_each(|note| warn(&note));
    }
    Ok(if agents.errors.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Totals and errors. A running server reads the files itself with the next conversation, or with `/agents reload`.
pub(super) fn reload(project: &Project, json: bool) -> anyhow::Result<ExitCode> {
    let agents = loaded(project)?;
    let all = || agents.agents.iter().chain(agents.disabled.iter().map(|disabled| &disabled.agent));
    let local = all().filter(|agent| matches!(agent.kind, AgentKind::Local { .. })).count();
    let (total, disabled) = (all().count(), agents.disabled.len());
    if json {
        let counts = json!({
            "total": total, "local": local, "remote": total - local, "disabled": disabled,
            "unaccepted": agents.unaccepted.len(), "errors": errors_json(&agents.errors),
        });
        print_json(&counts)?;
    } else {
        let remote = total - local;
        print(&format!("{total} agents ({local} local, {remote} remote), {disabled} of them disabled."))?;
        print(&format!("{} files with errors.", agents.errors.len()))?;
        agents.errors.iter().for_each(|error| warn(&error.to_string()));
    }
    Ok(if agents.errors.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn rows(project: &Project) -> Vec<Row> {
    let overrides = &project.settings.agent_overrides;
    let built_in = BUILT_IN_AGENTS.iter().map(|agent| Row {
        name: agent.name.to_owned(),
        kind: "built-in",
        scope: "-",
        state: if overrides.is_enabled(agent.name) { "enabled" } else { "disabled" },
        target: "-".to_owned(),
        description: agent.description.to_owned(),
    });
    let row = |agent: &AgentDefinition, state| Row {
        name: agent.name.clone(),
        kind: agent.kind.name(),
        scope: agent.scope.name(),
        state,
        target: target(agent),
        description: first_line(
            agent.description.as_deref().or(agent.display_name.as_deref()).unwrap_or_default(),
        ),
    };
    let mut rows: Vec<Row> = built_in.collect();
    if let Some(agents) = &project.agents {
        rows.extend(agents.agents.iter().map(|agent| row(agent, "enabled")));
        rows.extend(agents.disabled.iter().map(|disabled| row(&disabled.agent, "disabled")));
        rows.extend(agents.unaccepted.iter().map(|agent| row(agent, "not accepted")));
    }
    rows
}

fn print_table(rows: &[Row]) -> anyhow::Result<()> {
    let width = |of: fn(&Row) -> &str| rows.iter().map(|row| of(row).len()).max().unwrap_or(0);
    let (names, kinds) = (width(|row| &row.name), width(|row| row.kind));
    let (scopes, states) = (width(|row| row.scope), width(|row| row.state));
    for Row { name, kind, scope, state, target, description } in rows {
        let line = format!(
            "{name:<names$}  {kind:<kinds$}  {scope:<scopes$}  {state:<states$}  {target}  {description}"
        );
        print(line.trim_end())?;
    }
    Ok(())
}

fn list_json(project: &Project) -> Value {
    let overrides = &project.settings.agent_overrides;
    let with_state = |agent: &AgentDefinition, state: &str| {
        let mut value = agent_json(agent);
        value["state"] = json!(state);
        value
    };
    let built_in = BUILT_IN_AGENTS.iter().map(|agent| {
        let state = if overrides.is_enabled(agent.name) { "enabled" } else { "disabled" };
        json!({"name": agent.name, "kind": "built-in", "displayName": agent.display_name,
            "description": agent.description, "state": state})
    });
    let mut all: Vec<Value> = built_in.collect();
    let (mut errors, mut warnings) = (Vec::new(), Vec::new());
    if let Some(agents) = &project.agents {
        all.extend(agents.agents.iter().map(|agent| with_state(agent, "enabled")));
        all.extend(agents.disabled.iter().map(|disabled| {
            let mut value = with_state(&disabled.agent, "disabled");
            value["disabledIn"] = json!(visible(&disabled.origin.to_string()));
            value
        }));
        all.extend(agents.unaccepted.iter().map(|agent| with_state(agent, "not-accepted")));
        errors = errors_json(&agents.errors);
        warnings.clone_from(&agents.warnings);
    }
    json!({"agents": all, "errors": errors, "warnings": warnings, "enabled": project.agents.is_some()})
}

fn errors_json(errors: &[AgentFileError]) -> Vec<Value> {
    let error =
        |error: &AgentFileError| json!({"file": error.path, "line": error.line, "message": error.message});
    errors.iter().map(error).collect()
}
