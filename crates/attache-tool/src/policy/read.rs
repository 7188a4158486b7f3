//! Parses rules from TOML.

use regex::RegexBuilder;
use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::{Access, AccessLevel};

use super::{
    CommandPattern, CommandShape, PolicyDecision, PolicyError, PolicyMode, PolicyRule, PolicyTier, SHELL_TOOL,
};

/// Compiled patterns that need more memory are refused.
const MAX_PATTERN_BYTES: usize = 1 << 20;

const KEYS: &str = "toolName, mcpName, argsPattern, commandPrefix, commandRegex, commandShape, decision, priority, \
                    modes, interactive, allowRedirection, denyMessage, toolAnnotations, subagent, agentOrigin, access, \
                    network, writes, workspace";

/// Parses `[[rule]]` tables. Errors name `file`; all rules get `tier`.
pub fn read(file: &str, text: &str, tier: PolicyTier) -> Result<Vec<PolicyRule>, PolicyError> {
    let reader = Reader { file, text, tier };
    let document = DeTable::parse(text)
        .map_err(|error| reader.error(error.span().map_or(0, |span| span.start), None, error.message()))?;
    let mut rules = Vec::new();
    for (key, value) in document.get_ref() {
        match (key.get_ref().as_ref(), value.get_ref()) {
            ("rule", DeValue::Array(tables)) => {
                for table in tables {
                    rules.push(reader.rule(table)?);
                }
            }
            // Checkers are another matter than rules, and are read elsewhere.
            ("safety_checker", _) => {}
            ("rule", other) => {
                return Err(reader.wrong("rule", value, "a list of tables, written [[rule]]", other));
            }
            (name, _) => {
                return Err(reader.error(
                    key.span().start,
                    Some(name),
                    "unknown; only [[rule]] is known here",
                ));
            }
        }
    }
    Ok(rules)
}

type Item<'a> = Spanned<DeValue<'a>>;

struct Reader<'a> {
    file: &'a str,
    text: &'a str,
    tier: PolicyTier,
}

