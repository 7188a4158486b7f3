//! `attache mcp list`: connects to every server and shows what came of it.

use std::collections::BTreeMap;

use anyhow::Context;
use attache_config::Flags;
use attache_tool_mcp::{ConnectContext, McpServers, ServerOptions, ServerState, ServerStatus, Transport};
use serde_json::{Value, json};

use super::arguments::{ListArguments, Scope};
use super::{Places, entry, say};

type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

pub(super) fn run(
    places: &Places,
    arguments: &ListArguments,
    environment: Environment<'_>,
) -> anyhow::Result<()> {
    let configured = configured(places, environment)?;
    let settings = attache_config::load(Flags::default(), environment, &places.current_dir)?;
    let context = ConnectContext::new(&places.current_dir, settings.child_environment);
    let good = configured.iter().filter_map(|server| server.options.as_ref().ok().cloned()).collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let statuses = runtime.block_on(statuses(good, context));
    let lines: Vec<Line> = configured.into_iter().map(|server| Line::of(server, &statuses)).collect();
    if arguments.json {
        let all: Vec<Value> = lines.iter().map(Line::json).collect();
        return say(&serde_json::to_string_pretty(&all)?);
    }
    if lines.is_empty() {
        return say("No MCP servers are configured. `attache mcp add` adds one.");
    }
    say(&lines.iter().map(Line::text).collect::<Vec<_>>().join("\n"))
}

/// Connects, looks, and ends what was started, also when it is interrupted.
async fn statuses(options: Vec<ServerOptions>, context: ConnectContext) -> Vec<ServerStatus> {
    let servers = McpServers::start(options, context);
    tokio::select! {
        () = servers.settled() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
    let statuses = servers.statuses();
    servers.close().await;
    statuses
}

struct Configured {
    name: String,
    scope: Scope,
    options: anyhow::Result<ServerOptions>,
}

/// Those of both files; the project's replace the user's of the same name.
fn configured(places: &Places, environment: Environment<'_>) -> anyhow::Result<Vec<Configured>> {
    let mut all = BTreeMap::new();
    let user = places.home.is_some().then_some(Scope::User);
    let project = (!places.is_home()).then_some(Scope::Project);
    for scope in user.into_iter().chain(project) {
        let file = places.file(scope)?;
        let document = file.read()?;
        let servers = document.servers().with_context(|| format!("cannot use {}", file.path().display()))?;
        for (name, entry) in servers.into_iter().flatten() {
            let options = entry::to_options(name, entry, environment);
            all.insert(name.clone(), Configured { name: name.clone(), scope, options });
        }
    }
    Ok(all.into_values().collect())
}

/// One server, for people or programs.
struct Line {
    name: String,
    scope: &'static str,
    place: String,
    state: &'static str,
    why: Option<String>,
    tools: Vec<String>,
    notes: Vec<String>,
}

impl Line {
    fn of(server: Configured, statuses: &[ServerStatus]) -> Self {
        let Configured { name, scope, options } = server;
        let scope = match scope {
            Scope::User => "user",
            Scope::Project => "project",
        };
        let place = options.as_ref().map(|options| place(&options.transport)).unwrap_or_default();
        let status = statuses.iter().find(|status| status.name == name).cloned();
        let (state, why) = match (status.as_ref().map(|status| &status.state), &options) {
            (_, Err(error)) => ("failed", Some(format!("its settings are wrong: {error}"))),
            (Some(ServerState::Connected), _) => ("connected", None),
            (Some(ServerState::Failed { why }), _) => ("failed", Some(why.clone())),
            (Some(ServerState::Connecting) | None, _) => ("connecting", None),
        };
        let (tools, notes) = status.map(|status| (status.tools, status.notes)).unwrap_or_default();
        Self { name, scope, place, state, why, tools, notes }
    }

    fn text(&self) -> String {
        let Self { name, scope, place, state, .. } = self;
        let mut lines = vec![format!("{name}: {state}  ({place}; {scope})")];
        lines.extend(self.why.iter().map(|why| format!("  {}", why.replace('\n', "\n  "))));
        lines.extend(self.tools.iter().map(|tool| format!("  {tool}")));
        lines.extend(self.notes.iter().map(|note| format!("  note: {note}")));
        lines.join("\n").replace(|character: char| character.is_control() && character != '\n', "")
    }

    fn json(&self) -> Value {
        let Self { name, scope, place, state, why, tools, notes } = self;
        json!({
            "name": name, "scope": scope, "place": place, "state": state, "why": why, "tools": tools, "notes": notes,
        })
    }
}

/// Without arguments, headers and queries: they may hold keys.
fn place(transport: &Transport) -> String {
    let url = |url: &str| {
        attache_net::Url::parse(url).map_or_else(
            |_| String::new(),
            |url| format!("{}{}", url.origin().ascii_serialization(), url.path()),
        )
    };
    match transport {
        Transport::Stdio { command, .. } => format!("stdio {command}"),
        Transport::Http { url: text, .. } => format!("http {}", url(text)),
        Transport::Sse { url: text, .. } => format!("sse {}", url(text)),
        Transport::Detect { url: text, .. } => url(text),
    }
}
