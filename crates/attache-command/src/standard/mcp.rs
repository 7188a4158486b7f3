//! `mcp`: lists the MCP servers, their status and their tools.

use serde_json::{Value, json};

use super::list_command::{Detail, ListCommand};
use crate::listing::{count, described};
use crate::{CommandContext, CommandStep, ServerEntry, ToolEntry};

pub(crate) const MCP: ListCommand = ListCommand {
    name: "mcp",
    text: "Lists the MCP servers and their tools; the same as `/mcp list`.",
    list_text: "Lists the MCP servers with their state and the names of their tools.",
    descriptions_text: "Lists the MCP servers with their state and what their tools do.",
    show: servers,
};

fn servers(context: &dyn CommandContext, detail: Detail) -> CommandStep {
    let (servers, tools) = (context.workspace_info().servers(), context.tools());
    if servers.is_empty() {
        return CommandStep::done("There are no MCP servers.", json!({ "servers": [] }));
    }
    let paragraphs: Vec<String> = servers.iter().map(|server| paragraph(server, &tools, detail)).collect();
    let data: Vec<Value> = servers.iter().map(|server| data(server, &tools)).collect();
    CommandStep::done(format!("MCP servers:\n\n{}", paragraphs.join("\n")), json!({ "servers": data }))
}

fn paragraph(server: &ServerEntry, tools: &[ToolEntry], detail: Detail) -> String {
    let ServerEntry { name, status, tools: names } = server;
    let mut lines = vec![format!("- {name}: {status}, {}", count(names.len(), "tool"))];
    let line = |tool: &String| match detail {
        Detail::Names => format!("  - {tool}"),
        Detail::Descriptions => format!("  - {}", described(tool, description(server, tool, tools))),
    };
    lines.extend(names.iter().map(line));
    lines.join("\n")
}

fn data(server: &ServerEntry, tools: &[ToolEntry]) -> Value {
    let entry = |tool: &String| json!({ "name": tool, "description": description(server, tool, tools) });
    let entries: Vec<Value> = server.tools.iter().map(entry).collect();
    json!({ "name": server.name, "status": server.status, "tools": entries })
}

/// What is known of a server's tool; nothing when the model is not offered it.
fn description<'a>(server: &ServerEntry, tool: &str, tools: &'a [ToolEntry]) -> &'a str {
    let of_server = |entry: &&ToolEntry| entry.server.as_ref() == Some(&server.name) && entry.name == tool;
    tools.iter().find(of_server).map_or("", |entry| &entry.description)
}
