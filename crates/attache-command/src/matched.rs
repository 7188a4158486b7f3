//! A matched command with its arguments.

use std::fmt;
use std::sync::Arc;

use attache_domain::{CommandCall, ToolResult};

use crate::{Command, CommandContext, CommandError, CommandRequest, CommandStep, usage};

#[derive(Clone)]
pub struct MatchedCommand {
    pub command: Arc<dyn Command>,
    /// With its exact path and arguments, independent of the notation that was used.
    pub call: CommandCall,
}

impl MatchedCommand {
    /// May it be given like this? A refusal says how it is given.
    pub fn check(&self) -> Result<(), CommandError> {
        let arguments = self.command.arguments();
        let given = self.call.arguments.split_whitespace().count();
        let mut required = arguments.iter().filter(|argument| argument.required);
        if let Some(missing) = required.nth(given) {
            let (name, description) = (&missing.name, &missing.description);
            return Err(self.refused(&format!("`{name}` is missing ({description})")));
        }
        if arguments.is_empty() && given > 0 {
            return Err(self.refused("it takes no arguments"));
        }
        self.command.check(&self.call.arguments)
    }

    /// The next step, given the results of the tools that it used so far.
    pub async fn run(
        &self,
        results: &[Vec<ToolResult>],
        context: &dyn CommandContext,
    ) -> Result<CommandStep, CommandError> {
        let line = self.call.line();
        self.command
            .run(CommandRequest { arguments: &self.call.arguments, line: &line, results, context })
            .await
    }

    /// How it is given, such as `/memory add <text>`.
    pub fn usage(&self) -> String {
        usage(&self.call.path, &self.command.arguments())
    }

    fn refused(&self, why: &str) -> CommandError {
        CommandError::BadArguments { what: format!("{why}; usage: {}", self.usage()) }
    }
}

impl fmt::Debug for MatchedCommand {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("MatchedCommand").field("call", &self.call).finish_non_exhaustive()
    }
}
