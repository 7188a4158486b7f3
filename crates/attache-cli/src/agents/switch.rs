//! Switches an agent on or off in the settings files.

use std::process::ExitCode;

use attache_workspace::Project;
use attache_workspace::agent_files::SwitchError;
use serde_json::json;

use super::arguments::ScopeFlag;
use super::{is_built_in, loaded, print, print_json};
use crate::mcp::explained;
use crate::report::with_hint;

/// An agent that is in this state already is no failure.
pub(super) fn run(
    project: &Project,
    name: &str,
    enabled: bool,
    scope: Option<ScopeFlag>,
    json: bool,
) -> anyhow::Result<ExitCode> {
    if !is_built_in(name) {
        loaded(project)?;
    }
    let switch = project.switch_agent(name, enabled, scope.map(Into::into));
    let (message, changed, files) = match switch.and_then(|switch| switch.apply()) {
        Ok(done) => (done.message(), true, done.files),
        Err(error @ SwitchError::Already { .. }) => (error.to_string(), false, Vec::new()),
        Err(SwitchError::File(error)) => return Err(explained(error)),
        Err(error @ SwitchError::NotFound { .. }) => {
            return Err(with_hint(error, "`attache agents` lists the agents"));
        }
        Err(error) => return Err(error.into()),
    };
    if json {
        let value =
            json!({"name": name, "enabled": enabled, "changed": changed, "files": files, "message": message});
        print_json(&value)?;
    } else {
        print(&message)?;
    }
    Ok(ExitCode::SUCCESS)
}
