//! What an agent reports its turn to.
//!
//! Nothing is written at once: facts gather while an append is on its way and go together in the next
//! (idle: no delay; busy: larger batches). Only what others will follow anyway may have to wait for them (`pacing`).
//! Each fact is decided on when it is reported, on a copy of the task's progress that runs ahead of the log.

use std::sync::{Arc, Mutex, MutexGuard};

use attache_domain::{
    Event, Fact, IgnorePoison, Intent, Progress, Seq, Step, TaskState, TaskSummary, TaskView,
};
use tokio::sync::Notify;

use crate::TurnStopped;
use crate::answer_message::AnswerMessage;
use crate::flush_timer::FlushDelay;
use crate::history::{HistoryLimits, ends_turn};
use crate::live_task::{Batch, number};

/// Facts that may gather before the agent has to wait for the store.
const MAX_PENDING: usize = 64;
/// Pieces of an answer that need no more company.
const FLUSH_AT_PIECES: usize = 32;

pub struct Journal {
    state: Mutex<State>,
    room: Notify,
    written: Notify,
}

struct State {
    /// How far the task is once everything gathered is written.
    ahead: Progress,
    gathered: Vec<Arc<Event>>,
    /// Something has gathered that must not wait, or somebody waits for what has.
    urgent: bool,
    /// Pieces of an answer are among what has gathered.
    pieces: bool,
    /// A batch is on its way to the store.
    writing: bool,
    stopped: bool,
    history: HistoryLimits,
    /// The history has become so long that only the end of the turn is recorded any more.
    full: bool,
    answer: AnswerMessage,
}

impl Journal {
    /// Begins after `view`.
    pub(crate) fn new(view: &TaskView, history: HistoryLimits) -> Self {
        let state = State {
            ahead: view.progress.clone(),
            gathered: Vec::new(),
            urgent: false,
            pieces: false,
            writing: false,
            stopped: false,
            history,
            full: false,
            answer: AnswerMessage::of(view),
        };
        Self { state: Mutex::new(state), room: Notify::new(), written: Notify::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().ignore_poison()
    }

    /// Reports a fact. Waits only when the store is far behind. [`TurnStopped`]: the turn is not yours any more.
    pub async fn record(&self, fact: Fact) -> Result<(), TurnStopped> {
        loop {
            {
                let mut state = self.state();
                if state.stopped {
                    return Err(TurnStopped);
                }
                if state.gathered.len() < MAX_PENDING {
                    let fact = state.complete(fact);
                    return state.push_within_limits(fact);
                }
            }
            self.room.notified().await;
        }
    }

    /// Reports the last fact of the turn, however many have gathered.
    pub(crate) fn record_last(&self, fact: Fact) {
        let mut state = self.state();
        if !state.stopped {
            let fact = state.complete(fact);
            let _ = state.push(fact);
        }
    }

    /// Waits until everything reported is durable. What others did before that is known then; what they do while nothing
    /// is reported shows at the next report, which is decided again or ends this performance of the turn.
    pub async fn flush(&self) -> Result<(), TurnStopped> {
        loop {
            let written = self.written.notified();
            {
                let mut state = self.state();
                if state.stopped {
                    return Err(TurnStopped);
                }
                if state.gathered.is_empty() && !state.writing {
                    return Ok(());
                }
                state.urgent = true;
            }
            written.await;
        }
    }

    /// How far the task is once everything reported is written.
    pub fn with_progress<T>(&self, look: impl FnOnce(&Progress) -> T) -> T {
        look(&self.state().ahead)
    }

    /// Everything reported is durable, but for the start of the turn, if that.
    pub fn lacks_at_most_the_start(&self) -> bool {
        let state = self.state();
        let is_start = |event: &Arc<Event>| matches!(event.fact, Fact::TurnStarted { .. });
        !state.writing && !state.stopped && state.gathered.iter().all(is_start)
    }

    /// The history has become too long for what the agent wanted to record.
    pub(crate) fn is_full(&self) -> bool {
        self.state().full
    }

    /// The batch that was taken is durable.
    pub(crate) fn flushed(&self) {
        self.state().writing = false;
        self.written.notify_waiters();
    }

    /// Nothing of this turn has been recorded as its end yet.
    pub(crate) fn turn_is_open(&self) -> bool {
        let state = self.state();
        !state.stopped && matches!(state.ahead.next(), Some(Step::ContinueTurn { .. }))
    }

    pub(crate) fn flush_delay(&self) -> FlushDelay {
        let state = self.state();
        if state.urgent || !(1..FLUSH_AT_PIECES).contains(&state.gathered.len()) {
            return FlushDelay::None;
        }
        if state.pieces { FlushDelay::ForPieces } else { FlushDelay::ForFollowers }
    }

    /// Takes what has gathered.
    pub(crate) fn take(&self) -> Option<Batch> {
        let mut state = self.state();
        let first = state.gathered.first()?.seq;
        let events = std::mem::take(&mut state.gathered);
        let ends_in_piece = events.last().is_some_and(|event| is_piece(&event.fact));
        (state.urgent, state.pieces) = (false, false);
        state.writing = true;
        let summary = TaskSummary::of(&state.ahead);
        drop(state);
        if events.len() >= MAX_PENDING {
            self.room.notify_one();
        }
        Some(Batch { expected: Seq(first.0 - 1), events, summary, ends_in_piece })
    }

    /// Others appended first: decides `lost` and what has gathered since again, after what is new.
    /// False: what is new leaves no place for some of them; those before stay, and the turn is done with.
    pub(crate) fn rebase(&self, progress: Progress, lost: &[Arc<Event>]) -> bool {
        let mut state = self.state();
        let gathered = std::mem::take(&mut state.gathered);
        state.ahead = progress;
        state.writing = false;
        for event in lost.iter().chain(&gathered) {
            if state.push(event.fact.clone()).is_err() {
                state.stopped = true;
                break;
            }
        }
        let goes_on = !state.stopped;
        drop(state);
        self.written.notify_waiters();
        goes_on
    }
}

impl State {
    fn complete(&mut self, fact: Fact) -> Fact {
        self.answer.complete(fact, &self.ahead)
    }

