//! Whether a rule matches a call, or one segment of a command.

use serde_json::{Map, Value};

use super::safe::CommandLocation;
use super::{CallFacts, shape};
use crate::delegation::BETWEEN_ORIGINS;
use crate::is_tool_name;
use crate::policy::{PolicyDecision, PolicyMode, PolicyRule};
use crate::shell::{Segment, ShellWord};

/// Whether a rule matches a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RuleMatch {
    No,
    /// Depends on words that are known only at run time.
    Perhaps,
    Yes,
}

/// Whether `rule` decides about the call as a whole.
pub(super) fn whole(rule: &PolicyRule, call: &CallFacts<'_>, mode: PolicyMode) -> bool {
    applies(rule, call, mode)
        && rule.prefixes.is_empty()
        && rule.command.is_none()
        && rule.shape.is_none()
        && rule.arguments.as_ref().is_none_or(|pattern| pattern.is_match(&sorted_json(&call.proposal.input)))
}

/// Whether `rule` decides about one segment. Denying rules match broadly, allowing ones narrowly.
pub(super) fn segment(
    rule: &PolicyRule,
    call: &CallFacts<'_>,
    mode: PolicyMode,
    segment: &Segment,
    location: CommandLocation<'_>,
) -> RuleMatch {
    if !applies(rule, call, mode) {
        return RuleMatch::No;
    }
    let allows = rule.decision == PolicyDecision::Allow;
    if rule.shape.as_ref().is_some_and(|shape| !shape::fits(shape, segment, location)) {
        return RuleMatch::No;
    }
    let fits = [
        prefix(rule, segment, allows),
        command(rule, segment, allows),
        arguments(rule, call, segment, allows),
    ];
    if fits.contains(&RuleMatch::No) {
        RuleMatch::No
    } else if fits.contains(&RuleMatch::Perhaps) {
        RuleMatch::Perhaps
    } else {
        RuleMatch::Yes
    }
}

/// All conditions except the command.
fn applies(rule: &PolicyRule, call: &CallFacts<'_>, mode: PolicyMode) -> bool {
    let agent = call.proposal.agent();
    let names = |pattern: &String| {
        stands_for(pattern, call.tool) || agent.is_some_and(|(agent, _)| names_agent(rule, pattern, agent))
    };
    let tool = rule.tools.is_empty() || rule.tools.iter().any(names);
    let at_origin = rule
        .agent_origin
        .as_deref()
        .is_none_or(|named| agent.is_some_and(|(_, it)| is_called_at(rule, named, it)));
    let server =
        rule.server.as_deref().is_none_or(|server| call.server.is_some_and(|it| stands_for(server, it)));
    let subagent = rule.subagent.as_deref().is_none_or(|subagent| call.subagent == Some(subagent));
    let annotated = rule.annotations.iter().all(|(name, value)| call.annotations.get(name) == Some(value));
    let interactive = rule.interactive.is_none_or(|interactive| interactive == call.interactive);
    let here = rule.workspace.as_ref().is_none_or(|workspace| call.roots.first() == Some(workspace));
    here && tool && at_origin && server && subagent && annotated && interactive && counts_in(rule, mode)
}

/// A rule that allows must name every origin to which the call may go; for others, one is enough.
fn is_called_at(rule: &PolicyRule, named: &str, origins: &str) -> bool {
    let is_named = |origin: &str| named.split(BETWEEN_ORIGINS).any(|known| known == origin);
    let mut origins = origins.split(BETWEEN_ORIGINS);
    match rule.decision {
        PolicyDecision::Allow => origins.all(is_named),
        PolicyDecision::Ask | PolicyDecision::Deny => origins.any(is_named),
    }
}

/// A rule that allows must name the agent in full, and must not mean a tool: a rule for tools says nothing about agents.
fn names_agent(rule: &PolicyRule, pattern: &str, agent: &str) -> bool {
    match rule.decision {
        PolicyDecision::Allow => pattern == agent && (rule.agent_origin.is_some() || !is_tool_name(agent)),
        PolicyDecision::Ask | PolicyDecision::Deny => stands_for(pattern, agent),
    }
}

/// Plan and yolo override rules that do not name them: plan changes nothing, and yolo asks nothing.
fn counts_in(rule: &PolicyRule, mode: PolicyMode) -> bool {
    match (mode, rule.decision) {
        (PolicyMode::Plan, PolicyDecision::Allow | PolicyDecision::Ask)
        | (PolicyMode::Yolo, PolicyDecision::Ask) => rule.modes.contains(&mode),
        _ => rule.modes.is_empty() || rule.modes.contains(&mode),
    }
}

