//! The session's agent: one turn, with whoever thinks and whatever the conversation works with.

use std::sync::Arc;

use async_trait::async_trait;
use attache_command::{CommandError, ServerEntry};
use attache_domain::{
    Artifact, CommandCall, CommandSpec, Fact, Fault, Message, Progress, ReplyShape, RequestedSettings,
    TaskView, TurnOutcome,
};
use attache_session::{
    Agent, AvailableServer, AvailableTool, AvailableTools, CommandRefusal, CurrentTask, Journal, TurnRequest,
    TurnStopped,
};

use attache_tool::ToolSpec;

use crate::built_in::RequestEnd;
use crate::command_turn::command_in;
use crate::reason::StatusReason;
use crate::turn_output::TurnOutput;
use crate::turn_runner::TurnRunner;
use crate::{AgentModel, Conversations, SettingsRefusal, built_in, changes};

pub struct CodingAgent {
    pub(crate) workplaces: Arc<dyn Conversations>,
}

impl CodingAgent {
    pub fn new(workplaces: Arc<dyn Conversations>) -> Self {
        Self { workplaces }
    }
}

#[async_trait]
impl Agent for CodingAgent {
    fn keeps_conversation(&self, view: &TaskView) -> bool {
        let mind = self.workplaces.model(&RequestedSettings::of([view]));
        matches!(mind, Ok(AgentModel::Language(_)))
    }

    fn model(&self, view: &TaskView) -> Option<String> {
        self.workplaces.model(&RequestedSettings::of([view])).ok().map(|mind| mind.name().to_owned())
    }

    fn check(&self, message: &Message) -> Result<(), Fault> {
        match &message.wishes {
            Some(wishes) => self.workplaces.check(wishes).map_err(|refusal| fault(wishes, refusal)),
            None => Ok(()),
        }
    }

    async fn available_tools(
        &self,
        view: &TaskView,
        wishes: &RequestedSettings,
    ) -> Result<AvailableTools, Fault> {
        let place = self.workplaces.open(&view.progress.scope, &view.context, wishes).await;
        let place = place.map_err(|refusal| fault(wishes, refusal))?;
        let servers = place.info.as_ref().map(|premises| premises.servers()).unwrap_or_default();
        let registry = place.toolbox.tools();
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
        Ok(AvailableTools { model: place.model.name().to_owned(), servers, tools })
    }

    async fn commands(&self, wishes: &RequestedSettings) -> Result<Vec<CommandSpec>, Fault> {
        let registry = self.workplaces.commands(wishes).await.map_err(|refusal| fault(wishes, refusal))?;
        Ok(registry.specs())
    }

    async fn check_command(
        &self,
        call: &CommandCall,
        wishes: &RequestedSettings,
    ) -> Result<CommandCall, CommandRefusal> {
        let registry = self.workplaces.commands(wishes).await;
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
        // A command is followed by its task, whoever thinks.
        if message.command.is_some() {
            return ReplyShape::Task;
        }
        let wishes = message.wishes.as_deref().cloned().unwrap_or_default();
        match self.workplaces.model(&wishes) {
            Ok(AgentModel::BuiltIn(model)) => model.reply_shape(message),
            Ok(AgentModel::Language(_)) | Err(_) => ReplyShape::Task,
        }
    }

    async fn changes(&self, request: TurnRequest) -> Option<Artifact> {
        let view = request.view.clone();
        if view.changes.is_empty() {
            return None;
        }
        let earlier = request.into_task().earlier().await.unwrap_or_default();
        let wishes = RequestedSettings::of(earlier.iter().chain([view.as_ref()]));
        let place = self.workplaces.open(&view.progress.scope, &view.context, &wishes).await;
        let roots = place.as_ref().map(|place| place.roots()).unwrap_or_default();
        changes::artifact(&view.changes, roots, view.progress.turn.number)
    }

    async fn run_turn(&self, request: TurnRequest, journal: &Journal) -> Result<(), TurnStopped> {
        let Progress { continues, turn, work, .. } = &request.view.progress;
        // In a conversation that began with this turn nothing was said before.
        let (fresh, idle) = (!continues && turn.number == 1, work.calls.is_empty());
        let latest = request.into_task();
        let earlier = if fresh { Ok(Vec::new()) } else { latest.earlier().await };
        let earlier = match earlier {
            Ok(views) => views,
            Err(error) => {
                tracing::error!(%error, "the conversation cannot be read");
                let text = "I cannot read our earlier conversation now. Send any message to try again.";
                return cannot_begin(&latest, journal, text.into()).await;
            }
        };
        let wishes = RequestedSettings::of(earlier.iter().chain([latest.view().as_ref()]));
        // Most turns of a model of ours use no tools: they need no workplace.
        let idle = idle && command_in(&latest.view()).is_none();
        if let (true, Ok(AgentModel::BuiltIn(model))) = (idle, self.workplaces.model(&wishes))
            && let RequestEnd::WithTurn(end) = built_in::run_request(model.as_ref(), &latest, journal).await?
        {
            return journal.record(end).await;
        }
        // Boxed, so that whoever needs none of it carries none of it.
        Box::pin(self.work(latest, journal, &earlier, &wishes)).await
    }
}

impl CodingAgent {
    async fn work(
        &self,
        latest: CurrentTask,
        journal: &Journal,
        earlier: &[TaskView],
        wishes: &RequestedSettings,
    ) -> Result<(), TurnStopped> {
        let (scope, context) = (latest.view().progress.scope.clone(), latest.view().context.clone());
        let given = command_in(&latest.view()).cloned();
        let furnished = async {
            let place = self.workplaces.open(&scope, &context, wishes).await?;
            let command = match &given {
                Some(call) => Some(self.workplaces.commands(wishes).await?.find(call)),
                None => None,
            };
            Ok::<_, SettingsRefusal>((place, command.transpose()))
        };
        match furnished.await {
            Ok((place, Ok(command))) => {
                let workplaces = self.workplaces.clone();
                TurnRunner::new(workplaces, place, latest, journal, earlier, command).run().await
            }
            // It was there when it was given.
            Ok((_, Err(error))) => cannot_begin(&latest, journal, error.to_string()).await,
            Err(refusal) => {
                tracing::warn!(error = %refusal, "a conversation cannot be furnished");
                let text = format!("I cannot work here: {refusal}. Send any message to try again.");
                cannot_begin(&latest, journal, text).await
            }
        }
    }
}

/// The turn ends before it began, and the person may try again.
async fn cannot_begin(latest: &CurrentTask, journal: &Journal, text: String) -> Result<(), TurnStopped> {
    let message = Some(TurnOutput::of(&latest.view()).reason(StatusReason::Unavailable, text).into());
    journal.record(Fact::TurnEnded { outcome: TurnOutcome::InputRequired, message, usage: None }).await
}

fn fault(wishes: &RequestedSettings, refusal: SettingsRefusal) -> Fault {
    Fault::SettingRefused { said_in: wishes.said_in.clone(), setting: refusal.field, what: refusal.what }
}
