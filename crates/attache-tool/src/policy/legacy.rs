//! The short spelling of rules that settings and flags use: `read_file`, `run_shell_command(git status)`.

use super::{PolicyDecision, PolicyRule, PolicyTier, SHELL_TOOL};

/// What was once the name of the tool that runs commands.
const OLD_SHELL: &str = "ShellTool";

/// A rule from its short spelling. None when it is not one: brackets that do not close, or that hold nothing, or that
/// belong to a tool which runs no commands.
pub fn legacy_rule(
    spelling: &str,
    decision: PolicyDecision,
    tier: PolicyTier,
    source: &str,
) -> Option<PolicyRule> {
    let mut rule = PolicyRule::new(decision, tier, source);
    let (tool, prefix) = match spelling.trim().split_once('(') {
        Some((tool, rest)) => (tool.trim(), Some(rest.strip_suffix(')')?.trim())),
        None => (spelling.trim(), None),
    };
    let tool = if tool == OLD_SHELL { SHELL_TOOL } else { tool };
    if tool.is_empty() || prefix.is_some_and(|prefix| prefix.is_empty() || tool != SHELL_TOOL) {
        return None;
    }
    rule.tools = vec![tool.to_owned()];
    rule.prefixes = prefix.map(str::to_owned).into_iter().collect();
    Some(rule)
}