impl Reader<'_> {
    fn rule(&self, item: &Item<'_>) -> Result<PolicyRule, PolicyError> {
        let DeValue::Table(table) = item.get_ref() else {
            return Err(self.wrong("rule", item, "a table", item.get_ref()));
        };
        let start = item.span().start;
        let mut rule =
            PolicyRule::new(PolicyDecision::Ask, self.tier, format!("{}:{}", self.file, self.line(start)));
        let mut decided = false;
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            decided |= name == "decision";
            self.field(&mut rule, name, key.span().start, value)?;
        }
        if !decided {
            return Err(self.error(
                start,
                Some("decision"),
                "missing; one of allow, ask_user, deny is needed",
            ));
        }
        self.check(&mut rule, start)?;
        Ok(rule)
    }

    fn field(
        &self,
        rule: &mut PolicyRule,
        name: &str,
        at: usize,
        value: &Item<'_>,
    ) -> Result<(), PolicyError> {
        match name {
            "toolName" => rule.tools = self.texts(name, value)?,
            "mcpName" => rule.server = Some(self.string(name, value)?),
            "subagent" => rule.subagent = Some(self.string(name, value)?),
            "agentOrigin" => rule.agent_origin = Some(self.string(name, value)?),
            "argsPattern" => rule.arguments = Some(self.pattern(name, value)?),
            "commandPrefix" => rule.prefixes = self.texts(name, value)?,
            "commandRegex" => rule.command = Some(self.pattern(name, value)?),
            "commandShape" => rule.shape = Some(self.shape(name, value)?),
            "workspace" => rule.workspace = Some(self.string(name, value)?.into()),
            "decision" => rule.decision = self.decision(name, value)?,
            "priority" => rule.priority = self.priority(name, value)?,
            "modes" => rule.modes = self.modes(name, value)?,
            "interactive" => rule.interactive = Some(self.boolean(name, value)?),
            "allowRedirection" => rule.redirection = self.boolean(name, value)?,
            "denyMessage" => rule.deny_message = Some(self.string(name, value)?),
            "access" => access(rule).level = self.level(name, value)?,
            "network" => access(rule).network = self.texts(name, value)?,
            "writes" => {
                access(rule).writes = self.texts(name, value)?.into_iter().map(Into::into).collect();
            }
            "toolAnnotations" => rule.annotations = self.annotations(name, value)?,
            _ => return Err(self.error(at, Some(name), &format!("unknown; known keys are {KEYS}"))),
        }
        Ok(())
    }

    /// Checks that concern several fields.
    fn check(&self, rule: &mut PolicyRule, at: usize) -> Result<(), PolicyError> {
        let commands = !rule.prefixes.is_empty() || rule.command.is_some() || rule.shape.is_some();
        if commands && rule.tools.is_empty() {
            rule.tools = vec![SHELL_TOOL.to_owned()];
        }
        let key = match (&rule.shape, rule.prefixes.is_empty()) {
            (Some(_), _) => "commandShape",
            (None, true) => "commandRegex",
            (None, false) => "commandPrefix",
        };
        if commands && rule.tools != [SHELL_TOOL] {
            return Err(self.error(at, Some(key), &format!("only for toolName = {SHELL_TOOL:?}")));
        }
        if !rule.prefixes.is_empty() && rule.command.is_some() {
            return Err(self.error(at, Some(key), "give either commandPrefix or commandRegex, not both"));
        }
        if rule.shape.is_some() && (!rule.prefixes.is_empty() || rule.command.is_some()) {
            return Err(self.error(at, Some(key), "give it alone, without commandPrefix and commandRegex"));
        }
        if rule.shape.is_some() && rule.decision != PolicyDecision::Allow {
            let message = "is only for decision = \"allow\"; use commandPrefix to forbid or to be asked";
            return Err(self.error(at, Some(key), message));
        }
        if rule.prefixes.iter().any(|prefix| prefix.trim().is_empty()) {
            return Err(self.error(at, Some(key), "is empty; name at least the program"));
        }
        if self.tier == PolicyTier::Extension && rule.decision == PolicyDecision::Allow {
            return Err(self.error(at, Some("decision"), "an extension may not allow; use ask_user or deny"));
        }
        if self.tier == PolicyTier::Extension && rule.modes.contains(&PolicyMode::Yolo) {
            return Err(self.error(at, Some("modes"), "an extension has no say in yolo"));
        }
        Ok(())
    }

    fn string(&self, key: &str, value: &Item<'_>) -> Result<String, PolicyError> {
        match value.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            other => Err(self.wrong(key, value, "a string", other)),
        }
    }

    fn texts(&self, key: &str, value: &Item<'_>) -> Result<Vec<String>, PolicyError> {
        match value.get_ref() {
            DeValue::String(text) => Ok(vec![text.to_string()]),
            // If an empty list meant "any", the rule would allow more than intended.
            DeValue::Array(items) if items.is_empty() => {
                Err(self.error(value.span().start, Some(key), "is empty; leave it out to mean any"))
            }
            DeValue::Array(items) => items.iter().map(|item| self.string(key, item)).collect(),
            other => Err(self.wrong(key, value, "a string or a list of strings", other)),
        }
    }

    fn boolean(&self, key: &str, value: &Item<'_>) -> Result<bool, PolicyError> {
        match value.get_ref() {
            DeValue::Boolean(it) => Ok(*it),
            other => Err(self.wrong(key, value, "true or false", other)),
        }
    }

    fn priority(&self, key: &str, value: &Item<'_>) -> Result<u16, PolicyError> {
        let number = match value.get_ref() {
            DeValue::Integer(number) => u16::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        number
            .filter(|number| *number <= 999)
            .ok_or_else(|| self.error(value.span().start, Some(key), "must be a whole number from 0 to 999"))
    }

    fn decision(&self, key: &str, value: &Item<'_>) -> Result<PolicyDecision, PolicyError> {
        let name = self.string(key, value)?;
        [PolicyDecision::Allow, PolicyDecision::Ask, PolicyDecision::Deny]
            .into_iter()
            .find(|it| it.name() == name)
            .ok_or_else(|| {
                self.error(
                    value.span().start,
                    Some(key),
                    &format!("{name:?} must be one of allow, ask_user, deny"),
                )
            })
    }

    fn level(&self, key: &str, value: &Item<'_>) -> Result<AccessLevel, PolicyError> {
        let name = self.string(key, value)?;
        AccessLevel::from_name(&name).ok_or_else(|| {
            let message = format!("{name:?} must be one of look, work, open");
            self.error(value.span().start, Some(key), &message)
        })
    }

    fn modes(&self, key: &str, value: &Item<'_>) -> Result<Vec<PolicyMode>, PolicyError> {
        let mode = |name: String| {
            PolicyMode::from_name(&name).ok_or_else(|| {
                let message = format!("{name:?} must be one of plan, default, auto_edit, confined, yolo");
                self.error(value.span().start, Some(key), &message)
            })
        };
        self.texts(key, value)?.into_iter().map(mode).collect()
    }

    fn pattern(&self, key: &str, value: &Item<'_>) -> Result<regex::Regex, PolicyError> {
        let text = self.string(key, value)?;
        RegexBuilder::new(&text).size_limit(MAX_PATTERN_BYTES).build().map_err(|error| {
            let why = error.to_string();
            let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            self.error(value.span().start, Some(key), &format!("{text:?} is no regular expression: {why}"))
        })
    }

    fn shape(&self, key: &str, value: &Item<'_>) -> Result<CommandShape, PolicyError> {
        const EXPECTED: &str = "a table with line, or with words, options, fixed and inside";
        let DeValue::Table(table) = value.get_ref() else {
            return Err(self.wrong(key, value, EXPECTED, value.get_ref()));
        };
        let (mut line, mut like) = (None, CommandPattern::default());
        for (name, item) in table {
            match name.get_ref().as_ref() {
                "line" => line = Some(self.texts(key, item)?),
                "words" => like.words = self.texts(key, item)?,
                "options" => like.options = self.texts(key, item)?,
                "fixed" => like.fixed = self.texts(key, item)?,
                "inside" => like.inside = self.boolean(key, item)?,
                other => {
                    let message = format!("has {other}, which is unknown; it must be {EXPECTED}");
                    return Err(self.error(name.span().start, Some(key), &message));
                }
            }
        }
        like.options.sort();
        like.options.dedup();
        match line {
            Some(line) if like == CommandPattern::default() => Ok(CommandShape::Line(line)),
            None if !like.words.is_empty() => Ok(CommandShape::Like(like)),
            _ => Err(self.error(value.span().start, Some(key), &format!("must be {EXPECTED}"))),
        }
    }

    fn annotations(&self, key: &str, value: &Item<'_>) -> Result<Map<String, Value>, PolicyError> {
        let DeValue::Table(table) = value.get_ref() else {
            return Err(self.wrong(key, value, "a table such as { readOnlyHint = true }", value.get_ref()));
        };
        let mut annotations = Map::new();
        for (name, item) in table {
            let value = match item.get_ref() {
                DeValue::Boolean(it) => Value::Bool(*it),
                DeValue::String(text) => Value::String(text.to_string()),
                other => return Err(self.wrong(key, item, "a table of strings, true and false", other)),
            };
            annotations.insert(name.get_ref().to_string(), value);
        }
        Ok(annotations)
    }

    fn wrong(&self, key: &str, value: &Item<'_>, wanted: &str, found: &DeValue<'_>) -> PolicyError {
        let message = format!("must be {wanted}, not {} {}", article(found), found.type_str());
        self.error(value.span().start, Some(key), &message)
    }

    fn error(&self, at: usize, key: Option<&str>, message: &str) -> PolicyError {
        PolicyError {
            file: self.file.to_owned(),
            line: self.line(at),
            key: key.map(str::to_owned),
            message: message.to_owned(),
        }
    }

    fn line(&self, at: usize) -> usize {
        self.text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
    }
}

fn access(rule: &mut PolicyRule) -> &mut Access {
    rule.access.get_or_insert_with(|| Access::new(AccessLevel::Work))
}

fn article(value: &DeValue<'_>) -> &'static str {
    if value.type_str().starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}
