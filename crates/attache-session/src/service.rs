//! The session service: the only way to read and change tasks.

use std::sync::Arc;
use std::time::Duration;

use attache_domain::{
    Cursor, Fault, GetTask, Message, ReplyShape, Right, Scope, SendMessage, Seq, TaskId, TaskKey, TaskView,
    TurnPhase,
};
use attache_store::{StoreError, StoreStatus, Stores};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::abandoned_calls::AbandonedCalls;
use crate::activity::Activity;
use crate::context_queues::ContextQueues;
use crate::finished_tasks::{FinishedTasks, RenderedTask};
use crate::identity::{Identity, digest};
use crate::live_task::{LiveTask, RecordError};
use crate::options::SessionOptions;
use crate::outbox::Outbox;
use crate::prompt_stream::turn_of;
use crate::reserved_tasks::ReservedTasks;
use crate::runner::Runner;
use crate::store_health::{StoreFault, store_fault};
use crate::subscription::Subscription;
use crate::task_cache::TaskCache;
use crate::watcher::Watcher;
use crate::{Agent, Counters, Follower, media, replay};

/// A monitor that asks how things are waits no longer than this for the store to be read.
const READ_TIMEOUT: Duration = Duration::from_secs(2);

pub struct SessionService {
    pub(crate) stores: Stores,
    pub(crate) agent: Arc<dyn Agent>,
    pub(crate) options: SessionOptions,
    pub(crate) identity: Identity,
    pub(crate) task_cache: Arc<TaskCache>,
    pub(crate) abandoned_calls: AbandonedCalls,
    finished: FinishedTasks,
    contexts: Arc<ContextQueues>,
    /// Notified whenever a reserved task is opened.
    pub(crate) promises: Arc<Notify>,
    pub(crate) reserved_tasks: Arc<ReservedTasks>,
    pub(crate) activity: Activity,
    pub(crate) counters: Arc<Counters>,
    pub(crate) outbox: Option<Arc<Outbox>>,
    runners: TaskTracker,
    pub(crate) stop: CancellationToken,
}

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("the store cannot be used")]
    Store(#[from] StoreError),
}

/// What a send came to: the answer for a caller who waited, or the task as it was when it was accepted.
pub enum SendReply {
    Task(Arc<TaskView>),
    Message(Arc<Message>),
}

/// A message was accepted; its task is being worked on.
pub struct StartedTask {
    pub(crate) live: Arc<LiveTask>,
    /// The task right after the message was accepted.
    pub view: Arc<TaskView>,
    /// The caller gets a bare message back, not a task.
    pub bare: bool,
    /// So many of the last events that `view` shows came with the message. A stream shows them to its sender.
    pub(crate) shown_again: u64,
    /// So many of the last events came with the message; none if it came before.
    pub(crate) recorded: u64,
}

