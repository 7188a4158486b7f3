//! Works on one task until it rests: read, run the next step, record, repeat.
//!
//! One runner owns a running task. A restart is the same loop on a view folded from the log.

use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use attache_domain::{Fact, Intent, Message, MessageId, Step, TurnOutcome};
use attache_store::{Snapshot, StoreError, TaskIndex};
use futures_util::FutureExt;
use futures_util::future::poll_fn;
use tokio_util::sync::CancellationToken;

use crate::abandoned_calls::{AbandonedCalls, UnfinishedCalls};
use crate::context_queues::{ContextPermit, ContextPermitFuture, ContextQueues};
use crate::flush_timer::FlushTimer;
use crate::history::{HistoryLimits, stopped_calls};
use crate::live_task::{Batch, LiveTask, RecordError};
use crate::store_retry::StoreRetry;
use crate::{Agent, Counters, Journal, TurnRequest};

pub(crate) struct Runner {
    pub(crate) live: Arc<LiveTask>,
    pub(crate) agent: Arc<dyn Agent>,
    pub(crate) index: Arc<dyn TaskIndex>,
    pub(crate) abandoned_calls: AbandonedCalls,
    pub(crate) contexts: Arc<ContextQueues>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) history: HistoryLimits,
    pub(crate) stop: CancellationToken,
}

impl Runner {
    /// Returns when the task is at rest, or when the server stops.
    ///
    /// `waiting` is the position in the queue that was taken when there was work.
    pub(crate) async fn run(&self, mut waiting: Option<ContextPermitFuture>) {
        self.counters.runner_started();
        while let Some(step) = self.live.next_or_rest() {
            if self.stop.is_cancelled() {
                self.live.stop_running();
                break;
            }
            let start = match step {
                Step::Cancel => {
                    self.cancel().await;
                    continue;
                }
                Step::StopTurn { turn } => {
                    self.stop_turn(turn).await;
                    continue;
                }
                Step::StartTurn { turn } => Some(turn),
                Step::ContinueTurn { .. } => None,
            };
            match self.wait_for_turn(&mut waiting).await {
                TurnEntry::Shared => self.run_turn(start).await,
                TurnEntry::Exclusive(place) => {
                    self.run_turn(start).await;
                    drop(place);
                }
                TurnEntry::Changed => {}
            }
        }
        self.counters.runner_rested();
    }

    /// Waits for the other turns of the conversation, unless something happens to the task meanwhile.
    async fn wait_for_turn(&self, waiting: &mut Option<ContextPermitFuture>) -> TurnEntry {
        if !self.agent.keeps_conversation(&self.live.view()) {
            return TurnEntry::Shared;
        }
        let line_up = || {
            let context = self.live.with_progress(|progress| progress.context.clone());
            self.contexts.enqueue(&self.live.key.scope, &context)
        };
        // The position is kept when the task changes in between.
        let place = waiting.get_or_insert_with(line_up);
        tokio::select! {
            biased;
            place = place => {
                *waiting = None;
                place.map_or(TurnEntry::Changed, TurnEntry::Exclusive)
            }
            () = self.live.runner_wakeup.notified() => TurnEntry::Changed,
            () = self.stop.cancelled() => TurnEntry::Changed,
        }
    }

    fn turn_started(&self, turn: u32) -> Fact {
        Fact::TurnStarted { turn, model: self.agent.model(&self.live.view()) }
    }

    /// Lets the agent run the turn, and writes the recorded facts meanwhile.
    async fn run_turn(&self, start: Option<u32>) {
        let journal = Journal::new(&self.live.view(), self.history);
        if let Some(turn) = start
            && journal.record(self.turn_started(turn)).await.is_err()
        {
            return;
        }
        let request = TurnRequest::new(self.live.clone(), self.index.clone());
        let mut work = pin!(Some(AssertUnwindSafe(self.agent.run_turn(request, &journal)).catch_unwind()));
        // Waiting for these is set up once, not at every event.
        let mut poked = pin!(self.live.runner_wakeup.notified());
        let mut stopped = pin!(self.stop.cancelled());
        let mut working = !self.live.is_stop_requested();
        let mut writing = pin!(None);
        let mut flush_timer = FlushTimer::default();
        loop {
            // The order matters: the agent goes first, so that everything it has to say goes in one append.
            let wake = tokio::select! {
                biased;
                result = poll_fn(|context| match work.as_mut().as_pin_mut() {
                    Some(work) => work.poll(context),
                    None => Poll::Pending,
                }), if working => Wake::AgentDone(result.is_err()),
                lost = poll_fn(|context| {
                    let write = |batch| self.write(batch);
                    Self::poll_writing(&journal, writing.as_mut(), &mut flush_timer, write, working, context)
                }) => {
                    Wake::Written(lost)
                }
                () = &mut poked, if working => Wake::TaskChanged,
                () = &mut stopped, if working => Wake::Stop,
            };
            match wake {
                Wake::AgentDone(panicked) => {
                    working = false;
                    if panicked {
                        tracing::error!(task = %self.live.key.task, "the agent panicked");
                    }
                    self.close_turn(&journal);
                }
                Wake::Written(None) => return,
                Wake::Written(Some(lost)) => {
                    self.catch_up().await;
                    working &= journal.rebase(self.live.progress(), &lost.events);
                }
                Wake::TaskChanged => {
                    poked.set(self.live.runner_wakeup.notified());
                    working = !self.live.is_stop_requested();
                }
                Wake::Stop => working = false,
            }
            if !working {
                // What the agent does ends here, also when what it has reported cannot be written yet.
                work.set(None);
            }
        }
    }

