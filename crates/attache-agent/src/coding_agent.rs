//! The session's agent: runs one turn with the conversation's model and setup.

use std::sync::Arc;

use async_trait::async_trait;
use attache_command::{CommandError, ServerEntry};
use attache_domain::{
    Artifact, CommandCall, CommandSpec, Fact, Fault, Message, Progress, ReplyShape, RequestedSettings,
    TaskView, TurnOutcome,
};
use attache_session::{
    AbandonedPeers, Agent, AvailableServer, AvailableTool, AvailableTools, CommandRefusal, CurrentTask,
    Journal, OtherTasks, ToolsGuard, TurnRequest, TurnStopped,
};

use attache_tool::{Delegation, ToolSpec};

use crate::built_in::RequestEnd;
use crate::command_turn::command_in;
use crate::reason::StatusReason;
use crate::turn_output::TurnOutput;
use crate::turn_runner::TurnRunner;
use crate::{API_KEY, AgentModel, Conversations, SettingsRefusal, built_in, changes};

pub struct CodingAgent {
    pub(crate) conversations: Arc<dyn Conversations>,
}

impl CodingAgent {
    pub fn new(conversations: Arc<dyn Conversations>) -> Self {
        Self { conversations }
    }
}

#[async_trait]
impl Agent for CodingAgent {
    fn keeps_conversation(&self, view: &TaskView) -> bool {
        let model = self.conversations.model(&RequestedSettings::of([view]));
        match model {
            Ok(model) => !matches!(model, AgentModel::BuiltIn(_)),
            Err(refusal) => refusal.field == API_KEY,
        }
    }

    fn model(&self, view: &TaskView) -> Option<String> {
        self.conversations.model(&RequestedSettings::of([view])).ok().map(|model| model.name().to_owned())
    }

    fn check(&self, message: &Message, requested: Option<&RequestedSettings>) -> Result<(), Fault> {
        Delegation::of(message)?;
        match requested {
            Some(settings) => self.conversations.check(settings).map_err(|refusal| fault(settings, refusal)),
            None => Ok(()),
        }
    }

    async fn available_tools(
        &self,
        view: &TaskView,
        settings: &RequestedSettings,
    ) -> Result<AvailableTools, Fault> {
        let setup = self.conversations.open(&view.progress.scope, &view.context, settings).await;
        let setup = setup.map_err(|refusal| fault(settings, refusal))?;
        let servers = setup.info.as_ref().map(|info| info.servers()).unwrap_or_default();
        let registry = setup.tool_source.tools();
        let tool = |spec: &ToolSpec| AvailableTool {
            name: spec.name.clone(),
            description: spec.description.clone(),
            parameters: spec.parameters.clone(),
            origin: spec.origin.as_ref().map(|origin| (origin.server.clone(), origin.tool.clone())),
        };
        let tools: Vec<AvailableTool> = registry.tools().map(|found| tool(found.spec())).collect();
        let server = |server: ServerEntry| {
            let of_server = |tool: &&AvailableTool| server.tools.contains(&tool.name);
            let tools = tools.iter().filter(of_server).cloned().collect();
            AvailableServer { name: server.name, status: server.status, tools }
        };
        let servers = servers.into_iter().map(server).collect();
        Ok(AvailableTools { model: setup.model.name().to_owned(), servers, tools })
    }

    async fn bring_server(
        &self,
        view: &TaskView,
        settings: &RequestedSettings,
        brought: &RequestedSettings,
        by: &str,
    ) -> Result<ToolsGuard, Fault> {
        let (scope, context) = (&view.progress.scope, &view.context);
        let guard = self.conversations.bring_server(scope, context, settings, brought, by).await;
        guard.map_err(|refusal| Fault::invalid(refusal.field, refusal.what))
    }

    async fn commands(&self, settings: &RequestedSettings) -> Result<Vec<CommandSpec>, Fault> {
        let registry =
            self.conversations.commands(settings).await.map_err(|refusal| fault(settings, refusal))?;
        Ok(registry.specs())
    }

    async fn check_command(
        &self,
        call: &CommandCall,
        settings: &RequestedSettings,
    ) -> Result<CommandCall, CommandRefusal> {
        let registry = self.conversations.commands(settings).await;
        let registry = registry.map_err(|refusal| CommandRefusal::BadArguments(refusal.what))?;
        let refused = |error: CommandError| match error {
            CommandError::Unknown { what } => CommandRefusal::Unknown(what),
            other => CommandRefusal::BadArguments(other.to_string()),
        };
        let found = registry.find(call).map_err(refused)?;
        found.check().map_err(refused)?;
        Ok(found.call)
    }

