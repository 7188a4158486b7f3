//! A stream of events that reconnects.
//!
//! When it is cut, or ends although its task goes on, the stream subscribes to the task again after the last event
//! it has seen. An agent that numbers its events, as attache does, then repeats and omits nothing, or says that
//! something is missing ([`StreamEvent::gap`]); any other agent starts again with the current task. Where an agent
//! refuses the subscription, or ends it again and again with nothing new, the task is fetched until it settles; beside a
//! subscription that brings nothing, it is fetched to see whether it has settled. The delays grow whatever the agent sends. A message is sent again only to an agent that recognises it.
//!
//! A stream is about one task: the one that it was opened for, or the first one that the response to a new message names.
//! An answer about another task is an error, and later events of other tasks are dropped. The stream ends with the status
//! that ends its task, with a message, and soon after a question, even if the agent keeps the connection open.

mod answered_status;
mod known_task;
mod lost_events;
mod retry_delay;
mod silent_subscription;
mod task_phase;

use std::time::Duration;

use attache_domain::{Operation, SendMessage, TaskId};
use tokio::time::Instant;

use crate::exchange::{OpenStream, ReceivedEvent};
use crate::stream::answered_status::AnsweredStatus;
use crate::stream::known_task::is_same_task;
use crate::stream::lost_events::LostEvents;
use crate::stream::retry_delay::{MAX_RETRY_DELAY, jittered, retry_delay};
use crate::stream::silent_subscription::LookSchedule;
use crate::stream::task_phase::{TaskPhase, until_look};
use crate::{Client, ClientError, RemoteStatus, RemoteTask, StreamEvent};

/// Between the first two looks at a task that cannot be subscribed to; it doubles up to the longest delay.
const INITIAL_POLL_DELAY: Duration = Duration::from_millis(100);
/// An agent that does not number its events, and whose subscriptions bring nothing new so often in a row, is polled.
const MAX_IDLE_SUBSCRIPTIONS: u32 = 3;
/// How long events may follow a question, such as a part of an artifact, or the end of a wait for a credential.
const QUESTION_DELAY: Duration = Duration::from_secs(1);
/// The response to an answer may begin with the task as it was before the answer.
const OLD_QUESTION_DELAY: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub struct EventStream {
    client: Client,
    task: Option<TaskId>,
    /// The task that the stream is about, named by the caller or by the agent.
    expected: Option<TaskId>,
    /// The message answers a task that may ask something.
    is_answer: bool,
    /// The status that the message answers. A fetched task that still has it may be working all the same.
    answered: Option<Box<AnsweredStatus>>,
    /// An event was accepted.
    has_begun: bool,
    /// An event of another task was dropped.
    has_dropped: bool,
    last_id: Option<String>,
    source: EventSource,
    /// The message that the stream began with, until the first event.
    unanswered: Option<Box<SendMessage>>,
    phase: TaskPhase,
    /// The next event may be the task at the place of the cut, which the reader has seen.
    reconnected: bool,
    /// It was opened for a known task, and brought no event yet.
    is_subscription: bool,
    failures: u32,
    /// Connections in a row that ended soon, whatever they brought.
    short_connections: u32,
    /// Connections in a row that ended after nothing new.
    idle_connections: u32,
    /// The connection has brought something new.
    brought_news: bool,
    opened_at: Instant,
    poll_delay: Duration,
    /// The task as an agent without event ids showed it last, to tell what is new.
    known: Option<Box<RemoteTask>>,
    known_status: Option<Box<RemoteStatus>>,
    lost: LostEvents,
    looks: LookSchedule,
    /// Why the last connection ended.
    last_error: String,
}

#[derive(Debug)]
enum EventSource {
    Open(Box<OpenStream>),
    /// An event that came by itself; the task is fetched afterwards.
    First(Box<StreamEvent>),
    /// Between a cut and the next connection.
    Cut,
    /// The task as it was fetched last.
    Polled(Option<Box<RemoteTask>>),
    Over,
}

impl EventStream {
    pub(crate) fn new(
        client: Client,
        task: Option<TaskId>,
        last_id: Option<String>,
        open: OpenStream,
    ) -> Self {
        let source = EventSource::Open(Box::new(open));
        Self {
            is_subscription: task.is_some(),
            expected: task.clone(),
            task,
            last_id,
            ..Self::from_source(client, source)
        }
    }

    /// Begins with the response to a send. `answered` is the status that the message answers.
    pub(crate) fn with_first(client: Client, first: StreamEvent, answered: Option<RemoteStatus>) -> Self {
        let events = Self::from_source(client, EventSource::First(Box::new(first)));
        match answered {
            Some(status) => events.after_answer_to(status),
            None => events,
        }
    }

