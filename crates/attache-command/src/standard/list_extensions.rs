//! `list-extensions`: the name that programs know for `extensions list`.

use async_trait::async_trait;

use super::extensions::extensions;
use crate::{Command, CommandError, CommandRequest, CommandStep};

pub(crate) struct ListExtensions;

#[async_trait]
impl Command for ListExtensions {
    fn name(&self) -> &str {
        "list-extensions"
    }

    fn description(&self) -> &str {
        "Lists the extensions with their versions; the same as `/extensions list`."
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        Ok(extensions(request.context))
    }
}