    fn reply_shape(&self, message: &Message) -> ReplyShape {
        // A command opens a task with any model.
        if message.command.is_some() {
            return ReplyShape::Task;
        }
        let settings = message.requested.as_deref().cloned().unwrap_or_default();
        match self.conversations.model(&settings) {
            Ok(AgentModel::BuiltIn(model)) => model.reply_shape(message),
            Ok(AgentModel::Language(_) | AgentModel::WithoutKey(_)) | Err(_) => ReplyShape::Task,
        }
    }

    async fn changes(&self, request: TurnRequest) -> Option<Artifact> {
        let view = request.view.clone();
        if view.changes.is_empty() {
            return None;
        }
        let settings = request.into_task().other_tasks().await.unwrap_or_default().settings(Some(&view));
        let setup = self.conversations.open(&view.progress.scope, &view.context, &settings).await;
        let roots = setup.as_ref().map(|setup| setup.roots()).unwrap_or_default();
        changes::artifact(&view.changes, roots, view.progress.turn.number)
    }

    async fn abandon_calls(&self, request: TurnRequest) -> AbandonedPeers {
        self.abandon(request).await
    }

    async fn run_turn(&self, request: TurnRequest, journal: &Journal) -> Result<(), TurnStopped> {
        let Progress { continues, turn, work, .. } = &request.view.progress;
        // A conversation that began with this turn has no other tasks.
        let (fresh, idle) = (!continues && turn.number == 1, work.calls.is_empty());
        let task = request.into_task();
        let others = if fresh { Ok(OtherTasks::default()) } else { task.other_tasks().await };
        let others = match others {
            Ok(others) => others,
            Err(error) => {
                tracing::error!(task = %task.view().task, %error, "the conversation cannot be read");
                let text = "I cannot read our earlier conversation now. Send any message to try again.";
                return cannot_begin(&task, journal, text.into()).await;
            }
        };
        let settings = others.settings(Some(&task.view()));
        // Most turns of built-in models use no tools and need no setup.
        let idle = idle && command_in(&task.view()).is_none();
        // The servers of a client are connected before the first answer. A bare reply cannot ask for approval.
        let bare = task.view().progress.reply == ReplyShape::Message;
        let idle = idle && (bare || settings.mcp_servers.is_empty());
        if let (true, Ok(AgentModel::BuiltIn(model))) = (idle, self.conversations.model(&settings))
            && let RequestEnd::WithTurn(end) = built_in::run_request(model.as_ref(), &task, journal).await?
        {
            return journal.record(end).await;
        }
        // Boxed, so that turns without it stay small.
        Box::pin(self.work(task, journal, &others.into_finished(), &settings)).await
    }
}

impl CodingAgent {
    async fn work(
        &self,
        task: CurrentTask,
        journal: &Journal,
        earlier: &[TaskView],
        settings: &RequestedSettings,
    ) -> Result<(), TurnStopped> {
        let (scope, context) = (task.view().progress.scope.clone(), task.view().context.clone());
        let given = command_in(&task.view()).cloned();
        let setup_and_command = async {
            let setup = self.conversations.open(&scope, &context, settings).await?;
            let command = match &given {
                Some(call) => Some(self.conversations.commands(settings).await?.find(call)),
                None => None,
            };
            Ok::<_, SettingsRefusal>((setup, command.transpose()))
        };
        match setup_and_command.await {
            Ok((setup, Ok(command))) => {
                let conversations = self.conversations.clone();
                TurnRunner::new(conversations, setup, task, journal, earlier, command).run().await
            }
            // The command existed when the message was received.
            Ok((_, Err(error))) => cannot_begin(&task, journal, error.to_string()).await,
            Err(refusal) => {
                tracing::warn!(task = %task.view().task, error = %refusal, "a conversation cannot be set up");
                let text = format!("I cannot work here: {refusal}. Send any message to try again.");
                cannot_begin(&task, journal, text).await
            }
        }
    }
}

/// Ends the turn before its first step; the person can try again.
async fn cannot_begin(task: &CurrentTask, journal: &Journal, text: String) -> Result<(), TurnStopped> {
    let message = Some(TurnOutput::of(&task.view()).reason(StatusReason::Unavailable, text).into());
    journal.record(Fact::TurnEnded { outcome: TurnOutcome::InputRequired, message, usage: None }).await
}

fn fault(settings: &RequestedSettings, refusal: SettingsRefusal) -> Fault {
    Fault::SettingRefused {
        metadata_key: settings.metadata_key.clone(),
        setting: refusal.field,
        what: refusal.what,
    }
}