    /// What ends the turn always fits; everything else only while the history is not too long.
    fn push_within_limits(&mut self, fact: Fact) -> Result<(), TurnStopped> {
        if self.history.is_reached(&self.ahead) && !ends_turn(&fact) {
            self.full = true;
            return Err(TurnStopped);
        }
        // Every turn that begins near the end is told so, too: a person's message may have led there.
        let was_near = self.history.is_near(&self.ahead) && !matches!(fact, Fact::TurnStarted { .. });
        self.push(fact)?;
        if !was_near && self.history.is_near(&self.ahead) {
            // A turn that has just ended has no place for it.
            let _ = self.push(self.history.warning(&self.ahead));
        }
        Ok(())
    }

    fn push(&mut self, fact: Fact) -> Result<(), TurnStopped> {
        let shown = self.ahead.state;
        match self.ahead.decide(Intent::Record(fact)) {
            Ok(facts) => {
                self.urgent |= facts.iter().any(|fact| !may_be_delayed(fact, shown));
                self.pieces |= facts.iter().any(is_piece);
                number(&mut self.ahead, facts, &mut self.gathered);
                Ok(())
            }
            Err(fault) => {
                tracing::debug!(task = %self.ahead.task, %fault, "a report came too late");
                Err(TurnStopped)
            }
        }
    }
}

/// Something else follows at once, as a rule. Whoever needs such a fact to be durable says so by waiting for it.
///
/// A task that was `shown` to wait for somebody must not seem to wait on: whoever has just answered would answer again.
fn may_be_delayed(fact: &Fact, shown: TaskState) -> bool {
    match fact {
        Fact::TurnStarted { .. } => shown == TaskState::Submitted,
        Fact::ModelResponded { .. }
        | Fact::ModelAnswered(_)
        | Fact::CallProposed(_)
        | Fact::CallStarted { .. }
        | Fact::CallFinished(_) => true,
        other => is_piece(other),
    }
}

/// Says a little more of what is being said, and nothing else.
fn is_piece(fact: &Fact) -> bool {
    matches!(fact, Fact::TextSaid { .. } | Fact::ThoughtShared { .. })
}
