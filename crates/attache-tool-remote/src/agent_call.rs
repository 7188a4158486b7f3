//! One call to an agent, from the message to the end of its task.
//!
//! A message is sent once. After a restart the call goes on with the task that it began; whether a message arrived whose
//! response never came is asked of the agent, and where that cannot be told, the outcome is unknown.

mod explain;
mod follow;
mod recover;
mod replay;
mod settle;
mod stop;

pub(crate) use explain::holds_words_of_peer;
use replay::Replay;
pub(crate) use stop::not_told;

use std::time::Duration;

use attache_client::{Client, ClientError, EventStream, OutgoingMessage};
use attache_tool::{
    CallEnd, CallQuestion, CallStart, Delegation, ToolContext, ToolError, ToolErrorKind, failpoint,
};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::agent::{Agent, ConnectFailure};
use crate::agent_output::AgentOutput;
use crate::call_origins::{CallOrigins, not_approved};
use crate::kept_output;
use crate::message_id::message_id;
use crate::remote_conversation::{BusyGuard, RemoteConversation};
use crate::saved_call::{MAX_ID, Phase, SavedCall};
use crate::shown_words::{self, ShownWords, TextKind};

/// The delay after the first failed attempt to connect after a restart; each further one is twice as long.
const INITIAL_CONNECT_DELAY: Duration = Duration::from_millis(250);
/// Attempts to connect after a restart, in about half a minute.
const MAX_CONNECT_TRIES: u32 = 8;
/// What stands for a credential in what the model reads.
const CREDENTIAL: &str = "(a credential)";
/// Shown to people while the agent is away.
const UNREACHABLE: &str = "(cannot reach the agent, trying again)\n";

pub(crate) struct AgentCall<'a> {
    agent: &'a Agent,
    context: &'a ToolContext,
    /// What the message says about the agents that delegated before.
    chain: Delegation,
    /// Where the call may go.
    approved: CallOrigins,
    /// A person can answer what the agent asks.
    attended: bool,
    saved: SavedCall,
    /// Held while this call goes on with the conversation that earlier calls had.
    _busy: Option<BusyGuard>,
    /// The connection of this run.
    client: Option<Client>,
    output: AgentOutput,
    /// The first message of the call, until the agent has taken it.
    first_message: Option<FirstMessage>,
    /// The agent did not know the conversation that earlier calls had.
    has_lost_conversation: bool,
    /// Words that the run has shown that was interrupted, unless the agent tells them again.
    words_before: String,
    /// Bytes of the agent that it has shown; unknown if the log has only the end of them.
    shown_before: Option<usize>,
    /// A message is on its way, and the agent has not named the task for it yet.
    in_flight: watch::Sender<bool>,
    id_changes: u32,
    replay: Replay,
    /// The latest event was the whole task at its end.
    has_whole_task: bool,
    saved_at: Instant,
    /// What was kept last for later calls.
    kept: Option<Value>,
}

/// What the call sends first. Goes to a new task if the task of an earlier call takes no more messages.
struct FirstMessage {
    run: String,
    text: String,
}

/// Where a run goes on.
enum Source {
    Events(EventStream),
    Ended(CallEnd),
}

impl<'a> AgentCall<'a> {
    pub(crate) fn new(
        agent: &'a Agent,
        context: &'a ToolContext,
        chain: Delegation,
        approved: CallOrigins,
        attended: bool,
        saved: SavedCall,
        busy: Option<BusyGuard>,
    ) -> Self {
        Self {
            agent,
            context,
            chain,
            approved,
            attended,
            saved,
            _busy: busy,
            client: None,
            output: AgentOutput::new(agent.cleaner.clone()),
            first_message: None,
            has_lost_conversation: false,
            words_before: String::new(),
            shown_before: Some(0),
            in_flight: watch::Sender::new(false),
            id_changes: 0,
            replay: Replay::None,
            has_whole_task: false,
            saved_at: Instant::now(),
            kept: None,
        }
    }

