//! The journal in which the agent records the facts of its turn.
//!
//! Facts are collected while an append is in flight and go together in the next one (idle: no delay; busy: larger
//! batches). Only pieces of an answer may be delayed (`flush_timer`). Each fact is decided when it is recorded, on a copy
//! of the task's progress that includes the pending facts.

use std::sync::{Arc, Mutex, MutexGuard};

use attache_domain::{Event, Fact, IgnorePoison, Intent, Progress, Seq, Step, TaskSummary, TaskView};
use tokio::sync::Notify;

use crate::agent::{CurrentTask, TurnStopped};
use crate::answer_message::AnswerMessage;
use crate::history::{HistoryLimits, ends_turn};
use crate::live_task::{Batch, number};

/// With more pending facts than this the agent waits for the store.
const MAX_PENDING: usize = 64;
/// So many pieces of an answer are written without delay.
const FLUSH_AT_PIECES: usize = 32;

pub struct Journal {
    state: Mutex<State>,
    room: Notify,
    written: Notify,
}

struct State {
    /// The progress of the task once all pending facts are written.
    ahead: Progress,
    pending: Vec<Arc<Event>>,
    /// A pending fact must not be delayed, or `flush` waits for it.
    urgent: bool,
    /// A batch is being written.
    writing: bool,
    /// Counts the facts that the agent has recorded, those that the latest batch reached, and those that are durable.
    recorded: u64,
    taken: u64,
    durable: u64,
    stopped: bool,
    history: HistoryLimits,
    /// The history has reached its limit: only facts that end the turn are accepted.
    full: bool,
    answer: AnswerMessage,
}

