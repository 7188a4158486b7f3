//! `extensions`: lists the extensions.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;

use crate::listing::list;
use crate::{Command, CommandContext, CommandError, CommandRequest, CommandStep, ExtensionEntry};

pub(crate) struct Extensions;
struct List;

#[async_trait]
impl Command for Extensions {
    fn name(&self) -> &str {
        "extensions"
    }

    fn description(&self) -> &str {
        "Lists the extensions; the same as `/extensions list`."
    }

    fn sub_commands(&self) -> Vec<Arc<dyn Command>> {
        vec![Arc::new(List)]
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        Ok(extensions(request.context))
    }
}

#[async_trait]
impl Command for List {
    fn name(&self) -> &str {
        "list"
    }

    fn description(&self) -> &str {
        "Lists the extensions with their versions."
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        Ok(extensions(request.context))
    }
}

/// One answer for every command that lists them.
pub(crate) fn extensions(context: &dyn CommandContext) -> CommandStep {
    let extensions = context.workspace_info().extensions();
    let items: Vec<String> = extensions.iter().map(line).collect();
    let text = list("Extensions", &items, "There are no extensions.");
    CommandStep::done(text, json!({ "extensions": extensions }))
}

fn line(ExtensionEntry { name, version, enabled }: &ExtensionEntry) -> String {
    format!("{name} {version}{}", if *enabled { "" } else { " (disabled)" })
}
