//! A command of the agent that runs in a conversation that there is already.

use std::process::ExitCode;

use attache_client::OutgoingMessage;
use uuid::Uuid;

use super::server::ServerConnection;
use crate::call::{self, Opening, Partner, TalkOptions, TimeLimit};

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
        let limit = TimeLimit::new(None);
        let opening = async {
            let server = connecting.await?;
            let message = self.message(&server).await?;
            anyhow::Ok((server, message))
        };
        let (server, message) = match limit.apply(opening).await {
            Ok(begun) => begun?,
            Err(end) => return Ok(end.code()),
        };
        let options = TalkOptions {
            partner: Partner::Server,
            answers: &[],
            waits: false,
            detaches: false,
            json: false,
        };
        let end = call::talk(&server.client, options, &limit, Opening::Command(message)).await;
        Ok(end.map_err(|error| server.with_credential_hint(error))?.code())
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
        Ok(match task {
            Some(task) => message.to_task(task.id.as_str()).in_context(context),
            None => message.in_context(context),
        })
    }
}
