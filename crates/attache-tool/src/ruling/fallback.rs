//! What happens when no rule says otherwise.

use super::inside::inside_path;
use super::{CallFacts, Ruling};
use crate::Effect;
use crate::policy::{PolicyDecision, PolicyMode};

/// Agents that only look, so they may be used while planning.
const LOOKING_AGENTS: &[&str] = &["codebase_investigator", "cli_help"];

/// By the tool where it is a special one, else by each of its effects.
pub(super) fn fallback(call: &CallFacts<'_>, mode: PolicyMode) -> Ruling {
    if let Some(ruling) = special(call, mode) {
        return ruling;
    }
    let effects = call.proposal.effects.iter().map(|effect| by_effect(effect, call, mode));
    effects
        .reduce(Ruling::and)
        .unwrap_or_else(|| Ruling::new(PolicyDecision::Allow, "default: it changes nothing"))
}

fn special(call: &CallFacts<'_>, mode: PolicyMode) -> Option<Ruling> {
    let agent = call.proposal.input.get("agent_name").and_then(serde_json::Value::as_str).unwrap_or_default();
    let remote = call.proposal.effects.iter().any(|effect| matches!(effect, Effect::Fetch { .. }));
    let decision = match (call.tool, mode) {
        ("google_web_search", _) => PolicyDecision::Allow,
        ("enter_plan_mode" | "exit_plan_mode", PolicyMode::Yolo) => PolicyDecision::Deny,
        ("enter_plan_mode", _) if !call.interactive => PolicyDecision::Allow,
        ("enter_plan_mode" | "exit_plan_mode", _) => PolicyDecision::Ask,
        (_, PolicyMode::Yolo) => return None,
        ("activate_skill", _) => PolicyDecision::Ask,
        ("invoke_agent", PolicyMode::Plan) if !LOOKING_AGENTS.contains(&agent) => PolicyDecision::Deny,
        ("invoke_agent", _) if remote => PolicyDecision::Ask,
        ("invoke_agent", _) => PolicyDecision::Allow,
        (tool, PolicyMode::Plan) if tool.starts_with("discovered_tool_") => PolicyDecision::Deny,
        (tool, _) if tool.starts_with("discovered_tool_") => PolicyDecision::Ask,
        _ => return None,
    };
    let why = format!("default for {} in mode {}", call.tool, mode.name());
    Some(if decision == PolicyDecision::Deny {
        Ruling::deny(why, not_in(mode))
    } else {
        Ruling::new(decision, why)
    })
}

fn by_effect(effect: &Effect, call: &CallFacts<'_>, mode: PolicyMode) -> Ruling {
    let read_only = call.annotations.get("readOnlyHint") == Some(&serde_json::Value::Bool(true));
    let (what, decision) = match effect {
        Effect::Read { .. } => ("reading", PolicyDecision::Allow),
        Effect::Write { path } => (
            "writing",
            match mode {
                PolicyMode::Plan if is_plan(path, call) => PolicyDecision::Allow,
                PolicyMode::Plan => PolicyDecision::Deny,
                PolicyMode::Default => PolicyDecision::Ask,
                PolicyMode::AutoEdit | PolicyMode::Confined if inside_path(path, call.roots) => {
                    PolicyDecision::Allow
                }
                PolicyMode::AutoEdit | PolicyMode::Confined => PolicyDecision::Ask,
                PolicyMode::Yolo => PolicyDecision::Allow,
            },
        ),
        Effect::Fetch { .. } => (
            "fetching",
            match mode {
                // Being free to edit says nothing about the network.
                PolicyMode::Plan | PolicyMode::Default | PolicyMode::AutoEdit | PolicyMode::Confined => {
                    PolicyDecision::Ask
                }
                PolicyMode::Yolo => PolicyDecision::Allow,
            },
        ),
        Effect::UseServer { .. } => (
            "using a server's tool",
            match mode {
                PolicyMode::Plan if !read_only => PolicyDecision::Deny,
                PolicyMode::Plan | PolicyMode::Default | PolicyMode::AutoEdit | PolicyMode::Confined => {
                    PolicyDecision::Ask
                }
                PolicyMode::Yolo => PolicyDecision::Allow,
            },
        ),
        Effect::AskPerson => ("asking a person", PolicyDecision::Ask),
        // Judged piece by piece, elsewhere.
        Effect::Run { .. } => ("running", PolicyDecision::Allow),
    };
    let why = format!("default for {what} in mode {}", mode.name());
    if decision == PolicyDecision::Deny {
        Ruling::deny(why, not_in(mode))
    } else {
        Ruling::new(decision, why)
    }
}

/// Whether all that is written is a plan, while planning.
pub(super) fn writes_plan(call: &CallFacts<'_>, mode: PolicyMode) -> bool {
    mode == PolicyMode::Plan
        && call.proposal.effects.iter().all(|effect| match effect {
            Effect::Write { path } => is_plan(path, call),
            _ => true,
        })
}

fn is_plan(path: &std::path::Path, call: &CallFacts<'_>) -> bool {
    let markdown = path.extension().is_some_and(|extension| extension == "md");
    markdown && call.plans.is_some_and(|plans| inside_path(path, &[plans.to_path_buf()]))
}

pub(super) fn not_in(mode: PolicyMode) -> String {
    match mode {
        PolicyMode::Plan => {
            "Nothing is changed while planning. Read and search, write the plan, then ask to leave plan mode."
                .to_owned()
        }
        _ => format!("It is not possible in mode {}.", mode.name()),
    }
}
