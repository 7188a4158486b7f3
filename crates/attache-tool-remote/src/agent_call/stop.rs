//! Tells an agent that its work is no longer wanted.

use std::time::Duration;

use attache_client::{Client, ClientError};
use attache_tool::{CallEnd, PeerNotice, QuestionAnswer, ToolError};
use tokio::sync::watch;
use tokio::time::timeout;

use super::AgentCall;
use crate::saved_call::Phase;

/// How long a cancelled call waits for the agent to name the task of a message that is on its way.
const SEND_TIMEOUT: Duration = Duration::from_millis(1500);
/// How long a cancelled call waits for the cancel request to be delivered.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(3);
/// How often a message that is not there yet is looked for.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);

/// A message that is on its way may begin a task, which has to be cancelled. Its id comes with the first event.
pub(super) async fn wait_for_task(run: impl Future, mut in_flight: watch::Receiver<bool>) {
    tokio::select! {
        biased;
        _ = in_flight.wait_for(|in_flight| !*in_flight) => {}
        _ = run => {}
        () = tokio::time::sleep(SEND_TIMEOUT) => {}
    }
}

impl AgentCall<'_> {
    /// The call was cancelled: cancels the agent's task. Returns what the agent said until then.
    pub(super) async fn cancelled(&mut self) -> Result<CallEnd, ToolError> {
        if let Some(client) = self.client.clone() {
            let told = async {
                while self.tell_to_stop(&client).await == PeerNotice::NotYet {
                    tokio::time::sleep(LOOK_INTERVAL).await;
                }
            };
            if timeout(CANCEL_TIMEOUT, told).await.is_err() {
                tracing::warn!(
                    agent = self.agent.name(),
                    "an agent was not told in time that a call is cancelled"
                );
            }
        }
        self.finish_cancelled().await
    }

    /// The call may not run on: cancels its task, and the model reads what the agent said until then. `answer` was not sent.
    pub(crate) async fn end(mut self, refused: ToolError, answer: Option<QuestionAnswer>) -> ToolError {
        if self.saved.question.is_some() {
            self.restore_output().await;
        }
        if answer.is_some() {
            self.output.answer("(not sent)");
        }
        let report = self.report().await;
        let notice = timeout(CANCEL_TIMEOUT, self.abandon()).await;
        if !matches!(notice, Ok(PeerNotice::Told)) {
            tracing::warn!("an agent was not told that a call to it has ended");
        }
        let message =
            if report.is_empty() { refused.message } else { format!("{report}\n\n{}", refused.message) };
        ToolError::new(refused.kind, message)
    }

    /// The same after the run of the call is gone.
    pub(crate) async fn abandon(mut self) -> PeerNotice {
        if self.saved.origin != self.agent.origin_name() {
            return PeerNotice::Told;
        }
        match self.agent.client().await {
            // It has moved to where nothing was sent.
            Ok(client) if self.check_address(&client).is_err() => PeerNotice::Told,
            Ok(client) => self.tell_to_stop(&client).await,
            Err(failure) if failure.sign_in.is_some() => PeerNotice::Told,
            Err(_) => PeerNotice::NotYet,
        }
    }

    async fn tell_to_stop(&mut self, client: &Client) -> PeerNotice {
        // The task of an earlier call does not count: this one's message may not have reached it.
        match self.saved.phase {
            Phase::Unsent if self.saved.sent == 0 => return PeerNotice::Told,
            Phase::Sending if self.saved.sent == 0 => match self.find_task(client).await {
                Ok(Some(task)) => (self.saved.task, self.saved.phase) = (Some(task), Phase::Following),
                Ok(None) => return PeerNotice::NotYet,
                Err(error) => return told_with(&error),
            },
            _ => {}
        }
        self.cancel_task(client).await
    }

    pub(super) async fn cancel_task(&self, client: &Client) -> PeerNotice {
        let Some(task) = &self.saved.task else { return PeerNotice::Told };
        match timeout(CANCEL_TIMEOUT, client.cancel(task)).await {
            Ok(Ok(_)) => PeerNotice::Told,
            // It may be over already.
            Ok(Err(error)) => {
                tracing::debug!(%error, "an agent did not cancel a task");
                told_with(&error)
            }
            Err(_) => {
                tracing::warn!(agent = self.agent.name(), "an agent did not cancel a task in time");
                PeerNotice::NotYet
            }
        }
    }
}

fn told_with(error: &ClientError) -> PeerNotice {
    if error.is_transient() { PeerNotice::NotYet } else { PeerNotice::Told }
}
