//! `tools`: lists the model's tools.

use serde_json::json;

use super::list_command::{Detail, ListCommand};
use crate::listing::{described, list};
use crate::{CommandContext, CommandStep, ToolEntry};

pub(crate) const TOOLS: ListCommand = ListCommand {
    name: "tools",
    text: "Lists the tools that the model can use; the same as `/tools list`.",
    list_text: "Lists the names of the tools.",
    descriptions_text: "Lists the tools with what they do.",
    show: tools,
};

fn tools(context: &dyn CommandContext, detail: Detail) -> CommandStep {
    let tools = context.tools();
    let line = |tool: &ToolEntry| match detail {
        Detail::Names => named(tool),
        Detail::Descriptions => described(&named(tool), &tool.description),
    };
    let items: Vec<String> = tools.iter().map(line).collect();
    CommandStep::done(list("Tools", &items, "There are no tools."), json!({ "tools": tools }))
}

fn named(ToolEntry { name, server, .. }: &ToolEntry) -> String {
    match server {
        Some(server) => format!("{name} (of the MCP server {server})"),
        None => name.clone(),
    }
}
