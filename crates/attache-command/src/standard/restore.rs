//! `restore`: returns to a checkpoint. There are none so far; clients know the command.

use std::sync::Arc;

use async_trait::async_trait;
use attache_domain::{CommandArgument, terminal_safe};
use serde_json::json;

use crate::{Command, CommandError, CommandRequest, CommandStep, spec};

/// How many characters of an unknown name are shown.
const MAX_NAME: usize = 100;

pub(crate) struct Restore;
struct List;

#[async_trait]
impl Command for Restore {
    fn name(&self) -> &str {
        "restore"
    }

    fn description(&self) -> &str {
        "Restores files to a checkpoint; attache keeps no checkpoints yet."
    }

    fn arguments(&self) -> Vec<CommandArgument> {
        vec![spec::argument("name", "the checkpoint's name", false)]
    }

    fn sub_commands(&self) -> Vec<Arc<dyn Command>> {
        vec![Arc::new(List)]
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        let name: String = request.arguments.trim().chars().take(MAX_NAME).collect();
        let text = match name.as_str() {
            "" => "Please provide a checkpoint name to restore. attache keeps no checkpoints yet.".to_owned(),
            name => format!(
                "Checkpoint not found: {}. attache keeps no checkpoints yet; nothing was changed.",
                terminal_safe(name)
            ),
        };
        Ok(CommandStep::done(text, json!({ "checkpoints": [], "restored": false })))
    }
}

#[async_trait]
impl Command for List {
    fn name(&self) -> &str {
        "list"
    }

    fn description(&self) -> &str {
        "Lists the checkpoints; attache keeps none yet."
    }

    async fn run(&self, _request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        Ok(CommandStep::done(
            "There are no checkpoints: attache keeps none yet.",
            json!({ "checkpoints": [] }),
        ))
    }
}
