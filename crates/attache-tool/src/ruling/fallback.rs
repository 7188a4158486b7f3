//! What happens when no rule says otherwise.

use super::inside::inside_path;
use super::{Judged, Ruling};
use crate::Effect;
use crate::policy::{Decision, Mode};

/// Agents that only look, so they may be used while planning.
const LOOKING_AGENTS: &[&str] = &["codebase_investigator", "cli_help"];

/// By the tool where it is a special one, else by each of its effects.
pub(super) fn fallback(call: &Judged<'_>, mode: Mode) -> Ruling {
    if let Some(ruling) = special(call, mode) {
        return ruling;
    }
    let effects = call.proposal.effects.iter().map(|effect| by_effect(effect, call, mode));
    effects.reduce(Ruling::and).unwrap_or_else(|| Ruling::new(Decision::Allow, "default: it changes nothing"))
}

fn special(call: &Judged<'_>, mode: Mode) -> Option<Ruling> {
    let agent = call.proposal.input.get("agent_name").and_then(serde_json::Value::as_str).unwrap_or_default();
    let remote = call.proposal.effects.iter().any(|effect| matches!(effect, Effect::Fetch { .. }));
    let decision = match (call.tool, mode) {
        ("google_web_search", _) => Decision::Allow,
        ("enter_plan_mode" | "exit_plan_mode", Mode::Yolo) => Decision::Deny,
        ("enter_plan_mode", _) if !call.interactive => Decision::Allow,
        ("enter_plan_mode" | "exit_plan_mode", _) => Decision::Ask,
        (_, Mode::Yolo) => return None,
        ("activate_skill", _) => Decision::Ask,
        ("invoke_agent", Mode::Plan) if !LOOKING_AGENTS.contains(&agent) => Decision::Deny,
        ("invoke_agent", _) if remote => Decision::Ask,
        ("invoke_agent", _) => Decision::Allow,
        (tool, Mode::Plan) if tool.starts_with("discovered_tool_") => Decision::Deny,
        (tool, _) if tool.starts_with("discovered_tool_") => Decision::Ask,
        _ => return None,
    };
    let why = format!("default for {} in mode {}", call.tool, mode.name());
    Some(if decision == Decision::Deny {
        Ruling::deny(why, not_in(mode))
    } else {
        Ruling::new(decision, why)
    })
}

fn by_effect(effect: &Effect, call: &Judged<'_>, mode: Mode) -> Ruling {
    let read_only = call.annotations.get("readOnlyHint") == Some(&serde_json::Value::Bool(true));
    let (what, decision) = match effect {
        Effect::Read { .. } => ("reading", Decision::Allow),
        Effect::Write { path } => (
            "writing",
            match mode {
                Mode::Plan if is_plan(path, call) => Decision::Allow,
                Mode::Plan => Decision::Deny,
                Mode::Default => Decision::Ask,
                Mode::AutoEdit | Mode::Confined if inside_path(path, call.roots) => Decision::Allow,
                Mode::AutoEdit | Mode::Confined => Decision::Ask,
                Mode::Yolo => Decision::Allow,
            },
        ),
        Effect::Fetch { .. } => (
            "fetching",
            match mode {
                // Being free to edit says nothing about the network.
                Mode::Plan | Mode::Default | Mode::AutoEdit | Mode::Confined => Decision::Ask,
                Mode::Yolo => Decision::Allow,
            },
        ),
        Effect::UseServer { .. } => (
            "using a server's tool",
            match mode {
                Mode::Plan if !read_only => Decision::Deny,
                Mode::Plan | Mode::Default | Mode::AutoEdit | Mode::Confined => Decision::Ask,
                Mode::Yolo => Decision::Allow,
            },
        ),
        Effect::AskPerson => ("asking a person", Decision::Ask),
        // Judged piece by piece, elsewhere.
        Effect::Run { .. } => ("running", Decision::Allow),
    };
    let why = format!("default for {what} in mode {}", mode.name());
    if decision == Decision::Deny { Ruling::deny(why, not_in(mode)) } else { Ruling::new(decision, why) }
}

/// Whether all that is written is a plan, while planning.
pub(super) fn writes_plan(call: &Judged<'_>, mode: Mode) -> bool {
    mode == Mode::Plan
        && call.proposal.effects.iter().all(|effect| match effect {
            Effect::Write { path } => is_plan(path, call),
            _ => true,
        })
}

fn is_plan(path: &std::path::Path, call: &Judged<'_>) -> bool {
    let markdown = path.extension().is_some_and(|extension| extension == "md");
    markdown && call.plans.is_some_and(|plans| inside_path(path, &[plans.to_path_buf()]))
}

pub(super) fn not_in(mode: Mode) -> String {
    match mode {
        Mode::Plan => {
            "Nothing is changed while planning. Read and search, write the plan, then ask to leave plan mode."
                .to_owned()
        }
        _ => format!("It is not possible in mode {}.", mode.name()),
    }
}
