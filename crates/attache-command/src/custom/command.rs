//! Runs a custom command.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use attache_domain::{CommandArgument, ToolResult};
use serde_json::{Map, json};

use super::folder::FoundFile;
use super::template::{Template, TemplatePart};
use crate::outcome::text_of;
use crate::{Command, CommandError, CommandRequest, CommandStep, ToolUse, spec};

const TOOL: &str = "run_shell_command";
/// Bytes of a prompt with all that was put into it.
const MAX_PROMPT: usize = 1024 * 1024;

/// A prompt that people keep in a file.
#[derive(Debug, Clone)]
pub struct CustomCommand {
    name: String,
    description: String,
    template: Template,
    path: PathBuf,
    /// The line of the first place `!{…}`, counted from one.
    first_program: u32,
    extension: Option<String>,
}

impl CustomCommand {
    pub(crate) fn new(
        found: &FoundFile,
        description: String,
        template: Template,
        first_program: u32,
        extension: Option<&str>,
    ) -> Self {
        let (name, path) = (found.name.clone(), found.path.clone());
        Self { name, description, template, path, first_program, extension: extension.map(str::to_owned) }
    }

    /// The lines that it gives to the shell, with `{{args}}` where its arguments go. Empty for a mere prompt.
    pub fn programs(&self) -> Vec<String> {
        self.template.programs()
    }

    /// The line of its file in which the first of them stands, counted from one.
    pub fn first_program_line(&self) -> u32 {
        self.first_program
    }

    /// The file it is kept in.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// With its extension's name before its own, if it is an extension's.
    pub(crate) fn named_apart(self) -> Self {
        match &self.extension {
            Some(extension) => Self { name: format!("{extension}.{}", self.name), ..self },
            None => self,
        }
    }

    async fn prompt(&self, request: &CommandRequest<'_>, results: &[ToolResult]) -> String {
        let arguments = request.arguments.trim();
        let mut results = results.iter();
        let mut prompt = String::new();
        for piece in &self.template.pieces {
            match piece {
                TemplatePart::Text(text) => prompt.push_str(text),
                TemplatePart::Arguments => prompt.push_str(arguments),
                TemplatePart::Command(_) => prompt.push_str(&results.next().map(text_of).unwrap_or_default()),
                TemplatePart::File(path) => match request.context.read_file(path).await {
                    Ok(text) => prompt.push_str(&text),
                    Err(why) => prompt.push_str(&format!("[{path} could not be read: {why}]")),
                },
            }
            if prompt.len() > MAX_PROMPT {
                break;
            }
        }
        if !self.template.places_arguments && !arguments.is_empty() {
            prompt.push_str("\n\n");
            prompt.push_str(request.line);
        }
        prompt
    }
}

#[async_trait]
impl Command for CustomCommand {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn arguments(&self) -> Vec<CommandArgument> {
        let description = if self.template.places_arguments {
            "what the prompt says instead of {{args}}"
        } else {
            "what is added to the prompt"
        };
        vec![spec::argument("arguments", description, false)]
    }

    fn check(&self, arguments: &str) -> Result<(), CommandError> {
        if arguments.contains('\0') {
            let what = "the arguments hold a zero byte, which no command can be given; leave it out".into();
            return Err(CommandError::BadArguments { what });
        }
        Ok(())
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        self.check(request.arguments)?;
        let commands = self.template.commands(request.arguments.trim());
        if !commands.is_empty() && request.results.is_empty() {
            return Ok(CommandStep::UseTools(commands.into_iter().map(tool_use).collect()));
        }
        let results = request.results.first().map_or(&[][..], Vec::as_slice);
        if results.len() != commands.len() {
            let what =
                format!("the file of `/{}` has changed in the meantime; give the command again", self.name);
            return Err(CommandError::Failed { what });
        }
        let prompt = self.prompt(&request, results).await;
        if prompt.len() > MAX_PROMPT {
            let what = format!(
                "the prompt of `/{}` comes to more than {MAX_PROMPT} bytes; let it hold less of files and output",
                self.name
            );
            return Err(CommandError::Failed { what });
        }
        Ok(CommandStep::Prompt(prompt))
    }
}

fn tool_use(command: String) -> ToolUse {
    ToolUse { tool: TOOL.into(), input: Map::from_iter([("command".to_owned(), json!(command))]) }
}
