//! `tools`: lists the model's tools.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;

use crate::listing::{described, list};
use crate::{Command, CommandContext, CommandError, CommandRequest, CommandStep, ToolEntry};

pub(crate) struct Tools;
struct List;
struct Descriptions;

#[async_trait]
impl Command for Tools {
    fn name(&self) -> &str {
        "tools"
    }

    fn description(&self) -> &str {
        "Lists the tools that the model can use; the same as `/tools list`."
    }

    fn sub_commands(&self) -> Vec<Arc<dyn Command>> {
        vec![Arc::new(List), Arc::new(Descriptions)]
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        Ok(tools(request.context, named))
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
        "Lists the names of the tools."
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        Ok(tools(request.context, named))
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
        "Lists the tools with what they do."
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        Ok(tools(request.context, |tool| described(&named(tool), &tool.description)))
    }
}

fn tools(context: &dyn CommandContext, line: impl Fn(&ToolEntry) -> String) -> CommandStep {
    let tools = context.tools();
    let items: Vec<String> = tools.iter().map(line).collect();
    CommandStep::done(list("Tools", &items, "There are no tools."), json!({ "tools": tools }))
}

fn named(ToolEntry { name, server, .. }: &ToolEntry) -> String {
    match server {
        Some(server) => format!("{name} (of the MCP server {server})"),
        None => name.clone(),
    }
}
