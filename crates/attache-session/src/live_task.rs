//! A task in memory: its view, its tail, and the one way to add to its log.
//!
//! Appends are optimistic: decide on what is known, append at the expected place, and on a conflict read
//! what is new and decide again. So no lock is held across an await, and another process that writes the
//! same log is no special case.

use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Waker;

use attache_domain::{
    Event, Facts, Fault, IgnorePoison, Intent, Message, Progress, Seq, Step, TaskKey, TaskSummary, TaskView,
    Timestamp, TurnPhase,
};
use attache_store::{Append, EventLog, StoreError};
use tokio::sync::Notify;

use crate::Counters;
use crate::quarantine::Quarantine;
use crate::replay::{self, PAGE};
use crate::store_health::StoreFault;
use crate::tail::{Tail, TailEntry};
use crate::watcher::Wakers;
use crate::weight::weight_of_view;

pub(crate) struct LiveTask {
    pub(crate) key: TaskKey,
    log: Arc<dyn EventLog>,
    counters: Arc<Counters>,
    state: Mutex<LiveTaskState>,
    /// Wakes the runner for what others appended.
    pub(crate) runner_wakeup: Notify,
    /// Wakes the turn for answers and cancels of clients about its calls.
    pub(crate) intervened: Notify,
}

pub(crate) struct LiveTaskState {
    pub(crate) view: Arc<TaskView>,
    pub(crate) tail: Tail,
    /// Carry wake-ups only: events are in the tail.
    pub(crate) wakers: Wakers,
    running: bool,
    /// A cancel was asked for and is not recorded yet.
    cancel_requested: bool,
    /// The turn that a client wants to be stopped.
    stopping_turn: Option<u32>,
    /// The latest try to record something about the task failed because of the store.
    pub(crate) store_failed: bool,
    at_rest: bool,
    snapshot_at: Seq,
}

/// Decided events and where they go.
pub(crate) struct Batch {
    pub(crate) expected: Seq,
    pub(crate) events: Vec<Arc<Event>>,
    /// The listing row once they are written.
    pub(crate) summary: TaskSummary,
    /// The last of them is a piece of an answer: others may follow at once.
    pub(crate) ends_in_piece: bool,
}