fn prefix(rule: &PolicyRule, segment: &Segment, allows: bool) -> RuleMatch {
    if rule.prefixes.is_empty() {
        return RuleMatch::Yes;
    }
    let fits: Vec<RuleMatch> =
        rule.prefixes.iter().map(|prefix| starts_with(segment, prefix, allows)).collect();
    match fits {
        fits if fits.contains(&RuleMatch::Yes) => RuleMatch::Yes,
        fits if fits.contains(&RuleMatch::Perhaps) => RuleMatch::Perhaps,
        _ => RuleMatch::No,
    }
}

/// Word by word, so that `git` does not match `gitk`.
fn starts_with(segment: &Segment, prefix: &str, allows: bool) -> RuleMatch {
    let mut fit = RuleMatch::Yes;
    let mut wanted = prefix.split_whitespace().peekable();
    if wanted.peek().is_none() {
        return RuleMatch::No;
    }
    for (location, wanted) in wanted.enumerate() {
        fit = match segment.words.get(location) {
            Some(ShellWord::Text(text)) if text == wanted => fit,
            // A denied program matches with any path; an allowed one only as written.
            Some(ShellWord::Text(_)) if location == 0 && !allows && segment.base() == Some(wanted) => fit,
            Some(ShellWord::Pattern(_) | ShellWord::Unknown) if !allows => RuleMatch::Perhaps,
            _ => return RuleMatch::No,
        };
    }
    fit
}

fn command(rule: &PolicyRule, segment: &Segment, allows: bool) -> RuleMatch {
    let Some(pattern) = &rule.command else { return RuleMatch::Yes };
    let begins = |text: &str| pattern.find(text).is_some_and(|found| found.start() == 0);
    let known = segment.words.iter().all(|word| *word != ShellWord::Unknown);
    let text = segment.text();
    if allows {
        return if known && begins(&text) { RuleMatch::Yes } else { RuleMatch::No };
    }
    let path = segment.program().unwrap_or_default().len() - segment.base().unwrap_or_default().len();
    if begins(&text) || begins(&text[path..]) {
        RuleMatch::Yes
    } else if known {
        RuleMatch::No
    } else {
        RuleMatch::Perhaps
    }
}

fn arguments(rule: &PolicyRule, call: &CallFacts<'_>, segment: &Segment, allows: bool) -> RuleMatch {
    let Some(pattern) = &rule.arguments else { return RuleMatch::Yes };
    let mut input = call.proposal.input.clone();
    input.insert("command".to_owned(), Value::String(segment.text()));
    let piece = pattern.is_match(&sorted_json(&input));
    let all = pattern.is_match(&sorted_json(&call.proposal.input));
    let known = segment.words.iter().all(|word| *word != ShellWord::Unknown);
    match (allows, piece, all) {
        (true, true, _) if known => RuleMatch::Yes,
        (false, true, _) | (false, _, true) => RuleMatch::Yes,
        _ => RuleMatch::No,
    }
}

/// Whether the pattern, in which `*` is any text, matches the name.
fn stands_for(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// The arguments as JSON with sorted keys.
fn sorted_json(input: &Map<String, Value>) -> String {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Object(object) => sorted_object(object),
            Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
            other => other.clone(),
        }
    }
    fn sorted_object(object: &Map<String, Value>) -> Value {
        let mut entries: Vec<_> = object.iter().collect();
        entries.sort_by_key(|(key, _)| *key);
        Value::Object(entries.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect())
    }
    sorted_object(input).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name, expected) in [
            ("read_file", "read_file", true),
            ("read_file", "read_files", false),
            ("*", "anything", true),
            ("mcp_*", "mcp_a_b", true),
            ("mcp_*", "xmcp_a", false),
            ("mcp_a_*", "mcp_ab_c", false),
            ("*_file", "read_file", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxcyyb", false),
            ("a*a", "a", false),
        ] {
            assert_eq!(stands_for(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn arguments_are_written_in_one_order() {
        let input: Map<String, Value> =
            serde_json::from_str(r#"{"b":{"d":1,"c":[{"f":1,"e":2}]},"a":2}"#).unwrap();
        assert_eq!(sorted_json(&input), r#"{"a":2,"b":{"c":[{"e":2,"f":1}],"d":1}}"#);
    }
}