    /// Sends `prompt`, or goes on where the run before stopped.
    pub(crate) async fn run(mut self, prompt: &str, start: CallStart) -> Result<CallEnd, ToolError> {
        if start.saved.is_some() && self.saved.origin != self.agent.origin_name() {
            return self.moved(&start).await;
        }
        let cancel = self.context.cancel.clone();
        let in_flight = self.in_flight.subscribe();
        let ended = {
            let mut run = std::pin::pin!(self.run_uncancelled(prompt, start));
            tokio::select! {
                biased;
                () = cancel.cancelled() => {
                    stop::wait_for_task(run, in_flight).await;
                    None
                }
                ended = &mut run => Some(ended),
            }
        };
        match ended {
            Some(ended) => ended,
            None => self.cancelled().await,
        }
    }

    /// The agent's origin has changed. The message went to the earlier one, if it was sent.
    async fn moved(&mut self, start: &CallStart) -> Result<CallEnd, ToolError> {
        let from = self.saved.origin.clone();
        tracing::warn!(agent = self.agent.name(), from, "an agent has moved during a call");
        match self.saved.phase {
            Phase::Sending | Phase::Following if start.restarted => Ok(CallEnd::Unknown),
            _ => {
                let now = self.agent.origin_name();
                let why =
                    format!("it was called at {from} and is at {now} now, which gets nothing of that call");
                Err(self.failure(&why).await)
            }
        }
    }

    async fn run_uncancelled(&mut self, prompt: &str, start: CallStart) -> Result<CallEnd, ToolError> {
        let is_known = start.saved.is_some();
        // A person decided that a call whose outcome is unknown runs again.
        let runs_again = !start.restarted && start.answer.is_none();
        self.resume_shown(&start);
        let text = self.next_text(prompt, start.answer.map(|answer| answer.text)).await;
        let client = match self.connect(is_known).await {
            Ok(client) => client,
            Err(ConnectFailure { sign_in: Some(question), .. }) => return self.sign_in(question).await,
            Err(_) if is_known => {
                self.save().await?;
                return Ok(CallEnd::Unknown);
            }
            Err(failure) => return Err(self.connect_failure(&failure).await),
        };
        self.check_address(&client)?;
        self.client = Some(client.clone());
        let source = match (self.saved.phase, text) {
            (Phase::Following, _) => self.resume(&client),
            // The answer that was to be sent is not known any more.
            (_, None) => Source::Ended(self.ask_again().await?),
            (Phase::Sending, Some(text)) if !runs_again || client.recognises_messages() => {
                self.recover(&client, &text).await?
            }
            (phase, Some(text))
                if self.saved.sent > 0 && (phase == Phase::Sending || self.saved.may_be_answered) =>
            {
                match self.answered_task(&client).await {
                    Some(task) => self.go_on_after_answer(&client, task).await?,
                    None => self.send(&client, &start.run.0, &text).await?,
                }
            }
            (_, Some(text)) => self.send(&client, &start.run.0, &text).await?,
        };
        match source {
            Source::Ended(end) => Ok(end),
            Source::Events(events) => self.follow(&client, events).await,
        }
    }

    /// Takes note of what an interrupted run has shown. Another run begins with nothing.
    fn resume_shown(&mut self, start: &CallStart) {
        if !start.restarted {
            (self.saved.began_after, self.saved.shown) = (self.saved.cursor.clone(), ShownWords::default());
        }
        self.words_before = self.saved.shown.resume(&start.shown).replace(UNREACHABLE, "");
        let notices = start.shown.matches(UNREACHABLE).count() * UNREACHABLE.len();
        self.shown_before = shown_words::is_whole(&start.shown).then(|| start.shown.len() - notices);
    }

    /// Shows text to people. What kind it is, is durable first, where the agent does not tell everything again.
    async fn show(&mut self, kind: TextKind, text: &str) -> Result<(), ToolError> {
        if text.is_empty() {
            return Ok(());
        }
        let tells_again = self.client.as_ref().is_some_and(Client::replays_events);
        if !tells_again && self.saved.shown.begin(kind) {
            self.save().await?;
        }
        self.saved.shown.add(text);
        self.context.live.show(text);
        Ok(())
    }

    fn show_unreachable(&mut self) {
        self.saved.shown.add(UNREACHABLE);
        self.context.live.show(UNREACHABLE);
    }

