//! `agents`: lists and manages the agents that can be given tasks.

use std::sync::Arc;

use async_trait::async_trait;
use attache_domain::CommandArgument;
use serde_json::{Map, json};

use crate::listing::described;
use crate::outcome::text_of;
use crate::{
    AgentDirectory, AgentEntry, AgentList, CONFIGURE_AGENT, Command, CommandContext, CommandError,
    CommandRequest, CommandStep, SwitchRefusal, ToolUse, spec,
};

pub(crate) struct Agents;
struct List;
struct Reload;
struct Show;
struct Test;
struct Auth;
struct Reset;
struct Switch {
    enable: bool,
}

#[async_trait]
impl Command for Agents {
    fn name(&self) -> &str {
        "agents"
    }

    fn description(&self) -> &str {
        "Lists the agents that tasks can be given to; the same as `/agents list`."
    }

    fn sub_commands(&self) -> Vec<Arc<dyn Command>> {
        vec![
            Arc::new(List),
            Arc::new(Reload),
            Arc::new(Switch { enable: true }),
            Arc::new(Switch { enable: false }),
            Arc::new(Show),
            Arc::new(Test),
            Arc::new(Auth),
            Arc::new(Reset),
        ]
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        Ok(list(directory(request.context)?.list().await))
    }
}

#[async_trait]
impl Command for List {
    fn name(&self) -> &str {
        "list"
    }

    fn other_names(&self) -> &[&str] {
        &["ls"]
    }

    fn description(&self) -> &str {
        "Lists local and remote agents with their state."
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        Ok(list(directory(request.context)?.list().await))
    }
}

#[async_trait]
impl Command for Reload {
    fn name(&self) -> &str {
        "reload"
    }

    fn other_names(&self) -> &[&str] {
        &["refresh"]
    }

    fn description(&self) -> &str {
        "Reads the agent files and the cards again."
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        let directory = directory(request.context)?;
        request.context.progress("Reading the agent files again.").await;
        let reload = directory.reload().await.map_err(failed)?;
        Ok(CommandStep::done(reload.text(), json!({ "reload": reload })))
    }
}

#[async_trait]
impl Command for Switch {
    fn name(&self) -> &str {
        if self.enable { "enable" } else { "disable" }
    }

    fn description(&self) -> &str {
        if self.enable {
            "Lets an agent be used again, in the settings files that switch it off."
        } else {
            "Switches an agent off, in the project's settings."
        }
    }

    fn arguments(&self) -> Vec<CommandArgument> {
        agent_name()
    }

    fn check(&self, arguments: &str) -> Result<(), CommandError> {
        check(self.name(), arguments)
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        let (name, enabled) = (request.arguments.trim(), self.enable);
        let Some(results) = request.results.first() else {
            return match directory(request.context)?.refuses_switch(name, enabled).await {
                None => Ok(configure(name, enabled)),
                Some(SwitchRefusal::Already(text)) => {
                    Ok(CommandStep::done(text, json!({ "name": name, "enabled": enabled, "changed": false })))
                }
                Some(SwitchRefusal::Refused(what)) => Err(CommandError::Failed { what }),
            };
        };
        let [result] = results.as_slice() else {
            let what = format!("`{CONFIGURE_AGENT}` was used once, and {} results came of it", results.len());
            return Err(CommandError::Failed { what });
        };
        let (changed, message) = (!result.failed, text_of(result));
        let text = if changed { message.clone() } else { format!("Nothing was changed: {message}") };
        let data = json!({ "name": name, "enabled": enabled, "changed": changed, "message": message });
        Ok(CommandStep::done(text, data))
    }
}

#[async_trait]
impl Command for Show {
    fn name(&self) -> &str {
        "show"
    }

    fn description(&self) -> &str {
        "Shows all that is known about an agent."
    }

    fn arguments(&self) -> Vec<CommandArgument> {
        agent_name()
    }

    fn check(&self, arguments: &str) -> Result<(), CommandError> {
        check("show", arguments)
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        let name = request.arguments.trim();
        let directory = directory(request.context)?;
        let list = directory.list().await;
        let Some(entry) = list.entries.iter().find(|entry| entry.name == name) else {
            let why = directory.check(name).await.err();
            return Err(failed(why.unwrap_or_else(|| not_found(name))));
        };
        Ok(CommandStep::done(page(entry), json!({ "agent": entry })))
    }
}

#[async_trait]
impl Command for Test {
    fn name(&self) -> &str {
        "test"
    }

    fn description(&self) -> &str {
        "Asks an agent for its card, and says whether it can be used."
    }

    fn arguments(&self) -> Vec<CommandArgument> {
        agent_name()
    }

    fn check(&self, arguments: &str) -> Result<(), CommandError> {
        check("test", arguments)
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        let name = request.arguments.trim();
        let directory = directory(request.context)?;
        request.context.progress(&format!("Asking {name} for its card.")).await;
        let entry = directory.test(name).await.map_err(failed)?;
        Ok(CommandStep::done(page(&entry), json!({ "agent": entry })))
    }
}

