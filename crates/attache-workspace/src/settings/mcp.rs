//! The MCP servers of the agent.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use attache_config::{ConfigError, SecretText, SettingOrigin};
use attache_document::{Node, NodeKind};
use attache_domain::AccessLevel;
use attache_domain::default_limits::DEFAULT_MCP_CALL_TIMEOUT;
use serde_json::{Value, json};

use super::nearest::{nearest, shown};

const MAX_CALL_TIMEOUT_MS: i64 = 24 * 3600 * 1000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServerSettings {
    pub transport: McpTransport,
    /// The timeout of one call.
    pub timeout: Duration,
    /// Whether its tools run without approval. Never in a folder that is not trusted.
    pub trust: bool,
    /// Only these tools; empty: all.
    pub include_tools: Option<Vec<String>>,
    /// Not these tools.
    pub exclude_tools: Vec<String>,
    pub description: Option<String>,
    /// The access of the started program: look, work or open.
    pub confinement: AccessLevel,
    pub origin: SettingOrigin,
}

/// The transport of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpTransport {
    Stdio {
        command: String,
        arguments: Vec<String>,
        /// Variables in addition to those of other programs of the agent.
        environment: BTreeMap<String, SecretText>,
        folder: Option<PathBuf>,
    },
    Http {
        url: String,
        headers: BTreeMap<String, SecretText>,
        kind: HttpKind,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpKind {
    /// Streamable HTTP, or the legacy transport if the server refuses it.
    Unknown,
    Streamable,
    Events,
}

const KNOWN: &[&str] = &[
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "httpUrl",
    "type",
    "headers",
    "timeout",
    "trust",
    "includeTools",
    "excludeTools",
    "description",
    "confinement",
];

const UNUSED: &[&str] =
    &["tcp", "oauth", "authProviderType", "targetAudience", "targetServiceAccount", "extension"];

/// Line, key, and the expected value.
type ServerMistake = (u32, String, String);

pub(crate) fn read(
    name: &str,
    node: &Node,
    origin: SettingOrigin,
    warnings: &mut Vec<String>,
) -> Result<McpServerSettings, ServerMistake> {
    let path = format!("mcpServers.{}", shown(name));
    let wrong = |message: String| (node.line, path.clone(), message);
    if !is_name(name) {
        return Err(wrong("a server's name has 1 to 64 letters, digits, dots, dashes or underscores".into()));
    }
    let NodeKind::Table(entries) = &node.kind else {
        return Err(wrong(format!("must be a table, not {}", node.describe())));
    };
    for (key, node) in entries {
        if !KNOWN.contains(&key.as_str()) && !UNUSED.contains(&key.as_str()) {
            let near = nearest(key, KNOWN.iter().copied()).map(|near| format!("; did you mean {near}?"));
            let place =
                origin.file().map_or_else(String::new, |file| format!("{}:{}: ", file.display(), node.line));
            warnings.push(format!("{place}unknown key {path}.{}{}", shown(key), near.unwrap_or_default()));
        }
    }
    let fields = Fields { path: &path, entries };
    Ok(McpServerSettings {
        transport: transport(&fields)
            .transpose()
            .unwrap_or_else(|| Err(wrong("needs a command, a url or an httpUrl".into())))?,
        timeout: fields
            .whole("timeout", 1, MAX_CALL_TIMEOUT_MS)?
            .map_or(DEFAULT_MCP_CALL_TIMEOUT, Duration::from_millis),
        trust: fields.bool("trust")?.unwrap_or(false),
        include_tools: fields.texts("includeTools")?,
        exclude_tools: fields.texts("excludeTools")?.unwrap_or_default(),
        description: fields.text("description")?,
        confinement: level(&fields)?,
        origin,
    })
}

/// Programs are unconfined by default, because most of them need the network.
fn level(fields: &Fields<'_>) -> Result<AccessLevel, ServerMistake> {
    let Some(name) = fields.text("confinement")? else { return Ok(AccessLevel::Open) };
    AccessLevel::from_name(&name)
        .ok_or_else(|| fields.wrong("confinement", "must be look, work or open".into()))
}

/// `httpUrl` has precedence over `url`, and `url` over `command`.
fn transport(fields: &Fields<'_>) -> Result<Option<McpTransport>, ServerMistake> {
    let headers = || fields.hidden("headers");
    let kind = match fields.text("type")?.as_deref() {
        None | Some("stdio") => HttpKind::Unknown,
        Some("http") => HttpKind::Streamable,
        Some("sse") => HttpKind::Events,
        Some(_) => return Err(fields.wrong("type", "must be http, sse or stdio".into())),
    };
    for (key, kind) in [("httpUrl", HttpKind::Streamable), ("url", kind)] {
        if let Some(url) = fields.text(key)? {
            if !(url.starts_with("http://") || url.starts_with("https://")) {
                return Err(fields.wrong(key, "must begin with http:// or https://".into()));
            }
            return Ok(Some(McpTransport::Http { url, headers: headers()?, kind }));
        }
    }
    let Some(command) = fields.text("command")? else { return Ok(None) };
    Ok(Some(McpTransport::Stdio {
        command,
        arguments: fields.texts("args")?.unwrap_or_default(),
        environment: fields.hidden("env")?,
        folder: fields.text("cwd")?.map(PathBuf::from),
    }))
}

impl McpServerSettings {
    /// A server setting as JSON.
    pub fn of_json(name: &str, settings: &Value, origin: &SettingOrigin) -> Result<Self, ConfigError> {
        let wrong = |key: String, message: String| ConfigError::BadSetting {
            place: origin.to_string(),
            key: Some(key),
            message,
        };
        let path = || format!("mcpServers.{}", shown(name));
        let node = Node::from_json(&settings.to_string()).map_err(|error| wrong(path(), error.message))?;
        let server = read(name, &node, origin.clone(), &mut Vec::new());
        server.map_err(|(_, key, message)| wrong(key, message))
    }

    /// A server that a client names for its task, as JSON. It is reached over HTTP and never trusted, and starts no
    /// program on this machine.
    pub fn requested(name: &str, settings: &Value) -> Result<Self, ConfigError> {
        let server = Self::of_json(name, settings, &SettingOrigin::Client)?;
        let wrong = |message: String| ConfigError::BadSetting {
            place: SettingOrigin::Client.to_string(),
            key: Some(format!("mcpServers.{}", shown(name))),
            message,
        };
        match server.transport {
            McpTransport::Http { .. } => Ok(Self { trust: false, ..server }),
            McpTransport::Stdio { .. } => Err(wrong(
                "must be reached by a url or an httpUrl; commands are for the server's own settings".into(),
            )),
        }
    }

    /// Its description for people: names of headers and variables, never their values.
    pub(crate) fn to_json(&self) -> Value {
        let names = |values: &BTreeMap<String, SecretText>| {
            values.keys().map(|name| (name.clone(), json!("(hidden)"))).collect::<serde_json::Map<_, _>>()
        };
        let mut shown = match &self.transport {
            McpTransport::Stdio { command, arguments, environment, folder } => {
                json!({"command": command, "args": arguments, "env": names(environment), "cwd": folder})
            }
            McpTransport::Http { url, headers, kind } => {
                let kind = match kind {
                    HttpKind::Unknown => Value::Null,
                    HttpKind::Streamable => json!("http"),
                    HttpKind::Events => json!("sse"),
                };
                json!({"url": bare(url), "type": kind, "headers": names(headers)})
            }
        };
        let rest = json!({
            "timeout": u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX),
            "trust": self.trust,
            "includeTools": self.include_tools,
            "excludeTools": self.exclude_tools,
            "description": self.description,
            "confinement": (self.confinement != AccessLevel::Open).then(|| self.confinement.name()),
        });
        if let (Value::Object(shown), Value::Object(rest)) = (&mut shown, rest) {
            shown.extend(rest);
            let empty = |value: &Value| match value {
                Value::Null => true,
                Value::Array(items) => items.is_empty(),
                Value::Object(entries) => entries.is_empty(),
                _ => false,
            };
            shown.retain(|_, value| !empty(value));
        }
        shown
    }
}