    /// Now that the card is known: it leads to what was approved, and not back to this server or one before it.
    fn check_address(&self, client: &Client) -> Result<(), ToolError> {
        let (name, now) = (self.agent.name(), self.agent.origins_of(client));
        if !self.approved.cover(&now) {
            return Err(not_approved(name, &self.approved, &now));
        }
        let is_circle = |link: &String| link.strip_suffix('#').is_some_and(|server| now.contains(server));
        if self.chain.chain.iter().any(is_circle) {
            let why = format!("{name} is not asked: its card leads back to a server that the task came from");
            return Err(ToolError::new(ToolErrorKind::PolicyViolation, why));
        }
        Ok(())
    }

    /// What the current message says. `reply` is what a person said last, to the agent's question or about a sign-in.
    async fn next_text(&mut self, prompt: &str, reply: Option<String>) -> Option<String> {
        if self.saved.question.is_some() {
            self.restore_output().await;
        }
        if let (Phase::Asked, Some(answer)) = (self.saved.phase, &reply) {
            self.saved.take_answer(answer);
        }
        if self.saved.sent == 0 {
            return (self.saved.phase != Phase::Asked).then(|| prompt.to_owned());
        }
        let text = reply.filter(|_| !self.saved.signed_in).or_else(|| self.saved.answer.clone())?;
        if self.saved.asks_credential {
            self.agent.cleaner.hide_credential(&text);
        }
        self.output.answer(if self.saved.asks_credential { CREDENTIAL } else { &text });
        Some(text)
    }

    /// `after_restart`: an agent that cannot be reached may still be starting, too.
    async fn connect(&mut self, after_restart: bool) -> Result<Client, ConnectFailure> {
        let mut delay = INITIAL_CONNECT_DELAY;
        let mut tries = if after_restart { MAX_CONNECT_TRIES } else { 1 };
        loop {
            tries -= 1;
            match self.agent.client().await {
                Err(ConnectFailure { sign_in: None, .. }) if tries > 0 => {
                    if tries + 1 == MAX_CONNECT_TRIES {
                        self.show_unreachable();
                    }
                    tokio::time::sleep(delay).await;
                    delay *= 2;
                }
                connected => return connected,
            }
        }
    }

    /// A person has to sign in before the agent can be called. The message is sent after that.
    async fn sign_in(&mut self, question: CallQuestion) -> Result<CallEnd, ToolError> {
        if !self.attended {
            return Err(self.quoted_failure(&question.text).await);
        }
        self.saved.signed_in = true;
        self.keep_output().await;
        self.save().await?;
        Ok(CallEnd::Asks(question))
    }

    /// Sends the message of this run. That it is being sent is durable first.
    async fn send(&mut self, client: &Client, run: &str, text: &str) -> Result<Source, ToolError> {
        self.saved.message = self.message_id(run, text);
        self.keep_output().await;
        self.save_sending().await?;
        failpoint::reach("delegation-saved");
        if self.saved.sent == 0 {
            self.first_message = Some(FirstMessage { run: run.to_owned(), text: text.to_owned() });
        }
        let sent = client.stream(self.message(client, text)).await;
        failpoint::reach("delegation-sent");
        match sent {
            Ok(events) => Ok(Source::Events(events)),
            Err(error) => self.failed_send(client, error).await,
        }
    }

    /// The task of an earlier call took no more messages, or its conversation is not known any more. Nothing was done, so the
    /// message may begin another one.
    async fn send_anew(
        &mut self,
        client: &Client,
        error: &ClientError,
    ) -> Result<Option<Result<EventStream, ClientError>>, ToolError> {
        let Some(FirstMessage { run, text }) = &self.first_message else { return Ok(None) };
        let place = if self.saved.task.take().is_some() {
            "in a new task"
        } else if explain::is_about_context(error) && self.saved.context.take().is_some() {
            self.has_lost_conversation = true;
            "in a new conversation"
        } else {
            return Ok(None);
        };
        let text = text.clone();
        self.saved.message = self.message_id(&format!("{run} {place}"), &text);
        self.save_sending().await?;
        Ok(Some(client.stream(self.message(client, &text)).await))
    }

