//! The default decisions, when no rule matches.

use super::inside::inside_path;
use super::{CallFacts, Ruling};
use crate::Effect;
use crate::policy::{PolicyDecision, PolicyMode};

/// By each of the call's effects. A web search is always allowed.
pub(super) fn fallback(call: &CallFacts<'_>, mode: PolicyMode) -> Ruling {
    if call.tool == "google_web_search" {
        let why = format!("default for {} in mode {}", call.tool, mode.name());
        return Ruling::new(PolicyDecision::Allow, why);
    }
    let effects = call.proposal.effects.iter().map(|effect| by_effect(effect, call, mode));
    effects
        .reduce(Ruling::and)
        .unwrap_or_else(|| Ruling::new(PolicyDecision::Allow, "default: it changes nothing"))
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
                // Permission to edit says nothing about the network.
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
        Effect::Delegate { .. } => (
            "asking another agent",
            match mode {
                PolicyMode::Plan => PolicyDecision::Deny,
                PolicyMode::Default | PolicyMode::AutoEdit | PolicyMode::Confined => PolicyDecision::Ask,
                PolicyMode::Yolo => PolicyDecision::Allow,
            },
        ),
        Effect::AskPerson => ("asking a person", PolicyDecision::Ask),
        // `command` judges it.
        Effect::Run { .. } => ("running", PolicyDecision::Allow),
    };
    let why = format!("default for {what} in mode {}", mode.name());
    if decision == PolicyDecision::Deny {
        Ruling::deny(why, not_in(mode))
    } else {
        Ruling::new(decision, why)
    }
}

/// Whether the call writes only plans, in plan mode.
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
