//! The answers to an approval request, and their outcome.

use regex::Regex;
use serde_json::Value;

use super::{PolicyDecision, PolicyMode, PolicyRule, PolicyTier, SHELL_TOOL, grants};
use crate::ruling::{CallFacts, grantable};
use crate::{Access, Effect, Preview};

/// An answer to an approval request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ApprovalChoice {
    ProceedOnce,
    ProceedAlways,
    ProceedAlwaysTool,
    ProceedAlwaysServer,
    ProceedAlwaysAndSave,
    ModifyWithEditor,
    Cancel,
}

impl ApprovalChoice {
    pub const ALL: [Self; 7] = [
        Self::ProceedOnce,
        Self::ProceedAlways,
        Self::ProceedAlwaysTool,
        Self::ProceedAlwaysServer,
        Self::ProceedAlwaysAndSave,
        Self::ModifyWithEditor,
        Self::Cancel,
    ];

    /// The id that clients send.
    pub fn id(self) -> &'static str {
        match self {
            Self::ProceedOnce => "proceed_once",
            Self::ProceedAlways => "proceed_always",
            Self::ProceedAlwaysTool => "proceed_always_tool",
            Self::ProceedAlwaysServer => "proceed_always_server",
            Self::ProceedAlwaysAndSave => "proceed_always_and_save",
            Self::ModifyWithEditor => "modify_with_editor",
            Self::Cancel => "cancel",
        }
    }

    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|choice| choice.id() == id)
    }
}

/// The outcome of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum ChoiceOutcome {
    /// The call runs.
    Run,
    /// The call runs, and the session goes on in this mode.
    Switch(PolicyMode),
    /// The call runs, and these rules hold for the rest of the session. Empty when no narrow enough rule exists: then the
    /// same call needs approval again.
    Remember(Vec<PolicyRule>),
    /// Like the two above, and these rules are saved for later sessions.
    Save { rules: Vec<PolicyRule>, switch: Option<PolicyMode> },
    /// The person edits the proposal, and it needs approval again.
    Modify,
    /// This call and those queued behind it do not run.
    Cancel,
}

/// The offered answers. `permanent` allows those that are saved for later sessions. An "always" answer is offered only when
/// it would add a rule that can be described.
pub fn choices(call: &CallFacts<'_>, permanent: bool) -> Vec<ApprovalChoice> {
    let save = permanent.then_some(ApprovalChoice::ProceedAlwaysAndSave);
    let (always, last): (&[ApprovalChoice], &[ApprovalChoice]) = match call.proposal.shown {
        Preview::Edit { .. } => (&[ApprovalChoice::ProceedAlways], &[ApprovalChoice::ModifyWithEditor]),
        Preview::Exec { .. } | Preview::Agent { .. } | Preview::Info { .. } | Preview::Plain { .. } => {
            (&[ApprovalChoice::ProceedAlways], &[])
        }
        Preview::Mcp { .. } => {
            (&[ApprovalChoice::ProceedAlwaysTool, ApprovalChoice::ProceedAlwaysServer], &[])
        }
        Preview::Questions { .. } => return vec![ApprovalChoice::ProceedOnce, ApprovalChoice::Cancel],
    };
    let longer = always.iter().copied().chain(save).filter(|choice| grants(*choice, call).is_some());
    let mut choices = vec![ApprovalChoice::ProceedOnce];
    choices.extend(longer);
    choices.extend(last);
    choices.push(ApprovalChoice::Cancel);
    choices
}

/// The outcome of `choice` for the call.
pub fn rules_for(choice: ApprovalChoice, call: &CallFacts<'_>) -> ChoiceOutcome {
    let edits = matches!(call.proposal.shown, Preview::Edit { .. });
    let questions = matches!(call.proposal.shown, Preview::Questions { .. });
    match choice {
        ApprovalChoice::Cancel => ChoiceOutcome::Cancel,
        ApprovalChoice::ModifyWithEditor => ChoiceOutcome::Modify,
        ApprovalChoice::ProceedOnce => ChoiceOutcome::Run,
        _ if questions => ChoiceOutcome::Run,
        ApprovalChoice::ProceedAlwaysAndSave => {
            let rules = placed(rules(choice, call), choice, PolicyTier::User);
            ChoiceOutcome::Save { rules, switch: edits.then_some(PolicyMode::AutoEdit.max(call.mode)) }
        }
        _ if edits => ChoiceOutcome::Switch(PolicyMode::AutoEdit.max(call.mode)),
        _ => ChoiceOutcome::Remember(placed(rules(choice, call), choice, PolicyTier::Workspace)),
    }
}

