//! `memory`: shows and extends the context files.

use std::sync::Arc;

use async_trait::async_trait;
use attache_domain::CommandArgument;
use serde_json::{Map, json};

use crate::listing::{count, list};
use crate::outcome::text_of;
use crate::{Command, CommandContext, CommandError, CommandRequest, CommandStep, MemoryFile, ToolUse, spec};

const TOOL: &str = "save_memory";

pub(crate) struct Memory;
struct Show;
struct Add;
struct Refresh;
struct List;

#[async_trait]
impl Command for Memory {
    fn name(&self) -> &str {
        "memory"
    }

    fn description(&self) -> &str {
        "Shows the instructions that the model is given; the same as `/memory show`."
    }

    fn sub_commands(&self) -> Vec<Arc<dyn Command>> {
        vec![Arc::new(Show), Arc::new(Add), Arc::new(Refresh), Arc::new(List)]
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        Ok(show(request.context).await)
    }
}

#[async_trait]
impl Command for Show {
    fn name(&self) -> &str {
        "show"
    }

    fn description(&self) -> &str {
        "Shows the instructions from context files as the model is given them."
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        Ok(show(request.context).await)
    }
}

#[async_trait]
impl Command for Add {
    fn name(&self) -> &str {
        "add"
    }

    fn description(&self) -> &str {
        "Remembers a fact for this and later conversations."
    }

    fn arguments(&self) -> Vec<CommandArgument> {
        vec![spec::argument("text", "the fact to remember", true)]
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        let fact = request.arguments.trim();
        let Some(results) = request.results.first() else {
            let input = Map::from_iter([("fact".to_owned(), json!(fact))]);
            return Ok(CommandStep::UseTools(vec![ToolUse { tool: TOOL.into(), input }]));
        };
        let [result] = results.as_slice() else {
            let what = format!("`{TOOL}` was used once, and {} results came of it", results.len());
            return Err(CommandError::Failed { what });
        };
        let (saved, message) = (!result.failed, text_of(result));
        let text =
            if saved { format!("Remembered: {fact}") } else { format!("Nothing was remembered: {message}") };
        Ok(CommandStep::done(text, json!({ "fact": fact, "saved": saved, "message": message })))
    }
}

#[async_trait]
impl Command for Refresh {
    fn name(&self) -> &str {
        "refresh"
    }

    fn other_names(&self) -> &[&str] {
        &["reload"]
    }

    fn description(&self) -> &str {
        "Reads the context files again; the model is told what they say now."
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        request.context.progress("Reading the context files again.").await;
        let memory = request.context.refresh_memory().await;
        let (files, bytes) = (memory.files, memory.text.len());
        let text = if files.is_empty() {
            "There are no context files.".to_owned()
        } else {
            format!("Read again: {}, {}.", count(files.len(), "file"), count(bytes, "byte"))
        };
        Ok(CommandStep::done(text, json!({ "files": files, "bytes": bytes })))
    }
}

#[async_trait]
impl Command for List {
    fn name(&self) -> &str {
        "list"
    }

    fn description(&self) -> &str {
        "Lists the context files that the instructions come from."
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        let files = request.context.workspace_info().memory().await.files;
        let items: Vec<String> = files.iter().map(line).collect();
        let text = list("Context files", &items, "There are no context files.");
        Ok(CommandStep::done(text, json!({ "files": files })))
    }
}

async fn show(context: &dyn CommandContext) -> CommandStep {
    let crate::LoadedMemory { text, files } = context.workspace_info().memory().await;
    let shown = if text.trim().is_empty() {
        "The memory is empty. `/init` writes a GEMINI.md, `/memory add <text>` remembers a fact.".to_owned()
    } else {
        format!("The memory, from {}:\n\n{}", count(files.len(), "file"), text.trim_end())
    };
    CommandStep::done(shown, json!({ "text": text, "files": files }))
}

fn line(MemoryFile { path, bytes }: &MemoryFile) -> String {
    format!("{} ({})", path.display(), count(*bytes, "byte"))
}
