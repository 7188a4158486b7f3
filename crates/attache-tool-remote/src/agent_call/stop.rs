//! Tells an agent that its work is no longer wanted.

use std::time::Duration;

use attache_client::{Client, ClientError};
use attache_domain::visible_line;
use attache_tool::{CallEnd, CallStart, PeerNotice, ToolError};
use tokio::sync::watch;
use tokio::time::timeout;

use super::{AgentCall, UNREACHABLE};
use crate::saved_call::{Phase, SavedCall};

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

    /// The call may not run on: cancels its task, and the model reads what the agent said until then. An answer is not sent.
    pub(crate) async fn end(mut self, refused: ToolError, start: CallStart) -> ToolError {
        if self.saved.question.is_some() {
            self.restore_output().await;
        }
        if start.answer.is_some() {
            self.output.answer("(not sent)");
        }
        self.output.was_shown(start.shown.replace(UNREACHABLE, ""));
        let mut blocks = vec![self.report().await, refused.message];
        blocks.retain(|block| !block.is_empty());
        let saved = self.saved.clone();
        match timeout(CANCEL_TIMEOUT, self.abandon()).await {
            Ok(PeerNotice::Told) => {}
            Ok(PeerNotice::Never(sentence)) => blocks.push(sentence),
            Ok(PeerNotice::NotYet) | Err(_) => blocks.push(not_told(&saved, UNREACHED)),
        }
        ToolError::new(refused.kind, blocks.join("\n\n"))
    }

    /// The same after the run of the call is gone.
    pub(crate) async fn abandon(mut self) -> PeerNotice {
        if !self.saved.has_peer() {
            return PeerNotice::Told;
        }
        if self.saved.origin != self.agent.origin_name() {
            return self.never(&format!("its file says {} now", self.agent.origin_name()));
        }
        match self.agent.client().await {
            Ok(client) if self.check_address(&client).is_err() => {
                self.never(&format!("its card leads to {} now", self.agent.origins_of(&client)))
            }
            Ok(client) => self.tell_to_stop(&client).await,
            Err(failure) if failure.sign_in.is_some() => self.never("a person has to sign in first"),
            Err(_) => PeerNotice::NotYet,
        }
    }

    fn never(&self, why: &str) -> PeerNotice {
        PeerNotice::Never(not_told(&self.saved, why))
    }

    /// A task that is over, or that the agent does not know any more, needs no cancel.
    fn told_with(&self, error: &ClientError) -> PeerNotice {
        match error {
            error if error.is_transient() => PeerNotice::NotYet,
            error if error.is_refused_credential() => self.never("it refuses the credential of its file"),
            _ => PeerNotice::Told,
        }
    }

    async fn tell_to_stop(&mut self, client: &Client) -> PeerNotice {
        // The task of an earlier call does not count: this one's message may not have reached it.
        match self.saved.phase {
            _ if !self.saved.has_peer() => return PeerNotice::Told,
            Phase::Sending if self.saved.sent == 0 => match self.find_task(client).await {
                Ok(Some(task)) => (self.saved.task, self.saved.phase) = (Some(task), Phase::Following),
                Ok(None) => return PeerNotice::NotYet,
                Err(error) => return self.told_with(&error),
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
                self.told_with(&error)
            }
            Err(_) => {
                tracing::warn!(agent = self.agent.name(), "an agent did not cancel a task in time");
                PeerNotice::NotYet
            }
        }
    }
}

/// The sentence for people about an agent that may still work on a call.
pub(crate) fn not_told(saved: &SavedCall, why: &str) -> String {
    let task =
        saved.task.as_deref().map(|task| format!(" on its task {}", visible_line(task))).unwrap_or_default();
    format!(
        "The agent {} at {} was not told that its call is over, and may still work{task}: {why}.",
        saved.agent, saved.origin
    )
}

const UNREACHED: &str = "it could not be reached";
