//! Follows the events of the remote task.

use std::time::Duration;

use attache_client::{Client, EventStream, RemoteStatus, StreamEvent};
use attache_tool::{CallEnd, ToolError, failpoint};
use tokio::time::{Instant, timeout_at};

use super::{AgentCall, Source, usable};
use crate::agent_output::News;
use crate::saved_call::{MAX_ID, Phase};
use crate::shown_words::TextKind;

/// An agent that says nothing new for so long is given up.
const MAX_SILENCE: Duration = Duration::from_secs(30 * 60);
/// The longest time that an agent may work on one message. The time in which a person answers does not count.
const MAX_DURATION: Duration = Duration::from_secs(6 * 60 * 60);
/// Bytes of text and files that an agent may send for one message. Most of them are not kept.
const MAX_RECEIVED: usize = 1 << 30;
/// Some agents keep the stream open while they wait for an answer. After this time the person is asked.
const QUESTION_DELAY: Duration = Duration::from_secs(2);
/// How often the place in the stream is saved.
const SAVE_INTERVAL: Duration = Duration::from_secs(2);
/// A person reads about a connection that is lost for so long. It is looked at so often.
const LOST_DELAY: Duration = Duration::from_secs(5);
/// How often an agent may change the ids of its task or context during a run. Each change is saved.
const MAX_ID_CHANGES: u32 = 8;

/// How long the run waits for the agent.
struct WaitLimits {
    ends_at: Instant,
    silent_since: Instant,
    /// When the task began to wait for an answer.
    waiting_since: Option<Instant>,
    /// The latest event, without its time.
    last: Option<StreamEvent>,
    received_before: usize,
}

/// Why the run does not wait any longer.
enum WaitEnd {
    Question,
    Silence,
    Duration,
}

impl WaitLimits {
    fn new(received: usize) -> Self {
        let now = Instant::now();
        Self {
            ends_at: now + MAX_DURATION,
            silent_since: now,
            waiting_since: None,
            last: None,
            received_before: received,
        }
    }

    fn next(&self) -> (Instant, WaitEnd) {
        let silence = self.silent_since + MAX_SILENCE;
        match self.waiting_since {
            Some(since) => (since + QUESTION_DELAY, WaitEnd::Question),
            None if silence < self.ends_at => (silence, WaitEnd::Silence),
            None => (self.ends_at, WaitEnd::Duration),
        }
    }

    /// Takes note of an event. False if it tells nothing but a new time. `is_settled_later`: the stream ends by itself if the
    /// task waits for an answer.
    fn take(&mut self, event: &StreamEvent, is_settled_later: bool) -> bool {
        if let Some(status) = event.status() {
            let is_waiting = status.is_interrupted() && !is_settled_later;
            self.waiting_since = is_waiting.then(|| self.waiting_since.unwrap_or_else(Instant::now));
        }
        let event = without_time(event);
        let is_news = event.is_none() || event != self.last;
        if is_news {
            (self.last, self.silent_since) = (event, Instant::now());
        }
        is_news
    }
}

/// What is compared with the event after it. A message and a piece of an artifact are always news.
fn without_time(event: &StreamEvent) -> Option<StreamEvent> {
    let mut event = match event {
        StreamEvent::Task(_) | StreamEvent::StatusUpdate(_) => event.clone(),
        StreamEvent::Message(_) | StreamEvent::ArtifactUpdate(_) => return None,
    };
    match &mut event {
        StreamEvent::Task(task) => task.status.timestamp = None,
        StreamEvent::StatusUpdate(update) => update.status.timestamp = None,
        StreamEvent::Message(_) | StreamEvent::ArtifactUpdate(_) => {}
    }
    Some(event)
}

