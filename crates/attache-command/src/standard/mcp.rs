//! `mcp`: lists the MCP servers, their status and their tools.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::listing::{count, described};
use crate::{Command, CommandContext, CommandError, CommandRequest, CommandStep, ServerEntry, ToolEntry};

pub(crate) struct Mcp;
struct List;
struct Descriptions;

#[async_trait]
impl Command for Mcp {
    fn name(&self) -> &str {
        "mcp"
    }

    fn description(&self) -> &str {
        "Lists the MCP servers and their tools; the same as `/mcp list`."
    }

    fn sub_commands(&self) -> Vec<Arc<dyn Command>> {
        vec![Arc::new(List), Arc::new(Descriptions)]
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        Ok(servers(request.context, named))
    }
}

#[async_trait]
impl Command for List {
    fn name(&self) -> &str {
        "list"
    }

    fn other_names(&self) -> &[&str] {
        &["ls", "nodesc"]
    }

    fn description(&self) -> &str {
        "Lists the MCP servers with their state and the names of their tools."
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        Ok(servers(request.context, named))
    }
}

#[async_trait]
impl Command for Descriptions {
    fn name(&self) -> &str {
        "desc"
    }

    fn other_names(&self) -> &[&str] {
        &["descriptions"]
    }

    fn description(&self) -> &str {
        "Lists the MCP servers with their state and what their tools do."
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        Ok(servers(request.context, described))
    }
}

fn named(name: &str, _description: &str) -> String {
    name.to_owned()
}

fn servers(context: &dyn CommandContext, line: fn(&str, &str) -> String) -> CommandStep {
    let (servers, tools) = (context.workspace_info().servers(), context.tools());
    if servers.is_empty() {
        return CommandStep::done("There are no MCP servers.", json!({ "servers": [] }));
    }
    let paragraphs: Vec<String> = servers.iter().map(|server| paragraph(server, &tools, line)).collect();
    let data: Vec<Value> = servers.iter().map(|server| data(server, &tools)).collect();
    CommandStep::done(format!("MCP servers:\n\n{}", paragraphs.join("\n")), json!({ "servers": data }))
}

fn paragraph(server: &ServerEntry, tools: &[ToolEntry], line: fn(&str, &str) -> String) -> String {
    let ServerEntry { name, status, tools: names } = server;
    let mut lines = vec![format!("- {name}: {status}, {}", count(names.len(), "tool"))];
    let describe = |tool: &String| format!("  - {}", line(tool, description(server, tool, tools)));
    lines.extend(names.iter().map(describe));
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