    /// Begins after a message whose stream never came.
    pub(crate) fn lost(client: Client, send: SendMessage) -> Self {
        Self::from_source(client, EventSource::Cut).answering(&send).repeating(send)
    }

    /// Begins with a task that was followed before.
    pub(crate) fn following(client: Client, task: TaskId, last_id: Option<String>) -> Self {
        let expected = Some(task.clone());
        Self { task: Some(task), expected, last_id, ..Self::from_source(client, EventSource::Cut) }
    }

    fn from_source(client: Client, source: EventSource) -> Self {
        Self {
            client,
            task: None,
            expected: None,
            is_answer: false,
            answered: None,
            has_begun: false,
            has_dropped: false,
            last_id: None,
            source,
            is_subscription: false,
            unanswered: None,
            phase: TaskPhase::Works,
            reconnected: false,
            failures: 0,
            short_connections: 0,
            idle_connections: 0,
            brought_news: false,
            opened_at: Instant::now(),
            poll_delay: INITIAL_POLL_DELAY,
            known: None,
            known_status: None,
            lost: LostEvents::default(),
            looks: LookSchedule::default(),
            last_error: "no response came".into(),
        }
    }

    /// The task has been sent an answer to the question of `status`, which it may still show.
    pub fn after_answer_to(mut self, status: RemoteStatus) -> Self {
        (self.is_answer, self.answered) = (true, AnsweredStatus::new(status).map(Box::new));
        self
    }

    /// The stream responds to a message, which may be one to a task.
    pub(crate) fn answering(mut self, send: &SendMessage) -> Self {
        self.expected.clone_from(&send.message.task);
        self.is_answer = self.expected.is_some();
        self
    }

    /// The message may be sent again until the first event, if the agent recognises it.
    pub(crate) fn repeating(mut self, send: SendMessage) -> Self {
        self.unanswered = self.client.recognises_messages().then(|| Box::new(send));
        self
    }

    /// The id of the last event that was handed out, to subscribe after.
    pub fn last_event_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// The agent gives no stream of the task any more, so the task is fetched from time to time.
    pub fn is_polling(&self) -> bool {
        matches!(self.source, EventSource::Polled(_))
    }

    /// Why the connection is lost, while the stream tries to get it back.
    pub fn lost_because(&self) -> Option<&str> {
        let is_lost = match self.source {
            EventSource::Cut => true,
            EventSource::Polled(_) => self.failures > 0,
            _ => false,
        };
        is_lost.then_some(self.last_error.as_str())
    }

    /// The next event; `None` once the task has settled. An error ends the stream.
    ///
    /// Cancel safe: an event that was not handed out comes next time.
    pub async fn next(&mut self) -> Option<Result<StreamEvent, ClientError>> {
        loop {
            match self.advance().await {
                Ok(Some(event)) => return Some(Ok(event)),
                Ok(None) if matches!(self.source, EventSource::Over) => return None,
                Ok(None) => {}
                Err(error) => {
                    self.source = EventSource::Over;
                    return Some(Err(error));
                }
            }
        }
    }

    /// Takes one step, which may give an event.
    async fn advance(&mut self) -> Result<Option<StreamEvent>, ClientError> {
        if self.lost.has_held() {
            return Ok(self.fetch_lost().await);
        }
        match &mut self.source {
            EventSource::Open(open) => match until_look(self.phase, self.looks.next(), open.next()).await {
                None if self.phase == TaskPhase::Works => {
                    self.look_at_task().await;
                    Ok(None)
                }
                None => {
                    self.source = EventSource::Over;
                    Ok(None)
                }
                Some(Ok(Some(received))) => self.take(received),
                Some(Ok(None)) => self.cut("it ended early".to_owned()),
                Some(Err(error)) if error.is_transient() || self.phase != TaskPhase::Works => {
                    self.cut(error.to_string())
                }
                // A refusal of the subscription, in the form of an event.
                Some(Err(error)) if self.is_subscription && error.is_refused_subscription() => {
                    self.source = EventSource::Polled(None);
                    Ok(None)
                }
                Some(Err(error)) => Err(error),
            },
            EventSource::First(_) => {
                let EventSource::First(first) =
                    std::mem::replace(&mut self.source, EventSource::Polled(None))
                else {
                    return Ok(None);
                };
                if let StreamEvent::Task(task) = &*first {
                    self.source = EventSource::Polled(Some(task.clone()));
                }
                let is_old = first.status().is_some_and(|status| self.was_answered(status));
                let event = self.take(ReceivedEvent { event: *first, id: None, follows_loss: false })?;
                if self.phase != TaskPhase::Works && !is_old {
                    self.source = EventSource::Over;
                }
                Ok(event)
            }
            EventSource::Cut => self.reconnect().await.map(|()| None),
            EventSource::Polled(_) => self.poll().await,
            EventSource::Over => Ok(None),
        }
    }

