//! A command that lists things, with the sub-commands `list` (their names) and `desc` (also their descriptions).

use std::sync::Arc;

use async_trait::async_trait;

use crate::{Command, CommandContext, CommandError, CommandRequest, CommandStep};

type Show = fn(&dyn CommandContext, Detail) -> CommandStep;

/// How much is said about each thing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    Names,
    Descriptions,
}

/// The texts are the descriptions of the command and of its sub-commands.
pub(crate) struct ListCommand {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
    pub(crate) list_text: &'static str,
    pub(crate) descriptions_text: &'static str,
    pub(crate) show: Show,
}

struct SubCommand {
    name: &'static str,
    other_names: &'static [&'static str],
    text: &'static str,
    detail: Detail,
    show: Show,
}

#[async_trait]
impl Command for ListCommand {
    fn name(&self) -> &str {
        self.name
    }

    fn description(&self) -> &str {
        self.text
    }

    fn sub_commands(&self) -> Vec<Arc<dyn Command>> {
        let list = SubCommand {
            name: "list",
            other_names: &["ls", "nodesc"],
            text: self.list_text,
            detail: Detail::Names,
            show: self.show,
        };
        let descriptions = SubCommand {
            name: "desc",
            other_names: &["descriptions"],
            text: self.descriptions_text,
            detail: Detail::Descriptions,
            show: self.show,
        };
        vec![Arc::new(list), Arc::new(descriptions)]
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        Ok((self.show)(request.context, Detail::Names))
    }
}

#[async_trait]
impl Command for SubCommand {
    fn name(&self) -> &str {
        self.name
    }

    fn other_names(&self) -> &[&str] {
        self.other_names
    }

    fn description(&self) -> &str {
        self.text
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        Ok((self.show)(request.context, self.detail))
    }
}