#[async_trait]
impl Command for Auth {
    fn name(&self) -> &str {
        "auth"
    }

    fn description(&self) -> &str {
        "Signs in to an agent."
    }

    fn arguments(&self) -> Vec<CommandArgument> {
        agent_name()
    }

    fn check(&self, arguments: &str) -> Result<(), CommandError> {
        check("auth", arguments)
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        let name = request.arguments.trim();
        let text = directory(request.context)?.sign_in(name).await.map_err(failed)?;
        Ok(CommandStep::done(text.clone(), json!({ "name": name, "message": text })))
    }
}

#[async_trait]
impl Command for Reset {
    fn name(&self) -> &str {
        "reset"
    }

    fn description(&self) -> &str {
        "Forgets this conversation's exchange with an agent, so that the next call begins anew."
    }

    fn arguments(&self) -> Vec<CommandArgument> {
        agent_name()
    }

    fn check(&self, arguments: &str) -> Result<(), CommandError> {
        check("reset", arguments)
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        let name = request.arguments.trim();
        directory(request.context)?.check(name).await.map_err(failed)?;
        Ok(CommandStep::ForgetAgent(name.to_owned()))
    }
}

fn directory(context: &dyn CommandContext) -> Result<Arc<dyn AgentDirectory>, CommandError> {
    let none = || CommandError::Failed { what: "there are no agents in this conversation".into() };
    context.workspace_info().agents().ok_or_else(none)
}

fn failed(what: String) -> CommandError {
    CommandError::Failed { what }
}

fn not_found(name: &str) -> String {
    format!("Agent \"{name}\" not found.")
}

fn agent_name() -> Vec<CommandArgument> {
    vec![spec::argument("agent_name", "the name of the agent", true)]
}

fn check(command: &str, arguments: &str) -> Result<(), CommandError> {
    let is_plain = |letter: char| matches!(letter, 'a'..='z' | '0'..='9' | '-' | '_');
    if !arguments.trim().is_empty() && arguments.trim().chars().all(is_plain) {
        return Ok(());
    }
    let what = format!(
        "an agent's name is one word of lower-case letters, digits, dashes and underscores; usage: /agents {command} \
         <agent_name>"
    );
    Err(CommandError::BadArguments { what })
}

fn configure(name: &str, enabled: bool) -> CommandStep {
    let input = Map::from_iter([("name".to_owned(), json!(name)), ("enabled".to_owned(), json!(enabled))]);
    CommandStep::UseTools(vec![ToolUse { tool: CONFIGURE_AGENT.into(), input }])
}

fn list(list: AgentList) -> CommandStep {
    let AgentList { entries, errors, notices } = list;
    let mut paragraphs = Vec::new();
    let lines: Vec<String> = entries.iter().map(line).collect();
    if lines.is_empty() {
        paragraphs.push("There are no agents.".to_owned());
    } else {
        paragraphs.push(format!("Agents:\n\n{}", lines.join("\n")));
    }
    if !errors.is_empty() {
        let lines: Vec<String> =
            errors.iter().map(|error| format!("- {}", error.replace('\n', "\n  "))).collect();
        paragraphs.push(format!("Errors:\n\n{}", lines.join("\n")));
    }
    paragraphs.extend(notices.iter().cloned());
    let data = json!({ "agents": entries, "errors": errors, "notices": notices });
    CommandStep::done(paragraphs.join("\n\n"), data)
}

/// Name, kind, state and what it is for.
fn line(entry: &AgentEntry) -> String {
    let mut state = vec![entry.kind.name().to_owned(), entry.status.clone()];
    state.extend(entry.latency_ms.map(|latency| format!("{latency} ms")));
    state.extend(entry.auth.as_ref().map(|auth| format!("auth {auth}")));
    let name = match &entry.display_name {
        Some(display) => format!("{} ({display})", entry.name),
        None => entry.name.clone(),
    };
    let line = described(&name, entry.description.as_deref().unwrap_or_default());
    let error =
        entry.error.as_ref().map(|error| format!("\n  {}", error.replace('\n', " "))).unwrap_or_default();
    format!("- {line} [{}]{error}", state.join(", "))
}

fn page(entry: &AgentEntry) -> String {
    let latency = entry.latency_ms.map(|latency| format!("{latency} ms"));
    let rows = [
        ("kind", Some(entry.kind.name().to_owned())),
        ("display name", entry.display_name.clone()),
        ("description", entry.description.clone()),
        ("state", Some(entry.status.clone())),
        ("error", entry.error.clone()),
        ("latency", latency),
        ("address", entry.url.clone()),
        ("authentication", entry.auth.clone()),
        ("defined by", Some(entry.source.clone())),
        ("file", entry.file.clone()),
    ];
    let rows = rows.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let rows = rows.chain(entry.details.iter().cloned());
    let lines: Vec<String> = rows.map(|(name, value)| format!("- {}", described(&name, &value))).collect();
    format!("{}:\n\n{}", entry.name, lines.join("\n"))
}
