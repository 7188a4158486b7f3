//! How long the history of one task may become. A task that runs away fills no disk: people are warned in time, and then
//! its turn ends. In a session, which only a cancel ends, each turn has the whole length.

use std::sync::Arc;

use attache_domain::default_limits as limits;
use attache_domain::{
    CallOutcome, CallPhase, CallProgress, Content, Fact, FinishedCall, Message, MessageId, Progress,
    RecordedLength, TaskEnding,
};
use serde_json::{Map, Value};

/// Where a task ends, or a turn of a session. Both count everything that was ever recorded of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryLimits {
    pub events: u64,
    /// About the bytes in the log.
    pub bytes: u64,
}

impl Default for HistoryLimits {
    fn default() -> Self {
        Self { events: limits::MAX_TASK_EVENTS as u64, bytes: (limits::MAX_TASK_MEGABYTES as u64) << 20 }
    }
}

/// How much of a limit may be used before people are warned.
const WARNING_AT: f64 = 0.8;

impl HistoryLimits {
    /// Nothing is recorded any more but how the turn ends.
    pub(crate) fn is_reached(&self, progress: &Progress) -> bool {
        let RecordedLength { events, bytes } = recorded(progress);
        events >= self.events || bytes >= self.bytes
    }

    pub(crate) fn is_near(&self, progress: &Progress) -> bool {
        let near = |used: u64, limit: u64| used as f64 >= limit as f64 * WARNING_AT;
        let RecordedLength { events, bytes } = recorded(progress);
        near(events, self.events) || near(bytes, self.bytes)
    }

    pub(crate) fn warning(&self, progress: &Progress) -> Fact {
        let what = self.description();
        let text = match is_session(progress) {
            true => format!(
                "This turn has nearly reached the longest history that a turn may have ({what}). It ends there."
            ),
            false => format!(
                "This task has nearly reached the longest history that a task may have ({what}). It ends there: finish here, \
                 or go on in a new task of the same conversation."
            ),
        };
        let id = MessageId::from(format!("history-{}-{}", progress.head, progress.task));
        let message = Message::from_agent(id, progress.context.clone(), Some(progress.task.clone()), text);
        Fact::Noticed { message: Arc::new(message) }
    }

    /// The last message of a task, or of a turn, that has reached them.
    pub(crate) fn limit_message(&self, progress: &Progress) -> Message {
        let what = self.description();
        let text = match is_session(progress) {
            true => format!(
                "This turn has reached the longest history that a turn may have ({what}), so it ends here. What was done stays \
                 as it is. The session takes the next message."
            ),
            false => format!(
                "This task has reached the longest history that a task may have ({what}), so it ends here. What was done stays \
                 as it is. Start a new task in the same conversation to go on."
            ),
        };
        let id = MessageId::from(format!("history-limit-{}-{}", progress.turn.number, progress.task));
        let message = Message::from_agent(id, progress.context.clone(), Some(progress.task.clone()), text);
        let metadata = Map::from_iter([("reason".to_owned(), Value::from("history_limit"))]);
        Message { metadata: Some(metadata), ..message }
    }

    fn description(&self) -> String {
        format!("{} events or {} MB", self.events, self.bytes >> 20)
    }
}

fn is_session(progress: &Progress) -> bool {
    progress.ending == TaskEnding::Session
}

/// What counts towards the limits.
fn recorded(progress: &Progress) -> RecordedLength {
    let before = if is_session(progress) { progress.before_turn } else { RecordedLength::default() };
    RecordedLength {
        events: progress.head.0.saturating_sub(before.events),
        bytes: progress.bytes.saturating_sub(before.bytes),
    }
}

/// A turn ends, and begins to end, whatever the length.
pub(crate) fn ends_turn(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::TurnStarted { .. }
            | Fact::TurnEnded { .. }
            | Fact::PromptSettled { .. }
            | Fact::PromptTaken { .. }
            | Fact::TextEnded
            | Fact::CallFinished(_)
            | Fact::TaskCanceled
            | Fact::Replied { .. }
    )
}

/// The ends of all calls that are open: what runs of them is stopped with the turn.
pub(crate) fn stopped_calls(progress: &Progress) -> Vec<Fact> {
    let open = progress.work.calls.iter().filter(|call| call.phase != CallPhase::Finished);
    open.map(stopped).collect()
}

fn stopped(call: &CallProgress) -> Fact {
    let (outcome, text) = match call.phase == CallPhase::Started || call.lost {
        true => (
            CallOutcome::Unknown,
            "It was stopped because the longest history that it may have was reached. It is not known how far it came.",
        ),
        false => (
            CallOutcome::Canceled,
            "[Operation Cancelled] The task has reached the longest history that it may have.",
        ),
    };
    Fact::CallFinished(Box::new(FinishedCall {
        call: call.id.clone(),
        outcome,
        output: vec![Content::Text(text.into())],
        summary: text.into(),
        diff: None,
    }))
}
