//! The rules of a workspace: those in files, and those that follow from settings.
//!
//! A broken rule file is an error, because half of its rules could mean something else. A project's rules can always
//! deny and ask. Rules that allow apply once a person has accepted them.

mod rule_files;
mod save;
mod settings_rules;

use std::path::{Path, PathBuf};

use attache_config::{ConfigError, Settings};
use attache_domain::hexadecimal;
use attache_tool::policy::{Policy, PolicyDecision, PolicyMode, PolicyRule, PolicyTier};
use sha2::{Digest, Sha256};

use crate::{AgentFlags, Allowance, ProjectReport, WorkspaceSettings};
pub(crate) use save::save_rules;

/// The file in a folder of rules that holds permanent approvals.
const AUTO_SAVED: &str = "auto-saved.toml";

#[derive(Clone, Copy)]
pub(crate) struct RuleSources<'a> {
    pub(crate) settings: &'a WorkspaceSettings,
    /// Absolute and without links.
    pub(crate) workspace: &'a Path,
    pub(crate) flags: &'a AgentFlags,
    pub(crate) operator: &'a Settings,
}

/// The rules that apply, and a report about the project's rules.
#[derive(Debug, Clone, Default)]
pub struct LoadedRules {
    pub policy: Policy,
    pub project: ProjectReport,
    /// Ignored rules, in sentences for people.
    pub warnings: Vec<String>,
}

pub(crate) fn load(sources: &RuleSources<'_>) -> Result<LoadedRules, ConfigError> {
    load_owned_by(sources, rule_files::ROOT)
}

/// The administrator's rules must belong to `owner`.
fn load_owned_by(sources: &RuleSources<'_>, owner: u32) -> Result<LoadedRules, ConfigError> {
    let RuleSources { settings, workspace, flags, operator } = *sources;
    let mut rules: Vec<PolicyRule> = rule_files::of_administrator(&operator.admin_policies, owner)?;
    for path in &flags.admin_policies {
        rules.extend(rule_files::named(path, PolicyTier::Admin)?);
    }
    let saved = !settings.security.disable_always_allow;
    if flags.policies.is_empty()
        && let Some(gemini) = settings.homes.gemini()
    {
        rules.extend(rule_files::folder(&gemini.join("policies"), PolicyTier::User, None, saved)?);
    }
    for path in flags.policies.iter().chain(&settings.policy_paths) {
        rules.extend(rule_files::named(path, PolicyTier::User)?);
    }
    if let Some(answers) = auto_saved(settings, workspace).filter(|_| saved) {
        rules.extend(rule_files::answers(&answers, PolicyTier::Workspace)?);
    }
    let mut loaded = LoadedRules::default();
    let own = workspace.join(".gemini");
    if Some(own.as_path()) != settings.homes.gemini() {
        match rule_files::files_of(&own.join("policies"), PolicyTier::Workspace, workspace, saved) {
            Ok(found) => rules.extend(of_project(found, settings, &mut loaded.project)),
            // A file that is not trusted does not stop the work either.
            Err(error) if !settings.trusted => {
                loaded.warnings.push(format!("the project's rules are passed over: {error}"));
            }
            Err(error) => return Err(error),
        }
    }
    rules.extend(settings_rules::of_settings(settings)?);
    loaded.policy = Policy::new(rules);
    Ok(loaded)
}

/// The project's rules that apply.
fn of_project(
    found: Vec<(PathBuf, Vec<PolicyRule>)>,
    settings: &WorkspaceSettings,
    report: &mut ProjectReport,
) -> Vec<PolicyRule> {
    let mut counting = Vec::new();
    for (path, rules) in found {
        for rule in rules {
            if rule.decision == PolicyDecision::Allow {
                let allowance = Allowance::rule(&rule, &path);
                let counts = settings.project_trust.admits(&allowance);
                report.allowances.push((allowance, counts));
                if !counts {
                    continue;
                }
            }
            // Plan mode changes nothing, and a project cannot weaken a refusal to a question.
            let mut modes = rule.modes.clone();
            modes.retain(|mode| rule.decision != PolicyDecision::Ask || *mode != PolicyMode::Plan);
            if modes.is_empty() && !rule.modes.is_empty() {
                continue;
            }
            // The model gets a reason for the refusal, but not the project's text.
            let deny_message = rule.deny_message.clone().filter(|_| settings.trusted);
            counting.push(PolicyRule { deny_message, modes, ..rule });
        }
    }
    counting
}

/// The file of permanent approvals: in the user's folder, one for each workspace. A file in the workspace could be
/// part of the project.
pub(crate) fn auto_saved(settings: &WorkspaceSettings, workspace: &Path) -> Option<PathBuf> {
    let folder = Sha256::digest(workspace.as_os_str().as_encoded_bytes());
    Some(settings.homes.attache()?.join("projects").join(hexadecimal(&folder[..16])).join(AUTO_SAVED))
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
