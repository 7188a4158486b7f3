//! The rules that count in a workspace: those of files, and those that settings make.
//!
//! A file of rules that is not understood stops everything: half of the rules are not what anybody wrote.

mod folders;
mod made;
mod save;

use std::path::{Path, PathBuf};

use attache_tool::policy::{Policy, Rule, Tier};

use crate::{AgentFlags, ConfigError, Settings, WorkspaceSettings};
pub use save::save_rules;

/// The file in a folder of rules that holds what people agreed to for good.
const AUTO_SAVED: &str = "auto-saved.toml";

#[derive(Clone, Copy)]
pub struct RuleSources<'a> {
    pub settings: &'a WorkspaceSettings,
    /// Absolute and without links.
    pub workspace: &'a Path,
    pub flags: &'a AgentFlags,
    pub operator: &'a Settings,
}

pub fn load(sources: &RuleSources<'_>) -> Result<Policy, ConfigError> {
    load_owned_by(sources, folders::ROOT)
}

/// `owner` is who the administrator's rules must belong to.
fn load_owned_by(sources: &RuleSources<'_>, owner: u32) -> Result<Policy, ConfigError> {
    let RuleSources { settings, workspace, flags, operator } = *sources;
    let mut rules: Vec<Rule> = folders::of_administrator(&operator.admin_policies, owner)?;
    for path in &flags.admin_policies {
        rules.extend(folders::named(path, Tier::Admin)?);
    }
    let saved = !settings.security.disable_always_allow;
    if flags.policies.is_empty()
        && let Some(gemini) = settings.homes.gemini()
    {
        rules.extend(folders::folder(&gemini.join("policies"), Tier::User, None, saved)?);
    }
    for path in flags.policies.iter().chain(&settings.policy_paths) {
        rules.extend(folders::named(path, Tier::User)?);
    }
    let own = workspace.join(".gemini");
    if settings.trusted && Some(own.as_path()) != settings.homes.gemini() {
        rules.extend(folders::folder(&own.join("policies"), Tier::Workspace, Some(workspace), saved)?);
    }
    rules.extend(made::of_settings(settings)?);
    Ok(Policy::new(rules))
}

/// Where an approval that is meant to last is saved: with the workspace if it is trusted, else with the user.
pub fn auto_saved(settings: &WorkspaceSettings, workspace: &Path) -> Option<PathBuf> {
    let gemini = if settings.trusted {
        Some(workspace.join(".gemini"))
    } else {
        settings.homes.gemini().map(Path::to_owned)
    };
    gemini.map(|gemini| gemini.join("policies").join(AUTO_SAVED))
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