/// A query may contain a key, and the part before the host a password.
fn bare(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
            let host = host.rsplit('@').next().unwrap_or_default();
            format!("{scheme}://{host}/{path}")
        }
        None => url.to_owned(),
    }
}

pub(crate) fn is_name(name: &str) -> bool {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    (1..=64).contains(&name.len()) && name.chars().all(fits)
}

struct Fields<'a> {
    path: &'a str,
    entries: &'a [(String, Node)],
}

impl Fields<'_> {
    fn get(&self, key: &str) -> Option<&Node> {
        let found = self.entries.iter().find(|(name, node)| name == key && node.kind != NodeKind::Null);
        found.map(|(_, node)| node)
    }

    fn wrong(&self, key: &str, message: String) -> ServerMistake {
        (self.get(key).map_or(0, |node| node.line), format!("{}.{key}", self.path), message)
    }

    fn unlike(&self, key: &str, expected: &str, node: &Node) -> ServerMistake {
        self.wrong(key, format!("must be {expected}, not {}", node.describe()))
    }

    fn text(&self, key: &str) -> Result<Option<String>, ServerMistake> {
        match self.get(key) {
            None => Ok(None),
            Some(Node { kind: NodeKind::Text(text), .. }) if !text.is_empty() => Ok(Some(text.clone())),
            Some(node) => Err(self.unlike(key, "a text that is not empty", node)),
        }
    }

    fn bool(&self, key: &str) -> Result<Option<bool>, ServerMistake> {
        match self.get(key) {
            None => Ok(None),
            Some(Node { kind: NodeKind::Bool(value), .. }) => Ok(Some(*value)),
            Some(node) => Err(self.unlike(key, "true or false", node)),
        }
    }

    fn whole(&self, key: &str, least: i64, most: i64) -> Result<Option<u64>, ServerMistake> {
        let Some(node) = self.get(key) else { return Ok(None) };
        let number = match &node.kind {
            NodeKind::Number(number) => number.as_i64().filter(|number| (least..=most).contains(number)),
            _ => None,
        };
        let number = number.and_then(|number| u64::try_from(number).ok());
        let expected = format!("a whole number from {least} to {most}");
        number.map(Some).ok_or_else(|| self.unlike(key, &expected, node))
    }

    fn texts(&self, key: &str) -> Result<Option<Vec<String>>, ServerMistake> {
        let Some(node) = self.get(key) else { return Ok(None) };
        let NodeKind::List(nodes) = &node.kind else { return Err(self.unlike(key, "a list of texts", node)) };
        let text = |node: &Node| match &node.kind {
            NodeKind::Text(text) => Ok(text.clone()),
            _ => Err(self.wrong(key, format!("must be a list of texts, and {} is in it", node.describe()))),
        };
        nodes.iter().map(text).collect::<Result<_, _>>().map(Some)
    }

    fn hidden(&self, key: &str) -> Result<BTreeMap<String, SecretText>, ServerMistake> {
        let Some(node) = self.get(key) else { return Ok(BTreeMap::new()) };
        let NodeKind::Table(entries) = &node.kind else {
            return Err(self.unlike(key, "a table of texts", node));
        };
        let entry = |(name, node): &(String, Node)| match &node.kind {
            NodeKind::Text(text) => Ok((name.clone(), SecretText::new(text))),
            _ => Err((
                node.line,
                format!("{}.{key}.{}", self.path, shown(name)),
                format!("must be a text, not {}", node.describe()),
            )),
        };
        entries.iter().map(entry).collect()
    }
}