impl AgentCall<'_> {
    /// Reads events until the task settles.
    pub(super) async fn follow(
        &mut self,
        client: &Client,
        mut events: EventStream,
    ) -> Result<CallEnd, ToolError> {
        let mut status: Option<RemoteStatus> = None;
        let mut limits = WaitLimits::new(self.output.received());
        let mut look_at = Some(Instant::now() + LOST_DELAY);
        loop {
            let (until, expired) = limits.next();
            let wakes_at = look_at.map_or(until, |at| at.min(until));
            // A flood of events leaves no time in which a timer could fire.
            let next = match Instant::now() < wakes_at {
                true => timeout_at(wakes_at, events.next()).await.ok(),
                false => None,
            };
            if next.is_none() && wakes_at < until {
                let is_lost = events.lost_because().is_some();
                if is_lost {
                    self.show_unreachable();
                }
                look_at = (!is_lost).then(|| Instant::now() + LOST_DELAY);
                continue;
            }
            let Some(next) = next else {
                let why = match expired {
                    WaitEnd::Question => return self.settle(client, status).await,
                    WaitEnd::Silence => format!("it said nothing new for {}", minutes(MAX_SILENCE)),
                    WaitEnd::Duration => format!("it was not done after {}", minutes(MAX_DURATION)),
                };
                return Err(self.stopped(client, &why).await);
            };
            match next {
                None => return self.settle(client, status).await,
                Some(Err(error)) if self.saved.phase == Phase::Sending => {
                    match self.failed_send(client, error).await? {
                        Source::Events(others) => events = others,
                        Source::Ended(end) => return Ok(end),
                    }
                }
                Some(Err(error)) => {
                    // Otherwise the agent would go on for nothing.
                    self.cancel_task(client).await;
                    return Err(self.call_failure(&error).await);
                }
                Some(Ok(event)) => {
                    look_at = Some(Instant::now() + LOST_DELAY);
                    let is_settled_later = events.is_polling() || self.shows_answered_question(&event);
                    let is_news = limits.take(&event, is_settled_later);
                    self.take(client, &event, is_news, events.last_event_id()).await?;
                    status = event.status().cloned().or(status);
                    if self.output.received() - limits.received_before > MAX_RECEIVED {
                        let why = format!("it sent more than {} MiB", MAX_RECEIVED >> 20);
                        return Err(self.stopped(client, &why).await);
                    }
                }
            }
        }
    }

    /// The task as it was before the answer that it has got.
    fn shows_answered_question(&self, event: &StreamEvent) -> bool {
        let was_answered = self.saved.sent > 0 && self.saved.asked_in.is_some();
        was_answered && matches!(event, StreamEvent::Task(task) if self.saved.is_asked_in(&task.status))
    }

    /// A person reads the question where it can be answered, and not in the live output as well.
    fn without_question<'t>(&self, event: &StreamEvent, new: &'t str) -> &'t str {
        let status = event.status().filter(|status| self.attended && status.is_interrupted());
        let question = status.and_then(|status| status.message.as_ref()).map(|it| self.output.words(it));
        question.and_then(|question| new.strip_suffix(question.as_str())).unwrap_or(new)
    }

    /// Cancels the remote task; the call fails.
    async fn stopped(&mut self, client: &Client, why: &str) -> ToolError {
        self.cancel_task(client).await;
        self.failure(&format!("{why} and was told to stop")).await
    }

    /// Notes the ids in an event, and shows what is new in it.
    async fn take(
        &mut self,
        client: &Client,
        event: &StreamEvent,
        is_news: bool,
        cursor: Option<&str>,
    ) -> Result<(), ToolError> {
        let before = (self.saved.phase, self.saved.task.clone(), self.saved.context.clone());
        if let Some(task) = event.task_id().map(|task| task.as_str()).and_then(usable) {
            (self.saved.task, self.saved.phase) = (Some(task.to_owned()), Phase::Following);
            self.saved.answer = None;
        }
        if let Some(context) = context_of(event).and_then(usable) {
            self.saved.context = Some(context.to_owned());
        }
        if cursor.is_some_and(|cursor| cursor.len() <= MAX_ID) {
            self.saved.cursor = cursor.map(str::to_owned);
        }
        let is_new = before != (self.saved.phase, self.saved.task.clone(), self.saved.context.clone());
        if is_new && self.saved.phase == Phase::Following {
            self.id_changes += 1;
            if self.id_changes > MAX_ID_CHANGES {
                self.cancel_task(client).await;
                return Err(self.failure("it names another task or context again and again").await);
            }
            self.keep_continuity(None).await?;
            self.save().await?;
            failpoint::reach("delegation-task-saved");
            self.in_flight.send_replace(false);
        } else if self.saved.cursor.is_some() && self.saved_at.elapsed() > SAVE_INTERVAL {
            self.save().await?;
        }
        self.has_whole_task = matches!(event, StreamEvent::Task(task) if task.status.is_terminal());
        let mut news = if is_news { self.output.add(event) } else { News::default() };
        news.words.truncate(self.without_question(event, &news.words).len());
        let news = self.replay.unshown(event, cursor, news);
        self.show(TextKind::Artifact, &news.artifacts).await?;
        self.show(TextKind::Words, &news.words).await
    }
}

