//! Builds a server's settings entry from the command line.

use anyhow::{Context, bail};
use attache_config::SettingOrigin;
use attache_workspace::McpServerSettings;
use serde_json::{Map, Value, json};

use super::arguments::{NewServer, Target};

const MAX_NAME_LENGTH: usize = 64;

pub(super) fn check_name(name: &str) -> anyhow::Result<()> {
    let fits = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    if name.is_empty() || name.len() > MAX_NAME_LENGTH || !name.chars().all(fits) || name.starts_with('-') {
        bail!(
            "{name:?} cannot be a server's name; use letters, digits, `-`, `_` and `.`, at most {MAX_NAME_LENGTH}"
        );
    }
    Ok(())
}

pub(super) fn of_arguments(server: NewServer) -> anyhow::Result<Value> {
    let mut entry = Map::new();
    match server.target {
        Target::Program { command, args, env } => {
            entry.insert("command".into(), json!(command));
            if !args.is_empty() {
                entry.insert("args".into(), json!(args));
            }
            let env = pairs(&env, '=', "--env", "NAME=VALUE")?;
            insert_unless_empty(&mut entry, "env", env);
        }
        Target::Address { url, kind, headers } => {
            entry.insert("url".into(), json!(url));
            if let Some(kind) = kind {
                entry.insert("type".into(), json!(kind));
            }
            let headers = pairs(&headers, ':', "--header", "NAME: VALUE")?;
            insert_unless_empty(&mut entry, "headers", headers);
        }
    }
    let mut set = |key: &str, value: Option<Value>| value.and_then(|value| entry.insert(key.into(), value));
    set("timeout", server.timeout.map(|timeout| json!(timeout)));
    set("trust", server.trust.then_some(json!(true)));
    set("includeTools", server.include_tools.map(|tools| json!(tools)));
    set("excludeTools", server.exclude_tools.map(|tools| json!(tools)));
    set("description", server.description.map(|text| json!(text)));
    // Refused now rather than when it is used.
    let entry = Value::Object(entry);
    McpServerSettings::of_json(&server.name, &entry, &SettingOrigin::Flag("mcp add"))?;
    Ok(entry)
}

fn insert_unless_empty(entry: &mut Map<String, Value>, key: &str, pairs: Map<String, Value>) {
    if !pairs.is_empty() {
        entry.insert(key.into(), Value::Object(pairs));
    }
}

/// Never shows a value: it may be a key.
fn pairs(said: &[String], separator: char, option: &str, form: &str) -> anyhow::Result<Map<String, Value>> {
    let mut pairs = Map::new();
    for text in said {
        let (name, value) =
            text.split_once(separator).with_context(|| format!("{option} needs the form {form:?}"))?;
        if name.trim().is_empty() {
            bail!("{option} needs the form {form:?}");
        }
        pairs.insert(name.trim().to_owned(), json!(value.trim()));
    }
    Ok(pairs)
}
