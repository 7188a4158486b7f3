//! Lists and runs commands.

use std::time::Duration;

use attache_domain::{
    CommandSpec, Fault, ListCommands, MessageId, Part, Preview, Progress, RequestedSettings, Scope,
    SendMessage, TaskKey, TaskView, TurnPhase,
};

use crate::service::{SessionService, StartedTask, internal};
use crate::watcher::Watcher;
use crate::{AvailableTools, CommandRefusal, ToolsGuard, conversation};

/// The result of starting a command.
pub enum CommandOutcome {
    /// It runs as the turn of a task; with the task as it was a moment later.
    Started { started: StartedTask, status: CommandStatus },
    /// It cannot be given like this. Nothing was kept.
    Refused(CommandRefusal),
}

/// How far a command has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandStatus {
    Running,
    /// The task is busy: its turn comes.
    Queued,
    /// A shell command needs an approval.
    AsksForShell,
    /// Another action needs an approval.
    AsksForAction,
}

/// How long the caller waits to learn whether the command needs an approval. The command keeps running.
const STATUS_TIMEOUT: Duration = Duration::from_millis(500);

impl SessionService {
    pub async fn commands(&self, scope: &Scope, list: ListCommands) -> Result<Vec<CommandSpec>, Fault> {
        let settings = self.requested_settings(scope, &list).await?;
        self.agent.commands(&settings).await
    }

    /// What the conversation of a task works with.
    pub async fn available_tools(&self, view: &TaskView) -> Result<AvailableTools, Fault> {
        let settings = self.conversation_settings(view).await?;
        self.agent.available_tools(view, &settings).await
    }

    /// Adds an MCP server of the client `by` to the conversation of a task, until the guard is dropped.
    pub async fn bring_server(
        &self,
        view: &TaskView,
        brought: &RequestedSettings,
        by: &str,
    ) -> Result<ToolsGuard, Fault> {
        let settings = self.conversation_settings(view).await?;
        self.agent.bring_server(view, &settings, brought, by).await
    }

    async fn conversation_settings(&self, view: &TaskView) -> Result<RequestedSettings, Fault> {
        let list = ListCommands { task: Some(view.task.clone()), ..ListCommands::default() };
        self.requested_settings(&view.progress.scope, &list).await
    }

    /// Gives the command of `send`, whose message carries one.
    pub async fn run_command(&self, scope: &Scope, mut send: SendMessage) -> Result<CommandOutcome, Fault> {
        let message = &mut send.message;
        let Some(command) = message.command.clone() else { return Err(Fault::Internal) };
        let list = ListCommands {
            context: message.context.clone(),
            task: message.task.clone(),
            settings: message.requested.clone(),
        };
        let settings = self.requested_settings(scope, &list).await?;
        match self.agent.check_command(&command, &settings).await {
            Ok(exact) => {
                message.parts = vec![Part::text(exact.line())];
                message.command = Some(Box::new(exact));
            }
            Err(why) => return Ok(CommandOutcome::Refused(why)),
        }
        if message.id.as_str().is_empty() {
            message.id = MessageId::from(format!("command-{}", uuid::Uuid::now_v7()));
        }
        let id = message.id.clone();
        let started = self.begin(scope, send).await?;
        let watcher = Watcher::new(started.live.clone());
        let is_known = watcher.wait_until(|state| is_known(&state.view.progress, &id));
        let _ = tokio::time::timeout(STATUS_TIMEOUT, is_known).await;
        let status = status_of(&watcher.task().view(), &id);
        Ok(CommandOutcome::Started { started, status })
    }

    /// The settings of the named conversation, with those of `list` over them.
    pub(crate) async fn requested_settings(
        &self,
        scope: &Scope,
        list: &ListCommands,
    ) -> Result<RequestedSettings, Fault> {
        let mut context = list.context.clone();
        let (mut own, mut reserved) = (None, None);
        if let Some(task) = &list.task {
            match self.visible(scope, task).await {
                Ok(live) => {
                    let view = live.view();
                    context = Some(view.context.clone());
                    own = Some(view);
                }
                Err(fault) => {
                    let key = TaskKey { scope: scope.clone(), task: task.clone() };
                    let found = self.reserved(&key).await?.ok_or(fault)?;
                    context = Some(found.context);
                    reserved = found.requested;
                }
            }
        }
        let said = match &context {
            Some(context) => {
                let stores = &self.stores;
                let except = list.task.as_ref();
                let others = conversation::other_tasks(
                    stores.index.as_ref(),
                    stores.log.as_ref(),
                    &self.counters().quarantine,
                    scope,
                    context,
                    except,
                );
                others.await.map_err(internal)?.settings(own.as_deref())
            }
            None => RequestedSettings::default(),
        };
        let over = |before: RequestedSettings, latest: Option<&RequestedSettings>| match latest {
            Some(latest) => latest.clone().over(before),
            None => before,
        };
        Ok(over(over(said, reserved.as_deref()), list.settings.as_deref()))
    }
}

/// It is finished, asks for something, waits for its turn, or has prompted the model.
fn is_known(progress: &Progress, id: &MessageId) -> bool {
    let prompted = progress.turn.phase == TurnPhase::Running && progress.work.prompted;
    progress.is_settled() || prompted || is_queued(progress, id)
}

fn is_queued(progress: &Progress, id: &MessageId) -> bool {
    progress.queue.iter().any(|message| message.id == *id)
}

fn status_of(view: &TaskView, id: &MessageId) -> CommandStatus {
    if is_queued(&view.progress, id) {
        return CommandStatus::Queued;
    }
    if !view.progress.waits_for_person() {
        return CommandStatus::Running;
    }
    let mut shown = view.call_records.asked().filter_map(|call| Some(&call.proposal.as_ref()?.shown));
    if shown.any(|shown| matches!(shown, Preview::Exec { .. })) {
        CommandStatus::AsksForShell
    } else {
        CommandStatus::AsksForAction
    }
}