fn context_of(event: &StreamEvent) -> Option<&str> {
    match event {
        StreamEvent::Task(task) => Some(task.context.as_str()),
        StreamEvent::StatusUpdate(update) => Some(update.context.as_str()),
        StreamEvent::ArtifactUpdate(update) => Some(update.context.as_str()),
        StreamEvent::Message(message) => message.context.as_ref().map(|context| context.as_str()),
    }
}

fn minutes(time: Duration) -> String {
    format!("{} minutes", time.as_secs() / 60)
}

#[cfg(test)]
mod tests {
    use attache_client::{StatusUpdate, TaskState};
    use attache_domain::{ContextId, TaskId};

    use super::*;

    fn status(state: TaskState, time: &str) -> StreamEvent {
        let (state, timestamp) = (Some(state), Some(time.to_owned()));
        StreamEvent::StatusUpdate(Box::new(StatusUpdate {
            task: TaskId::from("t"),
            context: ContextId::from("c"),
            status: RemoteStatus { state, message: None, timestamp },
            is_final: false,
            metadata: None,
        }))
    }

    async fn pass(time: Duration) {
        tokio::time::advance(time).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_new_time_alone_does_not_end_the_silence() {
        let begun = Instant::now();
        let mut limits = WaitLimits::new(0);
        assert!(limits.take(&status(TaskState::Working, "one"), false));
        pass(Duration::from_secs(60)).await;
        assert!(!limits.take(&status(TaskState::Working, "two"), false));
        let (until, expired) = limits.next();
        assert!(until == begun + MAX_SILENCE && matches!(expired, WaitEnd::Silence));
        assert!(limits.take(&status(TaskState::Submitted, "two"), false));
        assert_eq!(limits.next().0, begun + Duration::from_secs(60) + MAX_SILENCE);
    }

    #[tokio::test(start_paused = true)]
    async fn an_agent_that_talks_without_end_is_given_up() {
        let begun = Instant::now();
        let mut limits = WaitLimits::new(0);
        for minute in 0..359 {
            pass(Duration::from_secs(60)).await;
            let state = if minute % 2 == 0 { TaskState::Working } else { TaskState::Submitted };
            assert!(limits.take(&status(state, ""), false));
        }
        let (until, expired) = limits.next();
        assert!(until == begun + MAX_DURATION && matches!(expired, WaitEnd::Duration));
    }

    #[tokio::test(start_paused = true)]
    async fn events_do_not_put_off_a_question() {
        let mut limits = WaitLimits::new(0);
        limits.take(&status(TaskState::InputRequired, "one"), false);
        let asked = Instant::now() + QUESTION_DELAY;
        pass(Duration::from_secs(1)).await;
        limits.take(&status(TaskState::AuthRequired, "two"), false);
        let (until, expired) = limits.next();
        assert!(until == asked && matches!(expired, WaitEnd::Question));
        limits.take(&status(TaskState::Working, "three"), false);
        assert!(matches!(limits.next().1, WaitEnd::Silence));
    }
}
