//! Rules about which calls may run: their format, their tiers, and how a person's answers become rules.
//!
//! Pure: takes the text of rule files, returns rules to save. `ruling` applies them.

mod choice;
mod error;
mod grant;
mod legacy;
mod mode;
mod read;
mod shape;
mod write;

use std::path::PathBuf;
use std::sync::Arc;

use regex::Regex;
use serde_json::{Map, Value};

use crate::Access;

pub use choice::{ApprovalChoice, ChoiceOutcome, choices, rules_for};
pub use error::PolicyError;
pub use grant::grants;
pub use legacy::legacy_rule;
pub use mode::PolicyMode;
pub use read::read;
pub use shape::{CommandPattern, CommandShape};
pub use write::to_toml;

/// The name of the tool that runs commands.
pub(crate) const SHELL_TOOL: &str = "run_shell_command";

/// The decision of a rule or of a default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PolicyDecision {
    Allow,
    Ask,
    Deny,
}

impl PolicyDecision {
    /// The more careful of the two.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Deny, _) | (_, Self::Deny) => Self::Deny,
            (Self::Ask, _) | (_, Self::Ask) => Self::Ask,
            (Self::Allow, Self::Allow) => Self::Allow,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask_user",
            Self::Deny => "deny",
        }
    }
}

/// Where a rule comes from; any rule of a later tier beats all of an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PolicyTier {
    Extension,
    Workspace,
    User,
    Admin,
}

/// A decision about matching calls. An empty list or none matches any.
#[derive(Debug, Clone)]
pub struct PolicyRule {
    /// `*` stands for any text. The name of an agent stands for calls that ask this agent.
    pub tools: Vec<String>,
    pub server: Option<String>,
    pub subagent: Option<String>,
    /// Limits the rule to agents at this origin.
    pub agent_origin: Option<String>,
    /// Matched against the arguments as JSON with sorted keys.
    pub arguments: Option<Regex>,
    /// The first words of a command.
    pub prefixes: Vec<String>,
    /// Matched at the beginning of a command.
    pub command: Option<Regex>,
    /// The form of a command; only for rules that allow.
    pub shape: Option<CommandShape>,
    /// Limits the rule to the workspace with this first folder.
    pub workspace: Option<PathBuf>,
    /// Annotations of the tool.
    pub annotations: Map<String, Value>,
    pub modes: Vec<PolicyMode>,
    pub interactive: Option<bool>,
    pub decision: PolicyDecision,
    pub tier: PolicyTier,
    /// 0 to 999, within the tier.
    pub priority: u16,
    /// Whether an allowed command may also write files through `>`.
    pub redirection: bool,
    pub deny_message: Option<String>,
    /// The access of a command that it allows; none: level work without network.
    pub access: Option<Access>,
    /// Where the rule is written, for people.
    pub source: String,
}

impl PolicyRule {
    /// Matches everything until narrowed.
    pub fn new(decision: PolicyDecision, tier: PolicyTier, source: impl Into<String>) -> Self {
        Self {
            tools: vec![],
            server: None,
            subagent: None,
            agent_origin: None,
            arguments: None,
            prefixes: vec![],
            command: None,
            shape: None,
            workspace: None,
            annotations: Map::new(),
            modes: vec![],
            interactive: None,
            decision,
            tier,
            priority: 0,
            redirection: false,
            deny_message: None,
            access: None,
            source: source.into(),
        }
    }

    /// Whether it matches commands and not only tools.
    pub(crate) fn is_about_commands(&self) -> bool {
        !self.prefixes.is_empty()
            || self.command.is_some()
            || self.arguments.is_some()
            || self.shape.is_some()
    }
}

impl PartialEq for PolicyRule {
    fn eq(&self, other: &Self) -> bool {
        let pattern = |regex: &Option<Regex>| regex.as_ref().map(|regex| regex.as_str().to_owned());
        let words = |rule: &Self| (rule.tools.clone(), rule.prefixes.clone(), rule.modes.clone());
        let names = |rule: &Self| (rule.server.clone(), rule.subagent.clone(), rule.deny_message.clone());
        let place =
            |rule: &Self| (rule.decision, rule.tier, rule.priority, rule.interactive, rule.redirection);
        words(self) == words(other)
            && names(self) == names(other)
            && place(self) == place(other)
            && pattern(&self.arguments) == pattern(&other.arguments)
            && pattern(&self.command) == pattern(&other.command)
            && self.annotations == other.annotations
            && self.agent_origin == other.agent_origin
            && self.access == other.access
            && self.shape == other.shape
            && self.workspace == other.workspace
    }
}

/// All rules, the strongest first. Copies are cheap and copy on write.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    rules: Arc<Vec<PolicyRule>>,
}

impl Policy {
    pub fn new(rules: Vec<PolicyRule>) -> Self {
        let mut policy = Self { rules: Arc::new(rules) };
        policy.sort();
        policy
    }

    /// Among equally strong rules, the first one counts.
    pub fn add(&mut self, rules: impl IntoIterator<Item = PolicyRule>) {
        Arc::make_mut(&mut self.rules).extend(rules);
        self.sort();
    }

    pub fn rules(&self) -> &[PolicyRule] {
        &self.rules
    }

    fn sort(&mut self) {
        Arc::make_mut(&mut self.rules).sort_by_key(|rule| std::cmp::Reverse((rule.tier, rule.priority)));
    }
}

#[cfg(test)]
mod tests;
