//! `about`: the version and the setup of the program.

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::{Command, CommandError, CommandRequest, CommandStep};

pub(crate) struct About;

#[async_trait]
impl Command for About {
    fn name(&self) -> &str {
        "about"
    }

    fn description(&self) -> &str {
        "Shows the version, the model and the workspace."
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        let mut about = request.context.workspace_info().about();
        // Behind the program itself; only the conversation knows which model answers in it.
        about.insert(about.len().min(1), ("model".into(), request.context.model()));
        let lines: Vec<String> = about.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let data: Vec<Value> =
            about.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
        Ok(CommandStep::done(lines.join("\n"), json!({ "about": data })))
    }
}
