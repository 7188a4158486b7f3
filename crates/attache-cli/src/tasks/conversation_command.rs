//! A command of the agent that runs in a conversation that there is already.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::anyhow;
use attache_client::{OutgoingMessage, Part, PartContent, RemoteTask, TaskState};
use attache_domain::OPEN_CALLS;
use uuid::Uuid;

use super::server::ServerConnection;
use crate::agents::print;
use crate::call::TimeLimit;
use crate::printable::printable;
use crate::report::with_hint;

/// How often the task is looked at until the command has ended.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

pub(crate) struct ConversationCommand<'a> {
    pub(crate) path: &'a [&'a str],
    pub(crate) arguments: &'a str,
    pub(crate) place: ConversationPlace<'a>,
}

/// By an id or the beginning of it.
pub(crate) enum ConversationPlace<'a> {
    OfTask(&'a str),
    Context(&'a str),
}

impl ConversationCommand<'_> {
    /// Prints what the command says. Its turn is one of the task that the conversation has open, else of a new one.
    pub(super) async fn run(
        self,
        connecting: impl Future<Output = anyhow::Result<ServerConnection>>,
    ) -> anyhow::Result<ExitCode> {
        let running = async {
            let server = connecting.await?;
            let message = self.message(&server).await?;
            execute(&server, message).await
        };
        let ended = match TimeLimit::new(None).apply(running).await {
            Ok(ended) => ended?,
            Err(end) => return Ok(end.code()),
        };
        let message = ended.status.message.as_ref().map(|message| text(&message.parts));
        let artifacts = ended.artifacts.iter().rev().map(|artifact| text(&artifact.parts));
        let mut said = message.into_iter().chain(artifacts).filter(|text| !text.is_empty());
        let said = printable(&said.next().unwrap_or_default());
        if has_failed(&ended) {
            return Err(anyhow!("{said}"));
        }
        print(&said)?;
        Ok(ExitCode::SUCCESS)
    }

    async fn message(&self, server: &ServerConnection) -> anyhow::Result<OutgoingMessage> {
        let path = self.path.iter().map(|word| (*word).to_owned()).collect();
        let message = OutgoingMessage::command(Uuid::new_v4(), path, self.arguments.to_owned());
        let (task, context) = match self.place {
            ConversationPlace::OfTask(id) => {
                let task = server.find(id).await?;
                let context = task.context.to_string();
                (Some(task).filter(|task| !task.status.is_terminal()), context)
            }
            ConversationPlace::Context(id) => {
                let context = server.find_context(id).await?;
                (server.open_task_in(&context).await?, context)
            }
        };
        if let Some(asking) = task.as_ref().filter(|task| asks(task)) {
            let error =
                anyhow!("task {} asks something, and takes no command before it is answered", asking.id);
            return Err(with_hint(error, format!("`attache tasks show {}` shows what it asks", asking.id)));
        }
        Ok(match task {
            Some(task) => message.to_task(task.id.as_str()).in_context(context),
            None => message.in_context(context),
        })
    }
}

/// The task once the command has ended.
async fn execute(server: &ServerConnection, message: OutgoingMessage) -> anyhow::Result<RemoteTask> {
    let execution = server.client.execute(message).await.map_err(|error| server.describe_error(error))?;
    if execution.task.is_empty() {
        return Err(anyhow!("{}", printable(&execution.message)));
    }
    loop {
        let task = server.client.get(&execution.task, None).await;
        let task = task.map_err(|error| server.describe_error(error))?;
        if !matches!(task.status.state, Some(TaskState::Submitted | TaskState::Working)) {
            return Ok(task);
        }
        tokio::time::sleep(LOOK_INTERVAL).await;
    }
}

/// A call of the task waits for a person.
fn asks(task: &RemoteTask) -> bool {
    let message = task.status.message.as_ref().filter(|_| task.status.is_interrupted());
    let metadata = message.and_then(|message| message.metadata.as_ref());
    metadata.is_some_and(|metadata| metadata.contains_key(OPEN_CALLS))
}

/// The state of a session does not show that a turn has failed; its message does.
fn has_failed(task: &RemoteTask) -> bool {
    let message = task.status.message.as_ref();
    let failed = message.and_then(|message| message.metadata.as_ref()?.get("failed"));
    let is_over = task.status.is_terminal() && task.status.state != Some(TaskState::Completed);
    is_over || failed == Some(&true.into())
}

fn text(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match &part.content {
        PartContent::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}
