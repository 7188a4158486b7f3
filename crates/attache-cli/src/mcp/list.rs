//! `attache mcp list`: connects to every server and shows the result.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use attache_config::{Environment, Flags, Settings};
use attache_workspace::{
    AgentFlags, ChosenBy, HttpKind, McpServerSettings, McpTransport, Project, ProjectQuery, ServerState,
    ServerStatus, WorkspaceSettings, visible,
};
use serde_json::{Value, json};

use super::arguments::{ListArguments, ScopeFlag};
use super::{SettingsFolders, print_line};
use crate::standard_streams::tell;

/// Connects to the servers of the settings in a folder, and ends what was started.
pub type ProbeServers<'a> =
    &'a dyn Fn(&Settings, &WorkspaceSettings, &Path) -> anyhow::Result<Vec<ServerStatus>>;

pub(super) fn run(
    places: &SettingsFolders,
    arguments: &ListArguments,
    environment: Environment<'_>,
    probe: ProbeServers<'_>,
) -> anyhow::Result<ExitCode> {
    let operator = attache_workspace::load_operator(Flags::default(), environment, &places.current_dir)?;
    let folder = places.current_dir.canonicalize().context("cannot find the current folder")?;
    let flags = AgentFlags::default();
    let found = Project::read(ProjectQuery {
        folder: &folder,
        chosen_by: ChosenBy::Operator,
        flags: &flags,
        environment,
        operator: &operator,
    })?;
    let settings = &found.settings;
    for warning in &settings.warnings {
        tell(format_args!("warning: {}", visible(warning)));
    }
    let project = folder.join(".gemini");
    let probed = probe(&operator, settings, &folder)?;
    let line = |(name, server): (&String, &McpServerSettings)| {
        let of_project = server.origin.file().is_some_and(|file| file.starts_with(&project));
        let scope = if of_project && !places.is_home() { ScopeFlag::Project } else { ScopeFlag::User };
        ServerLine::of(name, server, scope, &probed)
    };
    let lines: Vec<ServerLine> = settings.mcp_servers.iter().map(line).collect();
    let code = if lines.iter().all(ServerLine::is_good) { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    if arguments.json {
        let all: Vec<Value> = lines.iter().map(ServerLine::json).collect();
        return print_line(&serde_json::to_string_pretty(&all)?).map(|()| code);
    }
    let mut text = lines.iter().map(ServerLine::text).collect::<Vec<_>>().join("\n");
    if lines.is_empty() {
        text = "No MCP servers are used here. `attache mcp add` adds one.".into();
    }
    if let Some(notice) = found.notice() {
        text.push_str(&format!("\n{notice}"));
    }
    print_line(&text).map(|()| code)
}

/// One server, for people or programs.
struct ServerLine {
    name: String,
    scope: &'static str,
    location: String,
    state: &'static str,
    why: Option<String>,
    tools: Vec<String>,
    notes: Vec<String>,
}

impl ServerLine {
    fn of(name: &str, server: &McpServerSettings, scope: ScopeFlag, probed: &[ServerStatus]) -> Self {
        let scope = match scope {
            ScopeFlag::User => "user",
            ScopeFlag::Project => "project",
        };
        let (name, location) = (name.to_owned(), location(&server.transport));
        let probed = probed.iter().find(|probed| probed.name == name);
        let (state, why) = match probed.map(|probed| &probed.state) {
            Some(ServerState::Connected) => ("connected", None),
            Some(ServerState::Failed { why }) => ("failed", Some(why.clone())),
            Some(ServerState::Connecting | ServerState::Unapproved) | None => ("connecting", None),
        };
        let tools = probed.map(|probed| probed.tools.clone()).unwrap_or_default();
        let notes = probed.map(|probed| probed.notes.clone()).unwrap_or_default();
        Self { name, scope, location, state, why, tools, notes }
    }

    /// The server is connected.
    fn is_good(&self) -> bool {
        self.state == "connected"
    }

    fn text(&self) -> String {
        let Self { name, scope, location, state, .. } = self;
        let mut lines = vec![format!("{name}: {state}  ({location}; {scope})")];
        lines.extend(self.why.iter().map(|why| format!("  {}", why.replace('\n', "\n  "))));
        lines.extend(self.tools.iter().map(|tool| format!("  {tool}")));
        lines.extend(self.notes.iter().map(|note| format!("  note: {note}")));
        lines.join("\n").replace(|character: char| character.is_control() && character != '\n', "")
    }

    fn json(&self) -> Value {
        let Self { name, scope, location, state, why, tools, notes } = self;
        json!({
            "name": name, "scope": scope, "place": location, "state": state, "why": why, "tools": tools, "notes": notes,
        })
    }
}

/// Without headers and queries, and with the arguments that hold no key.
fn location(transport: &McpTransport) -> String {
    let url = |url: &str| {
        attache_net::Url::parse(url).map_or_else(
            |_| String::new(),
            |url| format!("{}{}", url.origin().ascii_serialization(), url.path()),
        )
    };
    match transport {
        McpTransport::Stdio { command, arguments, .. } => std::iter::once(format!("stdio {command}"))
            .chain(shown_arguments(arguments))
            .collect::<Vec<_>>()
            .join(" "),
        McpTransport::Http { url: text, kind, .. } => match kind {
            HttpKind::Streamable => format!("http {}", url(text)),
            HttpKind::Events => format!("sse {}", url(text)),
            HttpKind::Unknown => url(text),
        },
    }
}

/// Characters of an argument that are shown.
const MAX_ARGUMENT: usize = 60;

/// Arguments as people read them. The value of one that is named like a secret is hidden.
fn shown_arguments(arguments: &[String]) -> Vec<String> {
    let names_secret = |text: &str| {
        let text = text.to_ascii_uppercase();
        ["KEY", "TOKEN", "SECRET", "PASS", "AUTH", "CREDENTIAL", "BEARER"]
            .iter()
            .any(|part| text.contains(part))
    };
    let mut hides_next = false;
    let mut shown = Vec::new();
    for argument in arguments {
        let hidden = std::mem::take(&mut hides_next) && !argument.starts_with('-');
        shown.push(match argument.split_once(['=', ':']) {
            _ if hidden => HIDDEN.to_owned(),
            Some((name, _)) if names_secret(name) => format!("{name}={HIDDEN}"),
            _ if argument.contains("://") && argument.contains('@') => HIDDEN.to_owned(),
            _ => shortened(argument),
        });
        hides_next = argument.starts_with('-') && !argument.contains('=') && names_secret(argument);
    }
    shown
}

const HIDDEN: &str = "(hidden)";

fn shortened(argument: &str) -> String {
    let line = argument.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = match line.char_indices().nth(MAX_ARGUMENT) {
        Some((location, _)) => format!("{}…", &line[..location]),
        None => line,
    };
    if text.contains(' ') || text.is_empty() { format!("'{text}'") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_shown_and_secrets_are_not() {
        let check = |arguments: &[&str], expected: &str| {
            let arguments: Vec<String> = arguments.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(shown_arguments(&arguments).join(" "), expected);
        };
        check(&["-y", "@scope/server", "."], "-y @scope/server .");
        check(&["--api-key", "s3cret", "--token=s3cret", "x"], "--api-key (hidden) --token=(hidden) x");
        check(&["--header", "Authorization: s3cret"], "--header Authorization=(hidden)");
        check(&["postgres://me:s3cret@host/db", "a b"], "(hidden) 'a b'");
        check(&["-c", &"x".repeat(99)], &format!("-c {}…", "x".repeat(MAX_ARGUMENT)));
    }
}