impl Journal {
    /// Begins after `view`.
    pub(crate) fn new(view: &TaskView, history: HistoryLimits) -> Self {
        let state = State {
            ahead: view.progress.clone(),
            pending: Vec::new(),
            urgent: false,
            writing: false,
            recorded: 0,
            taken: 0,
            durable: 0,
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

    /// Records a fact. Waits only while too many facts are pending.
    pub async fn record(&self, fact: Fact) -> Result<(), TurnStopped> {
        loop {
            {
                let mut state = self.state();
                if state.stopped {
                    return Err(TurnStopped);
                }
                if state.pending.len() < MAX_PENDING {
                    let fact = state.complete(fact);
                    return state.push_within_limits(fact);
                }
            }
            self.room.notified().await;
        }
    }

    /// Records a fact that ends the turn, however many are pending.
    pub(crate) fn record_last(&self, fact: Fact) {
        let mut state = self.state();
        if !state.stopped {
            let fact = state.complete(fact);
            let _ = state.push(fact);
        }
    }

    /// Waits until everything recorded is durable. The task then also shows what others appended before. What they append
    /// later shows at the next record, which is decided again or stops this turn.
    ///
    /// What is recorded meanwhile is not waited for, so calls that show much do not hold up one that saves something.
    pub async fn flush(&self) -> Result<(), TurnStopped> {
        let recorded = self.state().recorded;
        loop {
            let written = self.written.notified();
            {
                let mut state = self.state();
                if state.stopped {
                    return Err(TurnStopped);
                }
                if state.durable >= recorded {
                    return Ok(());
                }
                state.urgent = true;
            }
            written.await;
        }
    }

    /// Waits until the answers and cancels that clients have recorded about calls count here, too.
    pub async fn catch_up(&self, task: &CurrentTask) -> Result<(), TurnStopped> {
        loop {
            let written = self.written.notified();
            {
                let mut state = self.state();
                if state.stopped {
                    return Err(TurnStopped);
                }
                let recorded = task.interventions();
                if state.ahead.work.interventions == recorded {
                    return Ok(());
                }
                if state.pending.is_empty() && !state.writing {
                    state.ahead = task.view().progress.clone();
                    return Ok(());
                }
                // What is written now conflicts with what the clients recorded, and is decided again.
                state.urgent = true;
            }
            written.await;
        }
    }

    /// Calls `look` with the progress of the task once everything recorded is written.
    pub fn with_progress<T>(&self, look: impl FnOnce(&Progress) -> T) -> T {
        look(&self.state().ahead)
    }

    /// A fact was refused because the history has reached its limit.
    pub(crate) fn is_full(&self) -> bool {
        self.state().full
    }

    /// The batch that was taken is durable.
    pub(crate) fn flushed(&self) {
        let mut state = self.state();
        (state.writing, state.durable) = (false, state.taken);
        drop(state);
        self.written.notify_waiters();
    }

    /// The end of the turn is not recorded yet.
    pub(crate) fn turn_is_open(&self) -> bool {
        let state = self.state();
        !state.stopped && matches!(state.ahead.next(), Some(Step::ContinueTurn { .. }))
    }

    /// A few pieces of an answer are pending, and nothing else.
    pub(crate) fn may_delay(&self) -> bool {
        let state = self.state();
        !state.urgent && (1..FLUSH_AT_PIECES).contains(&state.pending.len())
    }

    /// Takes the pending facts.
    pub(crate) fn take(&self) -> Option<Batch> {
        let mut state = self.state();
        let first = state.pending.first()?.seq;
        let events = std::mem::take(&mut state.pending);
        let ends_in_piece = events.last().is_some_and(|event| is_piece(&event.fact));
        (state.urgent, state.writing, state.taken) = (false, true, state.recorded);
        let summary = TaskSummary::of(&state.ahead);
        drop(state);
        if events.len() >= MAX_PENDING {
            self.room.notify_one();
        }
        Some(Batch { expected: Seq(first.0 - 1), events, summary, ends_in_piece })
    }

    /// Others appended first: decides the facts of the `lost` batch and the pending ones again, after `progress`.
    /// False if one of them is refused now. The facts before it stay, and the turn stops.
    pub(crate) fn rebase(&self, progress: Progress, lost: &[Arc<Event>]) -> bool {
        let mut state = self.state();
        let pending = std::mem::take(&mut state.pending);
        state.ahead = progress;
        state.writing = false;
        for event in lost.iter().chain(&pending) {
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

    /// Facts that end the turn are always accepted, others only below the limit of the history.
    fn push_within_limits(&mut self, fact: Fact) -> Result<(), TurnStopped> {
        if self.history.is_reached(&self.ahead) && !ends_turn(&fact) {
            self.full = true;
            return Err(TurnStopped);
        }
        // Every turn that starts near the limit gets a warning: a person's message may have led there.
        let was_near = self.history.is_near(&self.ahead) && !matches!(fact, Fact::TurnStarted { .. });
        self.push(fact)?;
        if !was_near && self.history.is_near(&self.ahead) {
            // A turn that has just ended takes no warning.
            let _ = self.push(self.history.warning(&self.ahead));
        }
        Ok(())
    }

    fn push(&mut self, fact: Fact) -> Result<(), TurnStopped> {
        match self.ahead.decide(Intent::Record(fact)) {
            Ok(facts) => {
                self.recorded += u64::from(!facts.is_empty());
                self.urgent |= facts.iter().any(|fact| !may_be_delayed(fact));
                number(&mut self.ahead, facts, &mut self.pending);
                Ok(())
            }
            Err(fault) => {
                tracing::debug!(task = %self.ahead.task, %fault, "a fact was recorded too late");
                Err(TurnStopped)
            }
        }
    }
}

/// More pieces usually follow at once.
fn may_be_delayed(fact: &Fact) -> bool {
    matches!(fact, Fact::ModelResponded { .. }) || is_piece(fact)
}

/// A piece of an answer or of a thought.
fn is_piece(fact: &Fact) -> bool {
    matches!(fact, Fact::TextSaid { .. } | Fact::ThoughtShared { .. })
}
