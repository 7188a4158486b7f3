//! `compress`: summarises the conversation so far.

use async_trait::async_trait;

use crate::{Command, CommandError, CommandRequest, CommandStep};

pub(crate) struct Compress;

#[async_trait]
impl Command for Compress {
    fn name(&self) -> &str {
        "compress"
    }

    fn other_names(&self) -> &[&str] {
        &["summarize", "compact"]
    }

    fn description(&self) -> &str {
        "Replaces the conversation so far with a summary, to make room in the model's window."
    }

    async fn run(&self, _request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        Ok(CommandStep::Compress)
    }
}
