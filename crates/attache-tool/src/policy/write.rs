//! Writes rules as TOML, for [`read`](super::read).

use serde_json::Value;
use toml::{Table, Value as Toml};

use super::{CommandShape, PolicyRule};

/// Every rule as a `[[rule]]` table, without tier and source, which follow from the file.
pub fn to_toml(rules: &[PolicyRule]) -> String {
    let tables: Vec<Toml> = rules.iter().map(|rule| Toml::Table(table(rule))).collect();
    let mut document = Table::new();
    if !tables.is_empty() {
        document.insert("rule".to_owned(), Toml::Array(tables));
    }
    document.to_string()
}

fn table(rule: &PolicyRule) -> Table {
    let mut table = Table::new();
    let mut add = |key: &str, value: Option<Toml>| {
        if let Some(value) = value {
            table.insert(key.to_owned(), value);
        }
    };
    let text = |text: &String| Toml::String(text.clone());
    add("toolName", list(&rule.tools));
    add("mcpName", rule.server.as_ref().map(text));
    add("subagent", rule.subagent.as_ref().map(text));
    add("agentOrigin", rule.agent_origin.as_ref().map(text));
    add("argsPattern", rule.arguments.as_ref().map(|regex| Toml::String(regex.as_str().to_owned())));
    add("commandPrefix", list(&rule.prefixes));
    add("commandRegex", rule.command.as_ref().map(|regex| Toml::String(regex.as_str().to_owned())));
    add("commandShape", rule.shape.as_ref().map(|shape| Toml::Table(shaped(shape))));
    add("workspace", rule.workspace.as_ref().map(|path| Toml::String(path.display().to_string())));
    add("decision", Some(Toml::String(rule.decision.name().to_owned())));
    add("priority", Some(Toml::Integer(rule.priority.into())));
    let modes: Vec<String> = rule.modes.iter().map(|mode| mode.name().to_owned()).collect();
    add("modes", (!modes.is_empty()).then(|| Toml::Array(modes.into_iter().map(Toml::String).collect())));
    add("interactive", rule.interactive.map(Toml::Boolean));
    add("allowRedirection", rule.redirection.then_some(Toml::Boolean(true)));
    add("denyMessage", rule.deny_message.as_ref().map(text));
    if let Some(access) = &rule.access {
        add("access", Some(Toml::String(access.level.name().to_owned())));
        add("network", list(&access.network));
        let writes: Vec<String> = access.writes.iter().map(|path| path.display().to_string()).collect();
        add("writes", list(&writes));
    }
    let annotations: Table = rule
        .annotations
        .iter()
        .filter_map(|(name, value)| match value {
            Value::Bool(it) => Some((name.clone(), Toml::Boolean(*it))),
            Value::String(it) => Some((name.clone(), Toml::String(it.clone()))),
            _ => None,
        })
        .collect();
    add("toolAnnotations", (!annotations.is_empty()).then_some(Toml::Table(annotations)));
    table
}

fn shaped(shape: &CommandShape) -> Table {
    let mut table = Table::new();
    let mut add = |key: &str, texts: &[String]| {
        if let Some(texts) = list(texts) {
            table.insert(key.to_owned(), texts);
        }
    };
    match shape {
        CommandShape::Line(line) => add("line", line),
        CommandShape::Like(like) => {
            add("words", &like.words);
            add("options", &like.options);
            add("fixed", &like.fixed);
            table.insert("inside".to_owned(), Toml::Boolean(like.inside));
        }
    }
    table
}

/// A single text needs no brackets.
fn list(texts: &[String]) -> Option<Toml> {
    match texts {
        [] => None,
        [text] => Some(Toml::String(text.clone())),
        _ => Some(Toml::Array(texts.iter().cloned().map(Toml::String).collect())),
    }
}
