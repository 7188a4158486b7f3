//! `model`: shows or changes the model.

use std::sync::Arc;

use async_trait::async_trait;
use attache_domain::CommandArgument;
use serde_json::json;

use crate::listing::list;
use crate::{Command, CommandContext, CommandError, CommandRequest, CommandStep, spec};

const MAX_NAME: usize = 200;

pub(crate) struct Model;
struct List;
struct Set;

#[async_trait]
impl Command for Model {
    fn name(&self) -> &str {
        "model"
    }

    fn description(&self) -> &str {
        "Shows the model that answers and those to choose from; with a name, chooses that one."
    }

    fn arguments(&self) -> Vec<CommandArgument> {
        vec![spec::argument("name", "the model that is to answer from now on", false)]
    }

    fn sub_commands(&self) -> Vec<Arc<dyn Command>> {
        vec![Arc::new(List), Arc::new(Set)]
    }

    fn check(&self, arguments: &str) -> Result<(), CommandError> {
        if arguments.trim().is_empty() { Ok(()) } else { check(arguments) }
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        match request.arguments.trim() {
            "" => Ok(models(request.context)),
            name => choose(name, request.context),
        }
    }
}

// Without it, `/model list` would choose a model called "list".
#[async_trait]
impl Command for List {
    fn name(&self) -> &str {
        "list"
    }

    fn other_names(&self) -> &[&str] {
        &["show", "manage"]
    }

    fn description(&self) -> &str {
        "Shows the model that answers and those to choose from."
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        Ok(models(request.context))
    }
}

#[async_trait]
impl Command for Set {
    fn name(&self) -> &str {
        "set"
    }

    fn description(&self) -> &str {
        "Chooses the model that answers in this conversation from now on."
    }

    fn arguments(&self) -> Vec<CommandArgument> {
        vec![spec::argument("name", "the model's name", true)]
    }

    fn check(&self, arguments: &str) -> Result<(), CommandError> {
        check(arguments)
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        choose(request.arguments.trim(), request.context)
    }
}

fn check(arguments: &str) -> Result<(), CommandError> {
    let name = arguments.trim();
    let wrong = if name.starts_with('-') {
        "options are not known here, the choice is for this conversation"
    } else if name.split_whitespace().count() != 1 || name.chars().any(char::is_control) {
        "a model's name is one word"
    } else if name.chars().count() > MAX_NAME {
        "a model's name is shorter"
    } else {
        return Ok(());
    };
    Err(CommandError::BadArguments { what: format!("{wrong}; usage: /model set <name>") })
}

fn choose(name: &str, context: &dyn CommandContext) -> Result<CommandStep, CommandError> {
    check(name)?;
    if name == context.model() {
        let data = json!({ "model": name, "models": context.workspace_info().models() });
        return Ok(CommandStep::done(format!("The model is {name} already."), data));
    }
    Ok(CommandStep::ChooseModel(name.to_owned()))
}

fn models(context: &dyn CommandContext) -> CommandStep {
    let (model, models) = (context.model(), context.workspace_info().models());
    let none = "Choose another with /model set <name>.";
    let choice = list("To choose from, with /model set <name>", &models, none);
    CommandStep::done(format!("Model: {model}\n\n{choice}"), json!({ "model": model, "models": models }))
}
