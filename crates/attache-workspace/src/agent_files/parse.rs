//! Reads the definitions out of an agent file.

use std::path::Path;

use attache_document::{Node, NodeKind, ParseError};
use attache_tool::is_tool_name;
use serde_json::Value;

use super::auth;
use super::definition::{AgentDefinition, AgentKind, AgentScope, CardDefinition, LocalAgent, RemoteAgent};
use super::fields::{Fields, Problem};
use super::front_matter::{self, LINES_BEFORE};
use super::{tool_names, unquoted_commands, web_address};

/// As in Gemini CLI.
const DEFAULT_MAX_TURNS: u64 = 30;
const DEFAULT_TIMEOUT_MINUTES: u64 = 10;

/// Names are part of messages, tables and settings.
const MAX_NAME: usize = 64;

const MAX_AGENTS_IN_FILE: usize = 64;

const NO_FRONT_MATTER: &str = "it must begin with YAML front matter: a line of three dashes, the definition, and another line of \
     three dashes, for example `---`, `kind: remote`, `name: my-agent`, `agent_card_url: https://…`, `---`";

/// Why a file defines no agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ParseFailure {
    /// A line and a message.
    Unreadable(u32, String),
    /// What the file tries to define, and what is wrong with it.
    Invalid(&'static str, Vec<Problem>),
}

/// All definitions of a file, or everything that is wrong with it. Lines count in the file.
pub(super) fn parse(
    text: &str,
    path: &Path,
    scope: AgentScope,
) -> Result<Vec<AgentDefinition>, ParseFailure> {
    let Some(found) = front_matter::split(text) else {
        return Err(ParseFailure::Unreadable(1, NO_FRONT_MATTER.to_owned()));
    };
    let tree = read_yaml(found.yaml)?;
    let mut problems = Vec::new();
    let (what, agents) = match &tree.kind {
        NodeKind::List(items) => ("Remote Agents List", read_list(items, &mut problems)),
        _ => ("Agent Definition", read_one(&tree, found.body, &mut problems).into_iter().collect()),
    };
    if !problems.is_empty() {
        problems.iter_mut().for_each(|problem| problem.line += LINES_BEFORE);
        problems.sort_by_key(|problem| problem.line);
        return Err(ParseFailure::Invalid(what, problems));
    }
    let place = |(line, mut agent): (u32, AgentDefinition)| {
        agent.line = line + LINES_BEFORE;
        agent.path = path.to_owned();
        agent.scope = scope;
        agent
    };
    Ok(agents.into_iter().map(place).collect())
}

/// Values that begin with `!` may stand without quotes.
fn read_yaml(yaml: &str) -> Result<Node, ParseFailure> {
    let failed = |error: ParseError| {
        let ParseError { line, message } = error;
        let hint = match message.starts_with("unsupported tag") {
            true => "; a text that begins with ! stands in quotes",
            false => "",
        };
        let message = format!("its front matter is not YAML: {message}{hint}");
        ParseFailure::Unreadable(line + LINES_BEFORE, message)
    };
    Node::from_yaml(yaml).or_else(|error| match unquoted_commands::quoted(yaml) {
        Some(quoted) => Node::from_yaml(&quoted).map_err(failed),
        None => Err(failed(error)),
    })
}

type LocatedDefinition = (u32, AgentDefinition);

fn read_one(node: &Node, body: &str, problems: &mut Vec<Problem>) -> Option<LocatedDefinition> {
    let NodeKind::Table(entries) = &node.kind else {
        let text = format!("(Agent) the front matter must be a table or a list, not {}", node.describe());
        problems.push(Problem { line: node.line.max(1), text });
        return None;
    };
    let agent = if is_meant_remote(entries) {
        remote(Fields::new("Remote Agent", String::new(), 1, entries, problems))
    } else {
        local(Fields::new("Local Agent", String::new(), 1, entries, problems), body)
    };
    Some((1, agent?))
}

fn read_list(items: &[Node], problems: &mut Vec<Problem>) -> Vec<LocatedDefinition> {
    let mut refuse = |line, text| problems.push(Problem { line, text });
    if items.is_empty() {
        refuse(1, "(Remote Agent) the list must define at least one agent".to_owned());
    }
    if items.len() > MAX_AGENTS_IN_FILE {
        refuse(1, format!("(Remote Agent) the list must define at most {MAX_AGENTS_IN_FILE} agents"));
        return Vec::new();
    }
    let mut agents: Vec<LocatedDefinition> = Vec::new();
    for (place, node) in items.iter().enumerate() {
        let NodeKind::Table(entries) = &node.kind else {
            let text = format!("(Remote Agent) {place}: must be a table, not {}", node.describe());
            problems.push(Problem { line: node.line, text });
            continue;
        };
        let mut fields = Fields::new("Remote Agent", format!("{place}."), node.line, entries, problems);
        if !is_meant_remote(entries) {
            fields.require("kind", "must be remote: a list holds remote agents only");
            continue;
        }
        let Some(agent) = remote(fields) else { continue };
        if agents.iter().any(|(_, known)| known.name == agent.name) {
            let text = format!("(Remote Agent) {place}.name: {} is defined twice in this file", agent.name);
            problems.push(Problem { line: node.line, text });
        }
        agents.push((node.line, agent));
    }
    agents
}

/// By what its author says, else by the fields that only remote agents have.
fn is_meant_remote(entries: &[(String, Node)]) -> bool {
    let entry = |name: &str| entries.iter().find(|(known, _)| known == name).map(|(_, node)| &node.kind);
    match entry("kind") {
        Some(NodeKind::Text(kind)) if kind == "remote" => true,
        Some(NodeKind::Text(kind)) if kind == "local" => false,
        _ => ["agent_card_url", "agent_card_json", "auth"].iter().any(|name| entry(name).is_some()),
    }
}

