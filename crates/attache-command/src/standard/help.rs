//! `help`: lists the commands, and explains one.

use async_trait::async_trait;
use attache_domain::{CommandArgument, CommandSpec};
use serde_json::{Value, json};

use crate::unknown::{unknown, unknown_below};
use crate::{Command, CommandError, CommandRequest, CommandStep, spec, usage};

/// Holds the commands of the registry that made it.
pub(crate) struct Help {
    specs: Vec<CommandSpec>,
}

impl Help {
    pub(crate) const NAME: &str = "help";
    pub(crate) const OTHER_NAMES: &[&str] = &["?"];
    pub(crate) const DESCRIPTION: &str = "Lists the commands, or shows how one of them is given.";

    pub(crate) fn of(specs: Vec<CommandSpec>) -> Self {
        Self { specs }
    }

    /// The command that the words name, with its path; none for no words.
    fn look_up(&self, words: &str) -> Result<Option<(Vec<String>, &CommandSpec)>, CommandError> {
        let mut path: Vec<String> = Vec::new();
        let mut found: Option<&CommandSpec> = None;
        for word in words.trim_start().trim_start_matches('/').split_whitespace() {
            let below = found.map_or(&self.specs, |spec| &spec.sub_commands);
            let Some(spec) = below.iter().find(|spec| spec.name == word) else {
                let names: Vec<&str> = below.iter().map(|spec| spec.name.as_str()).collect();
                return Err(match found {
                    Some(_) => unknown_below(&path, word, &names),
                    None => unknown(word, &names),
                });
            };
            path.push(spec.name.clone());
            found = Some(spec);
        }
        Ok(found.map(|spec| (path, spec)))
    }
}

#[async_trait]
impl Command for Help {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn other_names(&self) -> &[&str] {
        Self::OTHER_NAMES
    }

    fn description(&self) -> &str {
        Self::DESCRIPTION
    }

    fn arguments(&self) -> Vec<CommandArgument> {
        vec![spec::argument("command", "the command to show, such as `memory add`", false)]
    }

    fn check(&self, arguments: &str) -> Result<(), CommandError> {
        self.look_up(arguments).map(|_| ())
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        Ok(match self.look_up(request.arguments)? {
            Some((path, spec)) => {
                CommandStep::done(page(&path, spec), json!({ "commands": [data(&path, spec)] }))
            }
            None => {
                let lines: Vec<String> = self.specs.iter().map(|spec| line(&[], spec)).collect();
                let text =
                    format!("Commands:\n\n{}\n\n`/help <command>` shows how one is given.", lines.join("\n"));
                let commands: Vec<Value> =
                    self.specs.iter().map(|spec| data(&under(&[], spec), spec)).collect();
                CommandStep::done(text, json!({ "commands": commands }))
            }
        })
    }
}

fn under(path: &[String], spec: &CommandSpec) -> Vec<String> {
    path.iter().chain([&spec.name]).cloned().collect()
}

fn line(path: &[String], spec: &CommandSpec) -> String {
    format!("- `{}`: {}", usage(&under(path, spec), &spec.arguments), spec.description)
}

fn page(path: &[String], spec: &CommandSpec) -> String {
    let mut paragraphs = vec![format!("`{}`", usage(path, &spec.arguments)), spec.description.clone()];
    let arguments: Vec<String> = spec.arguments.iter().map(argument).collect();
    let below: Vec<String> = spec.sub_commands.iter().map(|sub| line(path, sub)).collect();
    paragraphs
        .extend([arguments, below].iter().filter(|lines| !lines.is_empty()).map(|lines| lines.join("\n")));
    paragraphs.join("\n\n")
}

fn argument(CommandArgument { name, description, required }: &CommandArgument) -> String {
    format!("- {name}: {description}{}", if *required { "" } else { "; may be left out" })
}

fn data(path: &[String], spec: &CommandSpec) -> Value {
    let argument = |argument: &CommandArgument| {
        json!({
            "name": argument.name,
            "description": argument.description,
            "required": argument.required,
        })
    };
    let arguments: Vec<Value> = spec.arguments.iter().map(argument).collect();
    let below: Vec<Value> = spec.sub_commands.iter().map(|sub| data(&under(path, sub), sub)).collect();
    json!({
        "name": spec.name,
        "usage": usage(path, &spec.arguments),
        "description": spec.description,
        "arguments": arguments,
        "subCommands": below,
    })
}
