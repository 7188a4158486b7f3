//! Decides whether a proposal may run: a pure function of its effects and the rules.
//!
//! The strongest matching rule decides; without one, the mode and the effects do. Commands are judged segment by segment,
//! and the most careful result counts. What cannot be parsed needs approval.

mod command;
mod dangerous;
mod fallback;
mod file_lookup;
mod git;
mod inside;
mod matching;
mod misleading;
mod named_files;
mod safe;
mod shape;
mod suggested;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::policy::{Policy, PolicyDecision, PolicyMode, PolicyRule};
use crate::protected::protected_edit;
use crate::{Access, Confinement, Effect, Proposal};

pub(crate) use command::grantable;
pub use file_lookup::FileLookup;
#[cfg(test)]
pub(crate) use file_lookup::NoFileLookup;

/// The facts about a call that rules look at.
#[derive(Debug, Clone, Copy)]
pub struct CallFacts<'a> {
    pub tool: &'a str,
    /// The MCP server of the tool.
    pub server: Option<&'a str>,
    /// The subagent that makes the call.
    pub subagent: Option<&'a str>,
    /// What the tool says about itself.
    pub annotations: &'a Map<String, Value>,
    pub proposal: &'a Proposal,
    /// Absolute and without links.
    pub roots: &'a [PathBuf],
    /// Where plans may be written in plan mode.
    pub plans: Option<&'a Path>,
    pub mode: PolicyMode,
    /// Whether a person can be asked.
    pub interactive: bool,
    /// Whether the folder is trusted.
    pub trusted: bool,
    /// What can be enforced around commands.
    pub confinement: &'a Confinement,
    /// The files that commands name.
    pub files: &'a dyn FileLookup,
}

impl CallFacts<'_> {
    /// The mode in force: an untrusted folder never gets more than the default mode.
    pub fn effective_mode(&self) -> PolicyMode {
        if self.trusted { self.mode } else { self.mode.min(PolicyMode::Default) }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    pub decision: PolicyDecision,
    /// The rule or the default that decided.
    pub why: String,
    /// For the model, when the call is denied.
    pub deny_message: Option<String>,
    /// The access of a command; none for calls that run none.
    pub access: Option<Access>,
}

impl Ruling {
    fn new(decision: PolicyDecision, why: impl Into<String>) -> Self {
        Self { decision, why: why.into(), deny_message: None, access: None }
    }

    fn by(rule: &PolicyRule) -> Self {
        Self {
            deny_message: rule.deny_message.clone(),
            ..Self::new(rule.decision, format!("rule {}", rule.source))
        }
    }

    fn deny(why: impl Into<String>, message: impl Into<String>) -> Self {
        Self { deny_message: Some(message.into()), ..Self::new(PolicyDecision::Deny, why) }
    }

    fn at(self, access: Access) -> Self {
        Self { access: Some(access), ..self }
    }

    /// The same, but at least with approval.
    pub fn and_ask(self, call: &CallFacts<'_>, why: impl Into<String>) -> Self {
        without_people(call, self.and(Self::new(PolicyDecision::Ask, why)))
    }

    /// The more careful of the two, the first among equals. The access covers both.
    fn and(self, other: Self) -> Self {
        let access = match (&self.access, &other.access) {
            (Some(one), Some(another)) => Some(one.clone().and(another)),
            (one, another) => one.clone().or_else(|| another.clone()),
        };
        let chosen = if self.decision.and(other.decision) == self.decision { self } else { other };
        Self { access, ..chosen }
    }
}

/// Decides whether `call` may run.
pub fn rule(policy: &Policy, call: &CallFacts<'_>) -> Ruling {
    let mode = call.effective_mode();
    let commands = call.proposal.effects.iter().filter_map(|effect| match effect {
        Effect::Run { command, directory, access } => Some(command::rule(
            policy,
            call,
            mode,
            command::Line { text: command, directory, wanted: access },
        )),
        _ => None,
    });
    let others = call.proposal.effects.iter().any(|effect| !matches!(effect, Effect::Run { .. }));
    let whole = (others || call.proposal.effects.is_empty()).then(|| rule_whole(policy, call, mode));
    let ruling = commands
        .chain(whole)
        .reduce(Ruling::and)
        .unwrap_or_else(|| Ruling::new(PolicyDecision::Ask, "nothing is known about it"));
    without_people(call, ruling)
}

/// Everything but commands: the tool and its arguments.
fn rule_whole(policy: &Policy, call: &CallFacts<'_>, mode: PolicyMode) -> Ruling {
    let found = policy.rules().iter().find(|rule| matching::whole(rule, call, mode));
    let ruling = found.map_or_else(|| fallback::fallback(call, mode), Ruling::by);
    let ruling = match protected_edit(call.proposal, call.roots) {
        Some(why) if mode != PolicyMode::Yolo && !fallback::writes_plan(call, mode) => {
            ruling.and(Ruling::new(PolicyDecision::Ask, why))
        }
        _ => ruling,
    };
    // No rule can answer in a person's place.
    if call.proposal.effects.contains(&Effect::AskPerson) {
        ruling.and(Ruling::new(PolicyDecision::Ask, "a person has to answer"))
    } else {
        ruling
    }
}

/// Denies what needs approval when no person can be asked.
fn without_people(call: &CallFacts<'_>, ruling: Ruling) -> Ruling {
    if call.interactive || ruling.decision != PolicyDecision::Ask {
        return ruling;
    }
    let message = format!("{NO_APPROVER} A rule that allows it, or another mode, would let it run.");
    Ruling::deny(format!("{}; no person can be asked", ruling.why), message)
}

/// Begins the message of such a denial.
pub const NO_APPROVER: &str = "It needs the approval of a person, and no person can be asked.";

#[cfg(test)]
mod tests;
