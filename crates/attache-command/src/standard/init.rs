//! `init`: has the model describe the project in a context file.

use std::fs;

use async_trait::async_trait;
use serde_json::json;

use crate::{Command, CommandContext, CommandError, CommandRequest, CommandStep};

const FILE: &str = "GEMINI.md";

/// A tool writes the file, so the usual rules and approvals apply.
const PROMPT: &str = "\
Get to know the project in this workspace, and write what you find down for the agents that will work on it: with the tool \
write_file, into the file GEMINI.md at the top of the workspace.

Look before you write:

1. List the top folder, and read what introduces the project, such as a README.
2. From there pick the files that tell the most: manifests and lock files, build and CI configuration, entry points, tests, \
and one or two typical source files. Ten to fifteen are enough; go where the last one leads you.
3. If there is no code, find out what the folder holds instead and what it is used for.

Then write GEMINI.md in Markdown, short enough to be read in full before every task:

- What the project is and what it is for, in a few sentences.
- How it is laid out: the main parts, and what belongs where.
- The commands to build, run, test, format and check it. Only such as you have found written down; say so where one is a guess.
- The habits of the code that a newcomer would get wrong: structure, naming, errors, tests, what is not done here.
- For a folder without code: its contents, how they hang together, and how they are used.

Write nothing that is true of any project, and no secret that you come across. When the file is written, tell me in a few \
lines what is in it and what you could not find out.";

pub(crate) struct Init;

#[async_trait]
impl Command for Init {
    fn name(&self) -> &str {
        "init"
    }

    fn description(&self) -> &str {
        "Has the model look at the project and write a GEMINI.md for it; one that is there is left alone."
    }

    fn is_followed(&self) -> bool {
        true
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        if is_there(request.context).await {
            let text = format!(
                "There is a {FILE} already, and nothing was changed. Take it away, or empty it, to have a new one written."
            );
            return Ok(CommandStep::done(text, json!({ "file": FILE, "changed": false })));
        }
        request.context.progress("Looking at the project.").await;
        Ok(CommandStep::Prompt(PROMPT.into()))
    }
}

/// A file that cannot be read counts as present.
async fn is_there(context: &dyn CommandContext) -> bool {
    match context.read_file(FILE).await {
        Ok(text) => !text.trim().is_empty(),
        Err(_) => {
            fs::symlink_metadata(context.workspace().join(FILE)).is_ok_and(|metadata| metadata.len() > 0)
        }
    }
}