fn remote(mut fields: Fields<'_>) -> Option<AgentDefinition> {
    let common = CommonFields::read(&mut fields);
    let card = card(&mut fields);
    let auth = fields.table("auth").map(auth::parse);
    let allowed_origins = allowed_origins(&mut fields);
    fields.finish();
    let CommonFields { name, display_name, description } = common?;
    // An authentication that is wrong was reported.
    let auth = match auth {
        Some(auth) => Some(auth?),
        None => None,
    };
    let kind = AgentKind::Remote(Box::new(RemoteAgent { card: card?, auth, allowed_origins }));
    Some(definition(name, display_name, description, kind))
}

fn card(fields: &mut Fields<'_>) -> Option<CardDefinition> {
    let (has_url, has_json) = (fields.has("agent_card_url"), fields.has("agent_card_json"));
    let (url, json) = (fields.text("agent_card_url"), fields.text("agent_card_json"));
    if has_url && has_json {
        fields.require("agent_card_url", "and agent_card_json exclude each other");
        return None;
    }
    if let Some((url, line)) = url {
        match web_address::parse(url) {
            Ok(_) => return Some(CardDefinition::Url(url.to_owned())),
            Err(what) => fields.refuse(line, "agent_card_url", what),
        }
        return None;
    }
    if let Some((json, line)) = json {
        match serde_json::from_str::<Value>(json) {
            Ok(card @ Value::Object(_)) => return Some(CardDefinition::Inline(card)),
            Ok(_) => fields.refuse(line, "agent_card_json", "must be a JSON object"),
            Err(error) => fields.refuse(line, "agent_card_json", format!("must be valid JSON: {error}")),
        }
        return None;
    }
    if !has_url && !has_json {
        fields.require("agent_card_url", "is required, or agent_card_json with the card itself");
    }
    None
}

/// A field of attache. Gemini CLI refuses files that have it.
fn allowed_origins(fields: &mut Fields<'_>) -> Vec<String> {
    let Some((texts, line)) = fields.texts("allowed_origins") else { return Vec::new() };
    let origins: Option<Vec<String>> = texts.iter().map(|text| web_address::parse_origin(text)).collect();
    if origins.is_none() {
        let what = "must be a list of origins such as https://other.example:8443, without a path";
        fields.refuse(line, "allowed_origins", what);
    }
    origins.unwrap_or_default()
}

fn local(mut fields: Fields<'_>, body: &str) -> Option<AgentDefinition> {
    let common = CommonFields::read(&mut fields);
    if !fields.has("description") {
        fields.require("description", "is required");
    }
    let tools = fields.texts("tools");
    if let Some((tools, line)) = &tools
        && let Some(wrong) = tools.iter().find(|tool| !tool_names::is_valid(tool))
    {
        fields.refuse(*line, "tools", format!("Invalid tool name {wrong:?}"));
    }
    // Gemini CLI's documents have one name, its loader the other.
    let name = if fields.has("mcpServers") { "mcpServers" } else { "mcp_servers" };
    let mcp_servers = fields.table(name).map(|servers| servers.names_of_tables(MCP_SERVER_FIELDS));
    let mcp_servers = mcp_servers.unwrap_or_default();
    let agent = LocalAgent {
        tools: tools.map(|(tools, _)| tools),
        mcp_servers,
        model: fields.owned_text("model"),
        temperature: fields.number("temperature"),
        max_turns: fields.count("max_turns").unwrap_or(DEFAULT_MAX_TURNS),
        timeout_minutes: fields.count("timeout_mins").unwrap_or(DEFAULT_TIMEOUT_MINUTES),
        instructions: body.trim().to_owned(),
    };
    fields.finish();
    let CommonFields { name, display_name, description } = common?;
    Some(definition(name, display_name, description, AgentKind::Local(agent)))
}

/// What the loader of Gemini CLI takes, and the spellings of its settings.
const MCP_SERVER_FIELDS: &[&str] = &[
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "http_url",
    "httpUrl",
    "headers",
    "tcp",
    "type",
    "timeout",
    "trust",
    "description",
    "include_tools",
    "includeTools",
    "exclude_tools",
    "excludeTools",
    "auth",
];

/// What every agent has.
struct CommonFields {
    name: String,
    display_name: Option<String>,
    description: Option<String>,
}

impl CommonFields {
    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        if let Some((kind, line)) = fields.text("kind")
            && !["remote", "local"].contains(&kind)
        {
            fields.refuse(line, "kind", "must be remote or local");
        }
        let name = fields.required_text("name");
        let display_name = fields.owned_text("display_name");
        let description = fields.owned_text("description");
        let (name, line) = name?;
        if !is_slug(name) {
            let what = format!(
                "must be a valid slug: at most {MAX_NAME} lower-case letters, digits, dashes and underscores"
            );
            fields.refuse(line, "name", what);
        }
        // Rules name agents and tools alike.
        if is_tool_name(name) {
            fields.refuse(line, "name", format!("must not be the name of a tool, as {name} is"));
        }
        Some(Self { name: name.to_owned(), display_name, description })
    }
}

fn is_slug(name: &str) -> bool {
    let is_plain = |letter: char| matches!(letter, 'a'..='z' | '0'..='9' | '-' | '_');
    name.len() <= MAX_NAME && !name.is_empty() && name.chars().all(is_plain)
}

/// The caller adds where it stands.
fn definition(
    name: String,
    display_name: Option<String>,
    description: Option<String>,
    kind: AgentKind,
) -> AgentDefinition {
    let (scope, path, line) = (AgentScope::User, Default::default(), 0);
    AgentDefinition { name, display_name, description, kind, scope, path, line, tls: None, signatures: None }
}
