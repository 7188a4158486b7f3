//! What a person can answer, and what comes of it.

use regex::Regex;
use serde_json::Value;

use super::{Decision, Mode, Rule, SHELL_TOOL, Tier, grants};
use crate::ruling::{Judged, grantable};
use crate::{Access, Effect, Shown};

/// An answer to "may it run?".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Choice {
    ProceedOnce,
    ProceedAlways,
    ProceedAlwaysTool,
    ProceedAlwaysServer,
    ProceedAlwaysAndSave,
    ModifyWithEditor,
    Cancel,
}

impl Choice {
    pub const ALL: [Self; 7] = [
        Self::ProceedOnce,
        Self::ProceedAlways,
        Self::ProceedAlwaysTool,
        Self::ProceedAlwaysServer,
        Self::ProceedAlwaysAndSave,
        Self::ModifyWithEditor,
        Self::Cancel,
    ];

    /// How clients call it.
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

/// What an answer means.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The call runs, and that is all.
    Run,
    /// The call runs, and the session goes on in this mode.
    Switch(Mode),
    /// The call runs, and these rules hold for the rest of the session. There are none when nothing narrow enough can be
    /// said: then the same call is asked about again.
    Remember(Vec<Rule>),
    /// Like the two above, and these rules are kept for later sessions.
    Save { rules: Vec<Rule>, switch: Option<Mode> },
    /// The proposal is changed by hand and asked about again.
    Modify,
    /// This call and those that wait behind it do not run.
    Cancel,
}

/// What is offered. `permanent` is whether answers may be kept for later sessions. An answer for longer is there only
/// where it would allow something that can be said in words.
pub fn choices(judged: &Judged<'_>, permanent: bool) -> Vec<Choice> {
    let save = permanent.then_some(Choice::ProceedAlwaysAndSave);
    let (always, last): (&[Choice], &[Choice]) = match judged.proposal.shown {
        Shown::Edit { .. } => (&[Choice::ProceedAlways], &[Choice::ModifyWithEditor]),
        Shown::Exec { .. } | Shown::Info { .. } | Shown::Plain { .. } => (&[Choice::ProceedAlways], &[]),
        Shown::Mcp { .. } => (&[Choice::ProceedAlwaysTool, Choice::ProceedAlwaysServer], &[]),
        Shown::Questions { .. } => return vec![Choice::ProceedOnce, Choice::Cancel],
    };
    let longer = always.iter().copied().chain(save).filter(|choice| grants(*choice, judged).is_some());
    let mut choices = vec![Choice::ProceedOnce];
    choices.extend(longer);
    choices.extend(last);
    choices.push(Choice::Cancel);
    choices
}

/// What comes of `choice` as the answer to `judged`.
pub fn rules_for(choice: Choice, judged: &Judged<'_>) -> Outcome {
    let edits = matches!(judged.proposal.shown, Shown::Edit { .. });
    let questions = matches!(judged.proposal.shown, Shown::Questions { .. });
    match choice {
        Choice::Cancel => Outcome::Cancel,
        Choice::ModifyWithEditor => Outcome::Modify,
        Choice::ProceedOnce => Outcome::Run,
        _ if questions => Outcome::Run,
        Choice::ProceedAlwaysAndSave => {
            let rules = placed(rules(choice, judged), choice, Tier::User);
            Outcome::Save { rules, switch: edits.then_some(Mode::AutoEdit.max(judged.mode)) }
        }
        _ if edits => Outcome::Switch(Mode::AutoEdit.max(judged.mode)),
        _ => Outcome::Remember(placed(rules(choice, judged), choice, Tier::Workspace)),
    }
}

/// Answers are stronger than nearly all rules of their tier.
const PRIORITY: u16 = 950;

fn placed(rules: Vec<Rule>, choice: Choice, tier: Tier) -> Vec<Rule> {
    let place = |rule| Rule { tier, priority: PRIORITY, source: format!("answer {}", choice.id()), ..rule };
    rules.into_iter().map(place).collect()
}

pub(super) fn rules(choice: Choice, judged: &Judged<'_>) -> Vec<Rule> {
    // An answer holds where at least as much is allowed as where it was given.
    let rule = Rule {
        modes: judged.mode.and_freer(),
        subagent: judged.subagent.map(str::to_owned),
        workspace: judged.roots.first().cloned(),
        ..Rule::new(Decision::Allow, Tier::Workspace, "")
    };
    let tools = |name: String| vec![name];
    match &judged.proposal.shown {
        Shown::Exec { .. } => commands(judged, &rule),
        Shown::Mcp { server, .. } => {
            let all = choice == Choice::ProceedAlwaysServer;
            let name = if all { format!("mcp_{server}_*") } else { judged.tool.to_owned() };
            vec![Rule { tools: tools(name), server: Some(server.clone()), ..rule }]
        }
        _ if SENSITIVE.contains(&judged.tool) => narrowed(judged).map_or_else(Vec::new, |arguments| {
            vec![Rule { tools: tools(judged.tool.to_owned()), arguments: Some(arguments), ..rule }]
        }),
        _ => vec![Rule { tools: tools(judged.tool.to_owned()), ..rule }],
    }
}

/// Tools that are never allowed for everything at once.
const SENSITIVE: &[&str] = &[
    "glob",
    "grep_search",
    "list_directory",
    "read_file",
    "read_many_files",
    "replace",
    SHELL_TOOL,
    "write_file",
];

/// One rule for each form of a command, at the level that was shown. None when the line can only be allowed once.
fn commands(judged: &Judged<'_>, rule: &Rule) -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    for effect in &judged.proposal.effects {
        let Effect::Run { command, directory, access } = effect else { continue };
        let Some(shapes) = grantable(judged, command, directory, access) else { return Vec::new() };
        let access = Access { gap: None, ..access.clone() };
        for shape in shapes {
            let (tools, access) = (vec![SHELL_TOOL.to_owned()], Some(access.clone()));
            let rule = Rule { tools, shape: Some(shape), access, ..rule.clone() };
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
    }
    rules
}

/// Matches calls that name the same path or pattern.
fn narrowed(judged: &Judged<'_>) -> Option<Regex> {
    let input = &judged.proposal.input;
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
