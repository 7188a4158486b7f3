//! A server's entry in the settings: from what was said on the command line, and to what connects.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use attache_net::Secret;
use attache_tool_mcp::{DEFAULT_TIMEOUT, ServerOptions, Transport};
use serde_json::{Map, Value, json};

use super::arguments::{NewServer, Target};

const LONGEST_NAME: usize = 64;

pub(super) fn check_name(name: &str) -> anyhow::Result<()> {
    let fits = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(fits) || name.starts_with('-') {
        bail!(
            "{name:?} cannot be a server's name; use letters, digits, `-`, `_` and `.`, at most {LONGEST_NAME}"
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
    to_options(&server.name, &entry, &|_| None)?;
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

/// What connects to a server with this entry. `$NAME` and `${NAME}` stand for variables of the environment.
pub(super) fn to_options(
    name: &str,
    entry: &Value,
    environment: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<ServerOptions> {
    let entry = entry.as_object().context("its entry is not an object")?;
    let text = |key: &str| match entry.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(expand(text, environment))),
        Some(_) => bail!("`{key}` is not a text"),
    };
    let texts = |key: &str| match entry.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(all)) if all.iter().all(Value::is_string) => Ok(Some(
            all.iter().filter_map(Value::as_str).map(|text| expand(text, environment)).collect::<Vec<_>>(),
        )),
        Some(_) => bail!("`{key}` is not a list of texts"),
    };
    let hidden = |key: &str| match entry.get(key) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Object(all)) => {
            all.iter().map(|(name, value)| secret(key, name, value, environment)).collect()
        }
        Some(_) => bail!("`{key}` is not an object"),
    };
    let (headers, url) = (hidden("headers")?, text("url")?);
    let transport = match (text("httpUrl")?, url, text("command")?, text("type")?.as_deref()) {
        (Some(url), ..) | (None, Some(url), _, Some("http")) => Transport::Http { url, headers },
        (None, Some(url), _, Some("sse")) => Transport::Sse { url, headers },
        (None, Some(url), _, None) => Transport::Detect { url, headers },
        (None, Some(_), _, Some(other)) => bail!("`type` is {other:?}; it can be \"http\" or \"sse\""),
        (None, None, Some(command), _) => Transport::Stdio {
            command,
            args: texts("args")?.unwrap_or_default(),
            env: hidden("env")?,
            directory: text("cwd")?.map(PathBuf::from),
        },
        (None, None, None, _) => bail!("it has neither `command` nor `url`"),
    };
    Ok(ServerOptions {
        name: name.to_owned(),
        transport,
        timeout: match entry.get("timeout") {
            None | Some(Value::Null) => DEFAULT_TIMEOUT,
            Some(value) => {
                let milliseconds = value
                    .as_u64()
                    .filter(|time| *time > 0)
                    .context("`timeout` is not a number of milliseconds")?;
                Duration::from_millis(milliseconds)
            }
        },
        trust: entry.get("trust") == Some(&Value::Bool(true)),
        include: texts("includeTools")?,
        exclude: texts("excludeTools")?.unwrap_or_default(),
        description: text("description")?,
    })
}

fn secret(
    key: &str,
    name: &str,
    value: &Value,
    environment: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<(String, Secret)> {
    let value = match value {
        Value::String(text) => expand(text, environment),
        Value::Number(_) | Value::Bool(_) => value.to_string(),
        _ => bail!("`{key}.{name}` is not a text"),
    };
    Ok((name.to_owned(), Secret::new(value)))
}

/// What is not set stays as it is written.
fn expand(text: &str, environment: &dyn Fn(&str) -> Option<String>) -> String {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some(dollar) = rest.find('$') {
        let (before, after) = (&rest[..dollar], &rest[dollar + 1..]);
        expanded.push_str(before);
        let braced = after.strip_prefix('{').and_then(|inside| inside.split_once('}'));
        let (name, following) = braced.unwrap_or_else(|| {
            let part = |character: char| character.is_ascii_alphanumeric() || character == '_';
            after.split_at(after.find(|character| !part(character)).unwrap_or(after.len()))
        });
        match environment(name).filter(|_| !name.is_empty()) {
            Some(value) => {
                expanded.push_str(&value);
                rest = following;
            }
            None => {
                expanded.push('$');
                rest = after;
            }
        }
    }
    expanded + rest
}

#[cfg(test)]
#[path = "entry_tests.rs"]
mod tests;