impl SessionService {
    /// Starts the service and resumes every task that was at work when the server last stopped.
    pub async fn start(
        stores: Stores,
        agent: Arc<dyn Agent>,
        options: SessionOptions,
    ) -> Result<Arc<Self>, StartError> {
        let identity = Identity::load(stores.records.as_ref(), stores.log.status().past_changed).await?;
        let (task_cache, counters): (Arc<TaskCache>, Arc<Counters>) = Default::default();
        let outbox = match options.push.clone() {
            Some(push) => Some(Outbox::start(push, &stores, task_cache.clone(), counters.clone()).await?),
            None => None,
        };
        let (runners, stop) = (TaskTracker::new(), CancellationToken::new());
        let abandoned_calls = AbandonedCalls {
            agent: agent.clone(),
            index: stores.index.clone(),
            records: stores.records.clone(),
            tracker: runners.clone(),
            stop: stop.clone(),
            pending: watch::Sender::new(0),
        };
        let session = Arc::new(Self {
            stores,
            agent,
            options,
            identity,
            task_cache,
            abandoned_calls,
            finished: FinishedTasks::default(),
            contexts: Arc::default(),
            promises: Arc::default(),
            reserved_tasks: Arc::default(),
            activity: Activity::default(),
            counters,
            outbox,
            runners,
            stop,
        });
        session.load_reserved().await?;
        session.tell_left_peers().await;
        for key in session.stores.index.unfinished().await? {
            match session.live_task(&key).await {
                Ok(Some(live)) => {
                    session.counters.task_recovered();
                    session.run(&live);
                }
                Ok(None) => {}
                Err(error @ StoreError::Corrupt { .. }) => session.counters.quarantine.add(&key, &error),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(session)
    }

    /// Stops the runners and waits for what they have reported to be written. Unfinished tasks stay
    /// unfinished in the log; the next start takes them up.
    pub async fn shutdown(&self) {
        self.stop.cancel();
        self.runners.close();
        self.runners.wait().await;
        if let Some(outbox) = &self.outbox {
            outbox.shutdown().await;
        }
    }

    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// How many tasks there are, of all callers; or why the store cannot be used.
    pub async fn health(&self) -> Result<u64, StoreFault> {
        if let Some(fault) = self.probe_store().await {
            return Err(fault);
        }
        let counted = tokio::time::timeout(READ_TIMEOUT, self.stores.index.counts()).await;
        Ok(counted.map_err(|_| StoreFault::Slow)?.map_err(|_| StoreFault::Unreadable)?.total)
    }

    /// Why the store cannot be written now; tries to write if nothing was tried lately.
    pub async fn probe_store(&self) -> Option<StoreFault> {
        self.counters.store.probe(self.stores.records.as_ref()).await
    }

    /// What the store has found out about itself.
    pub fn store_status(&self) -> StoreStatus {
        self.stores.log.status()
    }

    /// Accepts a message: opens a task, continues one, or recognises a message that came before.
    pub async fn begin(&self, scope: &Scope, send: SendMessage) -> Result<StartedTask, Fault> {
        if self.stop.is_cancelled() {
            return Err(Fault::Unavailable);
        }
        let rights = send.options.rights;
        rights.require_to_send(send.answers.has_data())?;
        rights.check_settings(send.message.requested.as_deref())?;
        if let Some(request) = &send.configuration.push {
            rights.require(Right::Prompt)?;
            self.outbox()?.check(request).await?;
        }
        media::check_input(&send.message.parts, &self.options.input_modes)?;
        media::check_output(&send.configuration.accepted_output_modes, &self.options.output_modes)?;
        self.check_message(scope, &send.message).await?;
        let (started, guard) = match send.message.task.clone() {
            Some(task) => self.receive(scope, task, send).await?,
            None => self.open(scope, send).await?,
        };
        self.activity.announce(&started.live.key, started.before());
        self.run(&started.live);
        drop(guard);
        Ok(started)
    }

    /// Waits until the task of `started` is over or waits for input.
    pub async fn settle(&self, started: StartedTask) -> Result<SendReply, Fault> {
        let watcher = Watcher::new(started.live);
        tokio::select! {
            biased;
            () = watcher.wait_until(|state| state.view.progress.is_settled()) => {}
            () = self.stop.cancelled() => return Err(Fault::Unavailable),
        }
        let view = watcher.task().view();
        if !started.bare {
            return Ok(SendReply::Task(view));
        }
        let nothing =
            || Fault::InvalidAgentResponse { what: "it ended without the message it announced".into() };
        view.replied.clone().map(SendReply::Message).ok_or_else(nothing)
    }

    /// Send: begin, then either answer at once or wait for the task to settle.
    pub async fn send(&self, scope: &Scope, send: SendMessage) -> Result<SendReply, Fault> {
        let at_once = send.configuration.return_immediately;
        let started = self.begin(scope, send).await?;
        if at_once && !started.bare {
            return Ok(SendReply::Task(started.view));
        }
        self.settle(started).await
    }

    /// Everything that happens after the message of `started` was accepted.
    pub fn follow(&self, started: StartedTask) -> Subscription {
        let view = started.view.clone();
        let follower = follower_of(started, &view);
        Subscription { view, follower, gap: None, at_rest: false, promised: None, opening: None }
    }

    /// Stream: begin, then everything that happens after the message was accepted.
    ///
    /// `after` is where a caller who sends the same message again was cut off.
    pub async fn stream(
        &self,
        scope: &Scope,
        mut send: SendMessage,
        after: Option<&Cursor>,
    ) -> Result<(Subscription, bool), Fault> {
        send.options.resumes = after.is_some();
        let (message, digest) = (send.message.id.clone(), digest(&send.message));
        let started = self.begin(scope, send).await?;
        // A cursor of another log says nothing: the caller sees everything.
        let after = after.and_then(|after| self.number_of(after));
        let (mut view, bare) = (started.view.clone(), started.bare);
        let turn = turn_of(&view, &message, Some(&digest));
        if let Some(after) = after.filter(|after| started.recorded == 0 || *after > view.progress.head) {
            view = self.as_of(&started.live, after).await?;
            // The client has seen nothing of this message yet.
            if view.progress.turn.number < turn
                && let Some(place) = self.before_prompt(&started.live, &view, (&message, turn)).await?
            {
                view = self.as_of(&started.live, place.next()).await?;
            }
        }
        let shown_again = if after.is_none() { started.shown_again } else { 0 };
        // What happens after the turn belongs to other messages.
        let is_past = view.progress.turn.number > turn;
        let follower =
            if is_past { None } else { follower_of(StartedTask { shown_again, ..started }, &view) };
        let opening = None;
        Ok((Subscription { view, follower, gap: None, at_rest: false, promised: None, opening }, bare))
    }

    pub async fn get(&self, scope: &Scope, get: &GetTask) -> Result<Arc<RenderedTask>, Fault> {
        if let Some(at) = &get.at {
            return self.seen_at(scope, get, at).await;
        }
        let key = TaskKey { scope: scope.clone(), task: get.task.clone() };
        let mut seen = self.rendered_task(&key).await.map_err(internal)?;
        if seen.is_none() {
            seen = self.reserved_view(&key).await?.map(|view| RenderedTask::new(Arc::new(view)));
        }
        seen.filter(|seen| seen.view.progress.reply == ReplyShape::Task)
            .ok_or_else(|| Fault::TaskNotFound { task: get.task.clone() })
    }

    /// The task, if this caller may see it. Hidden and foreign tasks do not exist.
    pub(crate) async fn visible(&self, scope: &Scope, task: &TaskId) -> Result<Arc<LiveTask>, Fault> {
        let key = TaskKey { scope: scope.clone(), task: task.clone() };
        let live = self.readable(&key).await?;
        live.filter(|live| live.with_progress(|progress| progress.reply == ReplyShape::Task))
            .ok_or_else(|| Fault::TaskNotFound { task: task.clone() })
    }

    /// Tasks for reading only, in this order. Those that are not in memory are read in one go.
    pub(crate) async fn views(&self, keys: Vec<TaskKey>) -> Result<Vec<Arc<TaskView>>, StoreError> {
        let mut views: Vec<_> =
            keys.iter().map(|key| self.task_cache.find(key).map(|live| live.view())).collect();
        let missing: Vec<_> = (0..keys.len()).filter(|index| views[*index].is_none()).collect();
        let asked: Vec<_> = missing.iter().map(|index| keys[*index].clone()).collect();
        let read = replay::views(self.stores.log.as_ref(), &self.counters.quarantine, &asked).await?;
        for (index, mut view) in missing.into_iter().zip(read) {
            if view.is_none() && self.reserved_tasks.contains(&keys[index]) {
                view = self.reserved_view(&keys[index]).await.ok().flatten();
            }
            views[index] = view.map(Arc::new);
        }
        Ok(views.into_iter().flatten().collect())
    }

    /// The task for reading only. One that is not in memory is read, and kept only if it cannot change any more.
    async fn rendered_task(&self, key: &TaskKey) -> Result<Option<Arc<RenderedTask>>, StoreError> {
        if let Some(seen) = self.finished.find(key) {
            return Ok(Some(seen));
        }
        let view = match self.task_cache.find(key) {
            Some(live) => live.view_with_store_notice(),
            None => match replay::view(self.stores.log.as_ref(), key).await {
                Ok(Some(view)) => Arc::new(view),
                Ok(None) => return Ok(None),
                Err(error @ StoreError::Corrupt { .. }) => {
                    return Ok(Some(RenderedTask::new(Arc::new(self.failed_view(key, &error).await))));
                }
                Err(error) => return Err(error),
            },
        };
        let seen = RenderedTask::new(view);
        self.finished.insert(&seen);
        Ok(Some(seen))
    }

    /// The task in memory, read from the log if need be.
    pub(crate) async fn live_task(&self, key: &TaskKey) -> Result<Option<Arc<LiveTask>>, StoreError> {
        self.task_cache.load(&self.stores.log, &self.counters, key).await
    }

    pub(crate) fn insert_live(&self, view: TaskView) -> Arc<LiveTask> {
        LiveTask::new(self.stores.log.clone(), self.counters.clone(), view)
    }

    /// Starts a runner if there is work.
    pub(crate) fn run(&self, live: &Arc<LiveTask>) {
        if self.stop.is_cancelled() || !live.start_running() {
            return;
        }
        let view = live.view();
        let line_up = || self.contexts.enqueue(&live.key.scope, &view.context);
        let waiting = self.agent.keeps_conversation(&view).then(line_up);
        drop(view);
        let runner = Runner {
            live: live.clone(),
            agent: self.agent.clone(),
            index: self.stores.index.clone(),
            abandoned_calls: self.abandoned_calls.clone(),
            contexts: self.contexts.clone(),
            counters: self.counters.clone(),
            history: self.options.history,
            stop: self.stop.clone(),
        };
        let (task_cache, outbox) = (self.task_cache.clone(), self.outbox.clone());
        self.runners.spawn(async move {
            runner.run(waiting).await;
            task_cache.mark_at_rest(&runner.live);
            if let Some(outbox) = outbox {
                outbox.task_rested(&runner.live.key);
            }
        });
    }
}

impl StartedTask {
    /// The place before the message.
    pub(crate) fn before(&self) -> Seq {
        Seq(self.view.progress.head.0.saturating_sub(self.recorded))
    }
}

/// Follows the task of a message that was accepted, unless there is nothing to wait for: the message came before and the
/// task is at rest.
fn follower_of(started: StartedTask, view: &TaskView) -> Option<Follower> {
    let progress = &view.progress;
    let at_rest = !started.bare && (progress.turn.phase == TurnPhase::Over || progress.waits_for_person());
    match started.shown_again {
        0 => (!at_rest).then(|| Follower::new(started.live, view)),
        count => Some(Follower::before_last(started.live, view, count)),
    }
}

pub(crate) fn record_fault(error: RecordError) -> Fault {
    match error {
        RecordError::Refused(fault) => fault,
        RecordError::Store(error) => internal(error),
    }
}

pub(crate) fn internal(error: StoreError) -> Fault {
    store_fault(&error)
}