    /// The message got no response. It may have arrived all the same, or its task may need no answer any more.
    async fn failed_send(&mut self, client: &Client, mut error: ClientError) -> Result<Source, ToolError> {
        while matches!(error, ClientError::Refused(_)) {
            match self.send_anew(client, &error).await? {
                Some(Ok(events)) => return Ok(Source::Events(events)),
                Some(Err(refused)) => error = refused,
                None => break,
            }
        }
        if let Some(question) = self.agent.sign_in_question(&error) {
            self.saved.phase = Phase::Unsent;
            return Ok(Source::Ended(self.sign_in(question).await?));
        }
        let found = match &error {
            ClientError::Refused(_) if self.saved.sent > 0 => self.task_without_answer(client).await,
            error if explain::may_have_arrived(error) => self.find_task(client).await.ok().flatten(),
            _ => None,
        };
        let Some(task) = found else { return Err(self.call_failure(&error).await) };
        self.go_on_with(task).await?;
        Ok(self.resume_without_cursor(client))
    }

    fn message(&self, client: &Client, text: &str) -> OutgoingMessage {
        let mut message = OutgoingMessage::text(self.saved.message.as_str(), text)
            .with_metadata(attache_tool::DELEGATION, self.chain.to_value());
        if let Some(task) = &self.saved.task {
            message = message.to_task(task.as_str());
        }
        if let Some(context) = &self.saved.context {
            message = message.in_context(context.as_str());
        }
        if client.card().capabilities.streaming { message } else { message.return_immediately() }
    }

    fn message_id(&self, run: &str, text: &str) -> String {
        let call = &self.context.call;
        message_id(&[call.task.as_str(), &call.call.0, run], self.saved.sent, text)
    }

    async fn save_sending(&mut self) -> Result<(), ToolError> {
        self.saved.phase = Phase::Sending;
        self.save().await?;
        self.in_flight.send_replace(true);
        Ok(())
    }

    async fn save(&mut self) -> Result<(), ToolError> {
        self.saved_at = Instant::now();
        self.context.state.save(self.saved.to_value()).await
    }

    /// What the agent has said until it asked something stays for the runs after the answer.
    async fn keep_output(&self) {
        if self.output.dialog().is_empty() {
            return;
        }
        let scratch = &self.context.workspace.scratch;
        if let Err(error) = kept_output::keep(&self.output, scratch, &self.folder_name()).await {
            tracing::warn!(%error, agent = self.agent.name(), "what an agent said before its question is not kept");
        }
    }

    async fn restore_output(&mut self) {
        match kept_output::read(&self.context.workspace.scratch, &self.folder_name()).await {
            Ok(output) => self.output = output.with_cleaner(self.agent.cleaner.clone()),
            Err(error) => {
                tracing::warn!(%error, agent = self.agent.name(), "what an agent said before its question is lost");
                let question = self.saved.question.clone().unwrap_or_default();
                self.output.ask(&question);
                self.replay = Replay::Partial;
            }
        }
    }

    /// Folder name of this call.
    fn folder_name(&self) -> String {
        let call = &self.context.call;
        message_id(&[call.task.as_str(), &call.call.0, "files"], 0, "")
    }

    /// Where the next call goes on. `waiting` is a task that waits for input.
    async fn keep_continuity(&mut self, waiting: Option<String>) -> Result<(), ToolError> {
        if !self.saved.continues {
            return Ok(());
        }
        let (origin, context) = (self.saved.origin.clone(), self.saved.context.clone());
        let kept = RemoteConversation { origin, context, task: waiting };
        let key = RemoteConversation::key(self.agent.name());
        let before = self.kept.take().or_else(|| self.context.state.kept(&key));
        let value = serde_json::to_value(&kept).unwrap_or_default();
        self.kept = Some(value.clone());
        if before.as_ref() == Some(&value) { Ok(()) } else { self.context.state.keep(&key, value).await }
    }
}

/// An id that can be kept.
fn usable(id: &str) -> Option<&str> {
    (!id.is_empty() && id.len() <= MAX_ID).then_some(id)
}