    /// Writes what gathers, one append after the other. Ready with a batch that lost its place to others,
    /// or with nothing when all is written and the agent is done, or when the server stops and it cannot be written.
    fn poll_writing<W: Future<Output = WriteResult>>(
        journal: &Journal,
        mut writing: Pin<&mut Option<W>>,
        flush_timer: &mut FlushTimer,
        write: impl Fn(Batch) -> W,
        working: bool,
        context: &mut Context<'_>,
    ) -> Poll<Option<Batch>> {
        loop {
            if let Some(write) = writing.as_mut().as_pin_mut() {
                let written = ready!(write.poll(context));
                writing.set(None);
                match written {
                    WriteResult::Done { ends_in_piece } => {
                        flush_timer.wrote(ends_in_piece);
                        journal.flushed();
                    }
                    WriteResult::Conflict(batch) => return Poll::Ready(Some(batch)),
                    WriteResult::Stopped => return Poll::Ready(None),
                }
            }
            if working {
                ready!(flush_timer.poll_due(journal, context));
            }
            match journal.take() {
                Some(batch) => writing.set(Some(write(batch))),
                None if working => return Poll::Pending,
                None => return Poll::Ready(None),
            }
        }
    }

    /// An agent that returns without ending its turn has failed, or was not allowed to record more.
    fn close_turn(&self, journal: &Journal) {
        if !journal.turn_is_open() {
            return;
        }
        let message = if journal.is_full() {
            for stopped in journal.with_progress(stopped_calls) {
                journal.record_last(stopped);
            }
            journal.with_progress(|progress| self.history.limit_message(progress))
        } else {
            self.failure("The agent stopped unexpectedly.")
        };
        let message = Some(message.into());
        journal.record_last(Fact::TurnEnded { outcome: TurnOutcome::Failed, message, usage: None });
    }

    fn failure(&self, text: &str) -> Message {
        self.live.with_progress(|progress| {
            let id = MessageId::from(format!("failure-{}-{}", progress.turn.number, progress.task));
            Message::from_agent(id, progress.context.clone(), Some(progress.task.clone()), text)
        })
    }

    /// Appends, and tries again for as long as the store is only not available.
    async fn write(&self, batch: Batch) -> WriteResult {
        let mut retry = StoreRetry::of(self);
        loop {
            let error = match self.live.append(&batch).await {
                Ok(_) => {
                    self.keep_snapshot().await;
                    return WriteResult::Done { ends_in_piece: batch.ends_in_piece };
                }
                Err(StoreError::Conflict { .. }) if !retry.has_failed() => {
                    return WriteResult::Conflict(batch);
                }
                // A try that failed may have been written all the same: then it is not written again.
                Err(StoreError::Conflict { .. }) => match self.live.catch_up_with(&batch).await {
                    Ok(true) => return WriteResult::Done { ends_in_piece: batch.ends_in_piece },
                    Ok(false) => return WriteResult::Conflict(batch),
                    Err(error) => error,
                },
                Err(error) => error,
            };
            if retry.wait(&error).await.is_err() {
                return WriteResult::Stopped;
            }
        }
    }

    async fn catch_up(&self) {
        let mut retry = StoreRetry::of(self);
        while let Err(error) = self.live.catch_up().await {
            if retry.wait(&error).await.is_err() {
                return;
            }
        }
    }

    /// The request to cancel is recorded first: after a crash in between, the next start continues with it.
    async fn cancel(&self) {
        let open = UnfinishedCalls::of(&self.live);
        self.record(Intent::Cancel).await;
        self.record_changes().await;
        self.end_calls(open, Intent::Record(Fact::TaskCanceled)).await;
    }

    async fn stop_turn(&self, turn: u32) {
        let open = UnfinishedCalls::of(&self.live);
        self.record_changes().await;
        self.end_calls(open, Intent::StopTurn { turn }).await;
    }

    /// Records `end`, with which the open calls are over, and tells their peers. After a crash in between, the next start does.
    async fn end_calls(&self, open: Option<UnfinishedCalls>, end: Intent) {
        let _pending = open.is_some().then(|| self.abandoned_calls.begin());
        if let Some(open) = &open {
            self.abandoned_calls.remember(open).await;
        }
        self.record(end).await;
        if let Some(open) = open {
            self.abandoned_calls.notify(open).await;
        }
    }

    /// What the turn under way has changed so far.
    async fn record_changes(&self) {
        let request = TurnRequest::new(self.live.clone(), self.index.clone());
        if let Some(artifact) = self.agent.changes(request).await.map(Box::new) {
            self.record(Intent::Record(Fact::ArtifactAdded { artifact, append: false, last: true })).await;
        }
    }

    async fn record(&self, intent: Intent) {
        let mut retry = StoreRetry::of(self);
        while let Err(RecordError::Store(error)) = self.live.record(intent.clone()).await {
            if retry.wait(&error).await.is_err() {
                return;
            }
        }
    }

    async fn keep_snapshot(&self) {
        let Some((at, view)) = self.live.due_snapshot() else { return };
        let Ok(bytes) = serde_json::to_vec(&*view) else { return };
        drop(view);
        if let Err(error) = self.live.log().save_snapshot(&self.live.key, Snapshot { at, bytes }).await {
            tracing::warn!(task = %self.live.key.task, error = %chain(&error), "cannot keep a snapshot");
        }
    }
}

/// How a turn may begin.
enum TurnEntry {
    Shared,
    Exclusive(ContextPermit),
    /// Not yet: the task has changed while it waited.
    Changed,
}

enum Wake {
    AgentDone(bool),
    /// A batch that must be decided again, or nothing when the turn is over here.
    Written(Option<Batch>),
    TaskChanged,
    Stop,
}

enum WriteResult {
    /// It is durable.
    Done {
        ends_in_piece: bool,
    },
    Conflict(Batch),
    /// It is not, and the server stops.
    Stopped,
}

/// An error with what caused it, on one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}
