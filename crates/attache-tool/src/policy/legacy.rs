//! The short form of rules in settings and flags: `read_file`, `run_shell_command(git status)`.

use super::{PolicyDecision, PolicyRule, PolicyTier, SHELL_TOOL};

/// An older name of the shell tool.
const OLD_SHELL: &str = "ShellTool";

/// Parses the short form. None when the brackets are unclosed or empty, or follow a tool that runs no commands.
pub fn legacy_rule(
    entry: &str,
    decision: PolicyDecision,
    tier: PolicyTier,
    source: &str,
) -> Option<PolicyRule> {
    let mut rule = PolicyRule::new(decision, tier, source);
    let (tool, prefix) = match entry.trim().split_once('(') {
        Some((tool, rest)) => (tool.trim(), Some(rest.strip_suffix(')')?.trim())),
        None => (entry.trim(), None),
    };
    let tool = if tool == OLD_SHELL { SHELL_TOOL } else { tool };
    if tool.is_empty() || prefix.is_some_and(|prefix| prefix.is_empty() || tool != SHELL_TOOL) {
        return None;
    }
    rule.tools = vec![tool.to_owned()];
    rule.prefixes = prefix.map(str::to_owned).into_iter().collect();
    Some(rule)
}