/// Why nothing was recorded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecordError {
    #[error(transparent)]
    Refused(#[from] Fault),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl LiveTask {
    pub(crate) fn new(log: Arc<dyn EventLog>, counters: Arc<Counters>, view: TaskView) -> Arc<Self> {
        Arc::new(Self {
            key: view.key(),
            log,
            counters,
            runner_wakeup: Notify::new(),
            intervened: Notify::new(),
            state: Mutex::new(LiveTaskState {
                view: Arc::new(view),
                wakers: Wakers::default(),
                tail: Tail::default(),
                running: false,
                cancel_requested: false,
                stopping_turn: None,
                store_failed: false,
                at_rest: false,
                snapshot_at: Seq::START,
            }),
        })
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, LiveTaskState> {
        self.state.lock().ignore_poison()
    }

    pub(crate) fn view(&self) -> Arc<TaskView> {
        self.state().view.clone()
    }

    pub(crate) fn progress(&self) -> Progress {
        self.state().view.progress.clone()
    }

    /// Looks at the progress without copying it.
    pub(crate) fn with_progress<T>(&self, look: impl FnOnce(&Progress) -> T) -> T {
        look(&self.state().view.progress)
    }

    pub(crate) fn opening_message(&self) -> Option<Arc<Message>> {
        let state = self.state();
        let opening = state.view.progress.received.first()?;
        state.view.history.first().filter(|first| first.id == opening.id).cloned()
    }

    pub(crate) fn log(&self) -> &Arc<dyn EventLog> {
        &self.log
    }

    pub(crate) fn store_fault(&self) -> Option<StoreFault> {
        self.counters.store_fault()
    }

    pub(crate) fn quarantine(&self) -> &Quarantine {
        &self.counters.quarantine
    }

    /// Decides `intent`, records the facts, and returns the new task and the number of facts, which are its last.
    pub(crate) async fn record(&self, intent: Intent) -> Result<(Arc<TaskView>, u64), RecordError> {
        loop {
            let (mut progress, facts) = {
                let state = self.state();
                let facts = state.view.decide(intent.clone())?;
                if facts.is_empty() {
                    return Ok((state.view.clone(), 0));
                }
                (state.view.progress.clone(), facts)
            };
            let expected = progress.head;
            let mut events = Vec::with_capacity(facts.len());
            number(&mut progress, facts, &mut events);
            let summary = TaskSummary::of(&progress);
            let count = events.len() as u64;
            let batch = Batch { expected, events, summary, ends_in_piece: false };
            match self.append(&batch).await {
                Ok(view) => {
                    self.runner_wakeup.notify_one();
                    return Ok((view, count));
                }
                Err(StoreError::Conflict { .. }) => self.catch_up().await?,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Makes a batch durable, then shows it.
    pub(crate) async fn append(&self, batch: &Batch) -> Result<Arc<TaskView>, StoreError> {
        let Batch { expected, events, summary, .. } = batch;
        let (key, summary) = (self.key.clone(), summary.clone());
        let append = Append { key, expected: *expected, events: events.clone(), summary };
        let pending_write = self.counters.store.write_started();
        let appended = self.log.append(append).await;
        drop(pending_write);
        self.counters.store.write_ended(&appended);
        appended?;
        Ok(self.fold(events))
    }

    /// Folds in what others have appended to the log.
    pub(crate) async fn catch_up(&self) -> Result<(), StoreError> {
        loop {
            let head = self.with_progress(|progress| progress.head);
            let events = self.log.read(&self.key, head, PAGE).await?;
            if events.is_empty() {
                return Ok(());
            }
            self.fold(&events);
        }
    }

    /// Folds in the events that were appended since; true if `batch` is among them.
    pub(crate) async fn catch_up_with(&self, batch: &Batch) -> Result<bool, StoreError> {
        let found = self.log.read(&self.key, batch.expected, batch.events.len()).await?;
        self.catch_up().await?;
        let is_there = found.len() >= batch.events.len();
        Ok(is_there && found.iter().zip(&batch.events).all(|(found, event)| found == event))
    }

    /// Shows durable events: folds them in, keeps them in the tail, wakes the readers.
    fn fold(&self, events: &[Arc<Event>]) -> Arc<TaskView> {
        let mut guard = self.state();
        let LiveTaskState { view, tail, wakers, cancel_requested: cancel_wanted, store_failed, .. } =
            &mut *guard;
        let mut woken = Vec::new();
        let interventions = view.progress.work.interventions;
        for event in events {
            if event.seq != view.progress.head.next() {
                continue; // Another reader of the log was quicker.
            }
            let stage = view.progress.update_context();
            Arc::make_mut(view).apply(event);
            self.counters.appended(&event.fact);
            tail.push(Arc::new(TailEntry::new(event.clone(), stage, view.call_records.clone())));
        }
        *store_failed = false;
        *cancel_wanted &= !view.progress.state.is_terminal();
        let view = view.clone();
        wakers.take(&mut woken);
        drop(guard);
        if view.progress.work.interventions != interventions {
            self.intervened.notify_waiters();
        }
        woken.into_iter().for_each(Waker::wake);
        view
    }

    /// Marks the task as running; false if there is nothing to do or it is running already.
    pub(crate) fn start_running(&self) -> bool {
        let mut state = self.state();
        if state.running || state.next().is_none() {
            return false;
        }
        state.running = true;
        true
    }

    /// The next step. `None` also marks the task as idle under the same lock, so that no request is lost.
    pub(crate) fn next_or_rest(&self) -> Option<Step> {
        let mut state = self.state();
        let step = state.next();
        state.running = step.is_some();
        step
    }

    /// `at` is the last event, and no runner is about to add another.
    pub(crate) fn rests_at(&self, at: Seq) -> bool {
        let state = self.state();
        !state.running && state.view.progress.head == at && state.next().is_none()
    }

    /// Has the task canceled by its runner: the work stops at once, and this is recorded as soon as it can be.
    pub(crate) fn request_cancel(&self) -> Result<(), Fault> {
        let mut state = self.state();
        state.view.progress.decide(Intent::Cancel)?;
        state.cancel_requested = true;
        drop(state);
        self.runner_wakeup.notify_one();
        Ok(())
    }

    pub(crate) fn is_running(&self) -> bool {
        self.state().running
    }

    /// Has the running turn stopped by its runner; `None` if there is none. Returns the number of the turn.
    pub(crate) fn request_stop(&self) -> Option<u32> {
        let mut state = self.state();
        let turn = state.view.progress.turn;
        if turn.phase == TurnPhase::Over {
            return None;
        }
        state.stopping_turn = Some(turn.number);
        drop(state);
        self.runner_wakeup.notify_one();
        Some(turn.number)
    }

    /// The work on the turn has to end: the task is cancelled, or a client stops the turn.
    pub(crate) fn is_stop_requested(&self) -> bool {
        let state = self.state();
        let progress = &state.view.progress;
        state.cancel_requested || progress.cancel_requested || state.stops_turn()
    }

    /// Wakes readers: the task could not be recorded.
    pub(crate) fn store_failed(&self) {
        let mut woken = Vec::new();
        let mut state = self.state();
        state.store_failed = true;
        state.wakers.take(&mut woken);
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }

    pub(crate) fn stop_running(&self) {
        self.state().running = false;
    }

    /// The task, when a snapshot of it is due. Ever rarer, so that all of them together cost less than the log.
    pub(crate) fn due_snapshot(&self) -> Option<(Seq, Arc<TaskView>)> {
        const FIRST: u64 = 2048;
        const RARER: u64 = 4;
        let mut state = self.state();
        let head = state.view.progress.head;
        if head.0 < FIRST.max(state.snapshot_at.0 * RARER) {
            return None;
        }
        state.snapshot_at = head;
        Some((head, state.view.clone()))
    }

    /// True for the first call only: the caller then adds the task to those at rest.
    pub(crate) fn mark_at_rest(&self) -> bool {
        !std::mem::replace(&mut self.state().at_rest, true)
    }

    /// About how much memory the task takes.
    pub(crate) fn weight(&self) -> usize {
        let state = self.state();
        state.tail.bytes() + weight_of_view(&state.view)
    }

    pub(crate) async fn view_at(&self, at: Seq) -> Result<Option<TaskView>, StoreError> {
        replay::view_at(self.log.as_ref(), &self.key, at).await
    }
}

impl LiveTaskState {
    /// A cancel counts from when it was asked for.
    fn next(&self) -> Option<Step> {
        let progress = &self.view.progress;
        if self.cancel_requested && !progress.state.is_terminal() {
            return Some(Step::Cancel);
        }
        if self.stops_turn() && !progress.cancel_requested {
            return Some(Step::StopTurn { turn: progress.turn.number });
        }
        progress.next()
    }

    fn stops_turn(&self) -> bool {
        let turn = &self.view.progress.turn;
        turn.phase != TurnPhase::Over && self.stopping_turn == Some(turn.number)
    }

    /// Entries after `after` into `found`; false when the tail does not reach back that far.
    pub(crate) fn tail_after(&self, after: Seq, limit: usize, found: &mut Vec<Arc<TailEntry>>) -> bool {
        after >= self.view.progress.head || self.tail.after(after, limit, found)
    }
}

/// Gives facts their place and time after `progress`, folds them in, and adds them to `events`.
pub(crate) fn number(progress: &mut Progress, facts: Facts, events: &mut Vec<Arc<Event>>) {
    let at = now();
    for fact in facts {
        let event = Event { seq: progress.head.next(), at, fact };
        progress.apply(&event);
        events.push(Arc::new(event));
    }
}

/// The current time with the precision that is stored.
pub(crate) fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
}
