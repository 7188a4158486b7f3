//! A command of one's own, added to the built-in ones and given by hand.
//!
//! `cargo run -p attache-command --example own_command`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use attache_command::{
    Command, CommandContext, CommandError, CommandRegistry, CommandRequest, CommandStep, ConversationStats,
    LoadedMemory, NoWorkspaceInfo, ToolEntry, ToolUse, WorkspaceInfo,
};
use attache_domain::{CallId, CommandArgument, Content, ToolResult};
use serde_json::{Map, json};

// The command.

/// `/ticket <number>`: a tool fetches the ticket, then the model is asked to work on it.
struct Ticket;

#[async_trait]
impl Command for Ticket {
    fn name(&self) -> &str {
        "ticket"
    }

    fn description(&self) -> &str {
        "Works on a ticket."
    }

    fn arguments(&self) -> Vec<CommandArgument> {
        vec![CommandArgument {
            name: "number".into(),
            description: "the ticket's number".into(),
            required: true,
        }]
    }

    fn check(&self, arguments: &str) -> Result<(), CommandError> {
        match arguments.trim().parse::<u32>() {
            Ok(_) => Ok(()),
            Err(_) => Err(CommandError::BadArguments {
                what: format!("`{arguments}` is no number; usage: /ticket <number>"),
            }),
        }
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        let number = request.arguments.trim();
        // The first time there are no results: ask for a tool. Rules and people are heard before it runs.
        let Some(results) = request.results.first() else {
            request.context.progress(&format!("Fetching ticket {number}.")).await;
            let prompt = format!("What does https://tickets.example.com/{number} say?");
            let input = Map::from_iter([("prompt".to_owned(), json!(prompt))]);
            return Ok(CommandStep::UseTools(vec![ToolUse { tool: "web_fetch".into(), input }]));
        };
        // The second time they are there.
        let texts: Vec<&str> = results.iter().flat_map(|result| &result.output).filter_map(text).collect();
        if results.iter().any(|result| result.failed) {
            return Err(CommandError::Failed { what: format!("no ticket: {}", texts.join("\n")) });
        }
        Ok(CommandStep::Prompt(format!("Work on this ticket:\n\n{}", texts.join("\n"))))
    }
}

fn text(content: &Content) -> Option<&str> {
    match content {
        Content::Text(text) => Some(text),
        _ => None,
    }
}

// How it is given.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), CommandError> {
    let registry = CommandRegistry::standard().with(Arc::new(Ticket))?;
    for line in ["/tickte 7", "/ticket", "/ticket seven", "/help ticket", "/ticket 7"] {
        println!("> {line}");
        give(&registry, line).await.unwrap_or_else(|error| println!("{error}"));
        println!();
    }
    Ok(())
}

/// What a surface does with a line: find the command, check it, and run it until it asks for no more tools.
async fn give(registry: &CommandRegistry, line: &str) -> Result<(), CommandError> {
    let Some(call) = registry.parse(line) else { return Ok(()) };
    let found = registry.find(&call)?;
    found.check()?;
    let mut results = Vec::new();
    loop {
        let next = found.run(&results, &EmptyContext).await?;
        let CommandStep::UseTools(uses) = next else {
            println!("{next:?}");
            return Ok(());
        };
        println!("tools: {uses:?}");
        results.push(uses.iter().map(pretend).collect());
    }
}

/// In a conversation the agent uses the tools; here nothing is fetched.
fn pretend(tool_use: &ToolUse) -> ToolResult {
    ToolResult {
        call: CallId("1".into()),
        name: tool_use.tool.clone(),
        output: vec![Content::Text("The button is too small.".into())],
        failed: false,
    }
}

/// A context without a conversation.
struct EmptyContext;

#[async_trait]
impl CommandContext for EmptyContext {
    async fn progress(&self, _text: &str) {}

    fn workspace(&self) -> &Path {
        Path::new("")
    }

    fn workspace_info(&self) -> &dyn WorkspaceInfo {
        &NoWorkspaceInfo
    }

    async fn refresh_memory(&self) -> LoadedMemory {
        LoadedMemory::default()
    }

    fn tools(&self) -> Vec<ToolEntry> {
        Vec::new()
    }

    fn model(&self) -> String {
        String::new()
    }

    fn stats(&self) -> ConversationStats {
        ConversationStats::default()
    }

    async fn read_file(&self, _path: &str) -> Result<String, String> {
        Err("there are no files here".into())
    }
}