    /// Takes note of an event of this stream's task; `None` for one that the reader does not get.
    fn take(&mut self, received: ReceivedEvent) -> Result<Option<StreamEvent>, ClientError> {
        if let Some(named) = received.event.task_id() {
            match &self.expected {
                Some(expected) if expected != named && !self.has_begun => {
                    return Err(ClientError::other_task(named.as_str(), expected.as_str()));
                }
                Some(expected) if expected != named => {
                    if !std::mem::replace(&mut self.has_dropped, true) {
                        tracing::warn!(task = %expected, "an agent sends events of another task, which are dropped");
                    }
                    return Ok(None);
                }
                Some(_) => {}
                None => self.expected = Some(named.clone()),
            }
        }
        let event = self.accept(received);
        self.has_begun = true;
        let event = self.lost.hold(event);
        if self.phase == TaskPhase::Over && !self.lost.has_held() {
            self.source = EventSource::Over;
        }
        Ok(event)
    }

    /// The connection has ended.
    fn cut(&mut self, why: String) -> Result<Option<StreamEvent>, ClientError> {
        if self.phase != TaskPhase::Works {
            self.source = EventSource::Over;
            return Ok(None);
        }
        tracing::debug!(why, "a stream was cut");
        self.source = EventSource::Cut;
        match self.opened_at.elapsed() < MAX_RETRY_DELAY {
            true => self.short_connections += 1,
            false => self.short_connections = 0,
        }
        self.idle_connections = if self.brought_news { 0 } else { self.idle_connections + 1 };
        if self.task.is_none() && self.unanswered.is_none() {
            let why = format!(
                "before its first event ({why}); the message may have arrived, and is not sent again, because this agent \
                 would take it for another one"
            );
            return Err(ClientError::StreamLost { tries: 0, why });
        }
        self.last_error = why;
        Ok(None)
    }