/// Above nearly all rules of the tier.
const PRIORITY: u16 = 950;

fn placed(rules: Vec<PolicyRule>, choice: ApprovalChoice, tier: PolicyTier) -> Vec<PolicyRule> {
    let place =
        |rule| PolicyRule { tier, priority: PRIORITY, source: format!("answer {}", choice.id()), ..rule };
    rules.into_iter().map(place).collect()
}

pub(super) fn rules(choice: ApprovalChoice, call: &CallFacts<'_>) -> Vec<PolicyRule> {
    // An answer holds where at least as much is allowed as where it was given.
    let rule = PolicyRule {
        modes: call.mode.and_freer(),
        subagent: call.subagent.map(str::to_owned),
        workspace: call.roots.first().cloned(),
        ..PolicyRule::new(PolicyDecision::Allow, PolicyTier::Workspace, "")
    };
    let tools = |name: String| vec![name];
    match &call.proposal.shown {
        Preview::Exec { .. } => commands(call, &rule),
        Preview::Mcp { server, .. } => {
            let all = choice == ApprovalChoice::ProceedAlwaysServer;
            let name = if all { format!("mcp_{server}_*") } else { call.tool.to_owned() };
            vec![PolicyRule { tools: tools(name), server: Some(server.clone()), ..rule }]
        }
        // Another agent may come under the same name: the origin counts as well.
        Preview::Agent { .. } => call.proposal.agent().map_or_else(Vec::new, |(agent, origin)| {
            vec![PolicyRule { tools: tools(agent.to_owned()), agent_origin: Some(origin.to_owned()), ..rule }]
        }),
        _ if SENSITIVE.contains(&call.tool) => narrowed(call).map_or_else(Vec::new, |arguments| {
            vec![PolicyRule { tools: tools(call.tool.to_owned()), arguments: Some(arguments), ..rule }]
        }),
        _ => vec![PolicyRule { tools: tools(call.tool.to_owned()), ..rule }],
    }
}

/// Tools that are never allowed without narrowing.
const SENSITIVE: &[&str] =
    &["glob", "grep_search", "list_directory", "read_file", "replace", SHELL_TOOL, "write_file"];

/// One rule for each form of a command, at the level that was shown. Empty when the line can only be allowed once.
fn commands(call: &CallFacts<'_>, rule: &PolicyRule) -> Vec<PolicyRule> {
    let mut rules: Vec<PolicyRule> = Vec::new();
    for effect in &call.proposal.effects {
        let Effect::Run { command, directory, access } = effect else { continue };
        let Some(shapes) = grantable(call, command, directory, access) else { return Vec::new() };
        let access = Access { gap: None, ..access.clone() };
        for shape in shapes {
            let (tools, access) = (vec![SHELL_TOOL.to_owned()], Some(access.clone()));
            let rule = PolicyRule { tools, shape: Some(shape), access, ..rule.clone() };
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
    }
    rules
}

/// Matches calls that name the same path or pattern.
fn narrowed(call: &CallFacts<'_>) -> Option<Regex> {
    let input = &call.proposal.input;
    // In the order in which rules see them.
    let keys = ["dir_path", "file_path", "pattern"].into_iter().filter(|key| input.contains_key(*key));
    let pairs: Option<Vec<String>> = keys
        .map(|key| {
            let value = input.get(key).filter(|value| value.is_string())?;
            Some(regex::escape(&format!("{}:{value}", Value::String(key.to_owned()))))
        })
        .collect();
    let pairs = pairs.filter(|pairs| !pairs.is_empty())?;
    Regex::new(&pairs.join(".*")).ok()
}