    async fn reconnect(&mut self) -> Result<(), ClientError> {
        if self.failures >= self.client.options().max_retries {
            return self.last_look().await;
        }
        let is_idle = self.idle_connections >= MAX_IDLE_SUBSCRIPTIONS;
        if is_idle && self.last_id.is_none() && self.task.is_some() {
            self.failures = 0;
            self.source = EventSource::Polled(self.known.clone());
            return Ok(());
        }
        let delay = retry_delay(self.failures.max(self.short_connections.saturating_sub(1)));
        // Reset by the next new event only: a server may accept the call and cut it again.
        self.failures += 1;
        tokio::time::sleep(delay).await;
        let opened = match (&self.task, &self.unanswered) {
            (Some(task), _) => self.client.resubscribe(task, self.last_id.as_deref()).await,
            (None, Some(send)) => {
                let again = Operation::Stream(SendMessage::clone(send));
                let after = self.client.replays_events().then_some(BEGINNING);
                self.client.open_stream(&again, after).await
            }
            (None, None) => {
                Err(ClientError::StreamLost { tries: self.failures, why: self.last_error.clone() })
            }
        };
        match opened {
            Ok(open) => {
                self.source = EventSource::Open(Box::new(open));
                self.opened_at = Instant::now();
                self.brought_news = false;
                self.reconnected = true;
                self.is_subscription = self.task.is_some();
                let is_unnumbered = self.is_subscription && self.last_id.is_none();
                self.looks = if is_unnumbered { LookSchedule::begin() } else { LookSchedule::default() };
            }
            Err(error) if error.is_lost_connection() => self.last_error = error.to_string(),
            // It may have ended meanwhile, or the agent has no subscriptions.
            Err(error) if self.task.is_some() && error.is_refused_subscription() => {
                self.failures = 0;
                self.source = EventSource::Polled(None);
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// The stream does not come back, but the task may have ended, or can be fetched from now on.
    async fn last_look(&mut self) -> Result<(), ClientError> {
        let lost =
            ClientError::StreamLost { tries: self.failures, why: std::mem::take(&mut self.last_error) };
        let Some(task) = &self.task else { return Err(lost) };
        match self.client.get(task.as_str(), None).await {
            Ok(task) if task.status.is_terminal() || task.status.is_interrupted() => {
                self.source = EventSource::First(Box::new(StreamEvent::Task(Box::new(task))));
                Ok(())
            }
            Ok(_) => {
                self.failures = 0;
                self.source = EventSource::Polled(None);
                Ok(())
            }
            Err(_) => Err(lost),
        }
    }

    /// Fetches the task, and gives it if it has changed.
    async fn poll(&mut self) -> Result<Option<StreamEvent>, ClientError> {
        let EventSource::Polled(known) = &self.source else { return Ok(None) };
        let Some(id) = self.task.clone() else {
            self.source = EventSource::Over;
            return Ok(None);
        };
        if known.is_some() {
            tokio::time::sleep(jittered(self.poll_delay)).await;
            self.poll_delay = self.poll_delay.saturating_mul(2).min(MAX_RETRY_DELAY);
        }
        let task = match self.client.get(id.as_str(), None).await {
            Ok(task) => Box::new(task),
            Err(error) if error.is_lost_connection() => return self.wait_for_connection(error).await,
            Err(error) => return Err(error),
        };
        self.failures = 0;
        let is_new = known.as_ref() != Some(&task);
        // A new time alone is no reason to ask more often.
        if known.as_ref().is_none_or(|known| !is_same_task(known, &task)) {
            self.poll_delay = INITIAL_POLL_DELAY;
            if let Some(answered) = &mut self.answered {
                answered.wait_on();
            }
        }
        let settled =
            task.status.is_terminal() || (task.status.is_interrupted() && !self.was_answered(&task.status));
        self.source = if settled { EventSource::Over } else { EventSource::Polled(Some(task.clone())) };
        Ok(is_new.then_some(StreamEvent::Task(task)))
    }

    /// Waits before the task is fetched again, as after a cut.
    async fn wait_for_connection(&mut self, error: ClientError) -> Result<Option<StreamEvent>, ClientError> {
        self.last_error = error.to_string();
        if self.failures >= self.client.options().max_retries {
            let why = std::mem::take(&mut self.last_error);
            return Err(ClientError::StreamLost { tries: self.failures, why });
        }
        let delay = retry_delay(self.failures);
        self.failures += 1;
        tokio::time::sleep(delay).await;
        Ok(None)
    }

    /// Whether this is still the status that the message of this stream answers.
    fn was_answered(&self, status: &RemoteStatus) -> bool {
        self.answered.as_deref().is_some_and(|answered| answered.is_still(status))
    }

    /// Takes note of an event; `None` if the reader has seen it.
    fn accept(&mut self, received: ReceivedEvent) -> Option<StreamEvent> {
        let ReceivedEvent { event, id, follows_loss } = received;
        let reconnected = std::mem::take(&mut self.reconnected);
        let has_new_id = id.is_some() && id != self.last_id;
        let is_repeated = match &id {
            Some(_) => reconnected && !has_new_id,
            None => self.is_known(&event),
        };
        let has_id = id.is_some();
        self.lost.note(&event, (reconnected && !has_id) || follows_loss);
        if has_id {
            self.last_id = id;
        }
        self.unanswered = None;
        self.is_subscription = false;
        self.looks = LookSchedule::default();
        if self.task.is_none() {
            self.task = event.task_id().cloned();
        }
        if let Some(status) = event.status() {
            self.phase = self.phase_after(&event, status);
            self.known_status = (!has_id).then(|| Box::new(status.clone()));
        }
        if let StreamEvent::Task(task) = &event {
            self.known = (!has_id).then(|| task.clone());
        }
        if matches!(event, StreamEvent::Message(_)) {
            self.phase = TaskPhase::Over;
        }
        if has_new_id {
            self.short_connections = 0;
        }
        if !is_repeated {
            self.failures = 0;
            self.brought_news = true;
        }
        // What a subscription begins with.
        if reconnected && is_repeated && matches!(event, StreamEvent::Task(_)) {
            return None;
        }
        Some(event)
    }

    fn phase_after(&self, event: &StreamEvent, status: &RemoteStatus) -> TaskPhase {
        let is_final = matches!(event, StreamEvent::StatusUpdate(update) if update.is_final);
        if status.is_terminal() || (is_final && status.state.is_none()) {
            return TaskPhase::Over;
        }
        if !status.is_interrupted() {
            return TaskPhase::Works;
        }
        let may_be_old = self.is_answer && !self.has_begun && matches!(event, StreamEvent::Task(_));
        let delay = if may_be_old { OLD_QUESTION_DELAY } else { QUESTION_DELAY };
        let until = Instant::now() + delay;
        match self.phase {
            // More of the question leaves no more time.
            TaskPhase::Asks { until: earlier } => TaskPhase::Asks { until: until.min(earlier) },
            _ => TaskPhase::Asks { until },
        }
    }
}

/// The cursor before the first event, with which an agent takes a message for one that it has received.
const BEGINNING: &str = "0";
