//! The one door: every surface asks here, and nowhere else.

use std::sync::Arc;
use std::time::Duration;

use attache_domain::{
    ANSWER, CallAnswer, CallId, Cursor, Digest, DuplicateRule, DuplicateWindow, Fault, GetTask, Intent,
    ListTasks, Message, MessageAnswers, MessageId, Progress, ReplyShape, Right, Rights, Scope, SendMessage,
    SendOptions, Sender, Seq, TaskEnding, TaskId, TaskKey, TaskState, TaskView, TurnPhase, answerer,
};
use attache_store::{StoreError, StoreStatus, Stores};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::activity::Activity;
use crate::context_queues::ContextQueues;
use crate::finished_tasks::{FinishedTasks, RenderedTask};
use crate::history::HistoryLimits;
use crate::identity::{Identity, digest};
use crate::listing::{self, TaskPage};
use crate::live_task::{LiveTask, RecordError, now};
use crate::outbox::{Outbox, OutboxGuard};
use crate::reserved_tasks::ReservedTasks;
use crate::runner::Runner;
use crate::store_health::{StoreFault, store_fault};
use crate::subscription::Subscription;
use crate::task_cache::TaskCache;
use crate::watcher::Watcher;
use crate::weight::weight_of_view;
use crate::{Agent, Counters, Follower, PushSettings, media, replay};

/// A monitor that asks how things are waits no longer than this for the store to be read.
const READ_TIMEOUT: Duration = Duration::from_secs(2);

/// Options of the session.
#[derive(Debug, Clone)]
pub struct SessionOptions {
    /// Media types taken in message parts; `image/*` and `*/*` work.
    pub input_modes: Vec<String>,
    /// Media types the agent may produce.
    pub output_modes: Vec<String>,
    /// How long a cancel call waits for the task to stop before it answers with the state that holds.
    pub cancel_patience: Duration,
    /// A message that names a context but no task is the answer to the one task of the context that waits for input.
    pub answer_by_context: bool,
    /// Who carries push notifications; without it there are none.
    pub push: Option<PushSettings>,
    /// How long a message that is sent again counts as the same, for callers to whom an id alone does not say it.
    pub duplicate_sends: DuplicateWindow,
    /// How long the history of a task may become.
    pub history: HistoryLimits,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            input_modes: vec!["*/*".into()],
            output_modes: vec!["text/plain".into()],
            cancel_patience: Duration::from_secs(5),
            answer_by_context: true,
            duplicate_sends: DuplicateWindow::default(),
            push: None,
            history: HistoryLimits::default(),
        }
    }
}

pub struct SessionService {
    pub(crate) stores: Stores,
    pub(crate) agent: Arc<dyn Agent>,
    pub(crate) options: SessionOptions,
    pub(crate) identity: Identity,
    pub(crate) task_cache: Arc<TaskCache>,
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
    /// Opens the door and takes up every task that was being worked on when the log last stopped.
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
        let session = Arc::new(Self {
            stores,
            agent,
            options,
            identity,
            task_cache,
            finished: FinishedTasks::default(),
            contexts: Arc::default(),
            promises: Arc::default(),
            reserved_tasks: Arc::default(),
            activity: Activity::default(),
            counters,
            outbox,
            runners: TaskTracker::new(),
            stop: CancellationToken::new(),
        });
        session.load_reserved().await?;
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
        rights.require_to_send()?;
        rights.check_settings(send.message.requested.as_deref())?;
        if let Some(request) = &send.configuration.push {
            rights.require(Right::Prompt)?;
            self.outbox()?.check(request).await?;
        }
        media::check_input(&send.message.parts, &self.options.input_modes)?;
        media::check_output(&send.configuration.accepted_output_modes, &self.options.output_modes)?;
        self.agent.check(&send.message)?;
        let (started, hold) = match send.message.task.clone() {
            Some(task) => self.receive(scope, task, send).await?,
            None => self.open(scope, send).await?,
        };
        self.activity.announce(&started.live.key, started.before());
        self.run(&started.live);
        drop(hold);
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
        let started = self.begin(scope, send).await?;
        // A cursor of another log says nothing: the caller sees everything.
        let after = after.and_then(|after| self.number_of(after));
        let (mut view, bare) = (started.view.clone(), started.bare);
        if let Some(after) = after.filter(|after| *after > view.progress.head) {
            view = self.as_of(&started.live, after).await?;
        }
        let shown_again = if after.is_none() { started.shown_again } else { 0 };
        let follower = follower_of(StartedTask { shown_again, ..started }, &view);
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

    pub async fn list(&self, scope: &Scope, list: &ListTasks) -> Result<TaskPage, Fault> {
        let query = listing::query(scope, list)?;
        let mut listed = self.stores.index.list(&query).await.map_err(internal)?;
        self.reserved_tasks.add_to(&query, &mut listed);
        // Few at first, for they may be large; a page that is large enough ends early.
        let (mut tasks, mut weight, mut shown) = (Vec::new(), 0, 0);
        while shown < listed.tasks.len() && weight < listing::MAX_PAGE_WEIGHT {
            let next = (shown * 2).max(listing::FIRST_READ_SIZE).min(listed.tasks.len());
            let places = &listed.tasks[shown..next];
            let keys = places.iter().map(|place| TaskKey { scope: scope.clone(), task: place.task.clone() });
            let views = self.views(keys.collect()).await.map_err(internal)?;
            weight += views.iter().map(|view| weight_of_view(view)).sum::<usize>();
            tasks.extend(views);
            shown = next;
        }
        let next_page_token = match listed.tasks.get(..shown).and_then(<[_]>::last) {
            Some(last) if listed.more || shown < listed.tasks.len() => listing::token(scope, list, last),
            _ => String::new(),
        };
        // Some may have moved on since the index chose them.
        tasks.retain(|view| list.state.is_none_or(|state| view.status.state == state));
        Ok(TaskPage { tasks, next_page_token, page_size: list.page_size, total_size: listed.total })
    }

    async fn receive(
        &self,
        scope: &Scope,
        task: TaskId,
        mut send: SendMessage,
    ) -> Result<(StartedTask, Option<OutboxGuard>), Fault> {
        let live = match self.visible(scope, &task).await {
            Err(Fault::TaskNotFound { .. }) => {
                let key = TaskKey { scope: scope.clone(), task };
                if let Some(opened) = self.open_reserved(&key, &send).await? {
                    return Ok(opened);
                }
                // Another message may have opened it since.
                self.visible(scope, &key.task).await?
            }
            found => found?,
        };
        let head = live.with_progress(|progress| progress.head);
        let enlisted = self.register_push(&live.key, send.configuration.push.take(), head).await?;
        let hold = if enlisted.is_none() { self.hold(&live.key).await? } else { None };
        match self.append_message(scope, live, send).await {
            Ok(started) => Ok((started, enlisted.map(|enlisted| enlisted.hold).or(hold))),
            Err(fault) => {
                self.discard_push(enlisted).await;
                Err(fault)
            }
        }
    }

    async fn append_message(
        &self,
        scope: &Scope,
        live: Arc<LiveTask>,
        send: SendMessage,
    ) -> Result<StartedTask, Fault> {
        let duplicates = self.duplicates(&send);
        let SendMessage { message, answers, options: manner, .. } = send;
        let digest = digest(&message);
        let message = Message { sender: Some(sender(scope, &manner)), ..message };
        if manner.duplicate_rule == DuplicateRule::Id {
            live.with_progress(|progress| refuse_another(progress, &message.id, &digest))?;
        }
        let by = answerer(scope, manner.client.as_deref(), &message.id);
        let is_known = |progress: &Progress| progress.has_received(&message.id, &digest, duplicates);
        let view = live.view();
        if !manner.rights.prompt && is_known(&view.progress) {
            // An answer that is sent again. Were its turn over by now, it would be taken for a prompt.
            return Ok(StartedTask { live, view, bare: false, shown_again: 0, recorded: 0 });
        }
        let said = read(&view, &message, &answers, &by, is_known)?;
        drop(view);
        said.check(manner.rights)?;
        let sign = |(call, answer): (CallId, CallAnswer)| {
            let message = Some((message.id.clone(), digest.clone()));
            (call, CallAnswer { message, by: Some(by.clone()), ..answer })
        };
        let mut answered = 0;
        let intent = match said {
            MessageContent::Prompt(message) => Intent::Receive {
                message,
                digest: digest.clone(),
                reopens: manner.ending != Some(TaskEnding::Completes),
                duplicates,
            },
            MessageContent::Answers { answers, rest } => {
                let prompt = rest.map(|rest| (rest, digest.clone()));
                answered = answers.len() as u64;
                Intent::Answer { answers: answers.into_iter().map(sign).collect(), prompt }
            }
        };
        let queued = live.with_progress(|progress| progress.queue.len());
        let (view, recorded) = match live.record(intent).await {
            // It was recorded when it seemed to fail, and comes again.
            Err(RecordError::Refused(_)) if live.with_progress(is_known) => (live.view(), 0),
            recorded => recorded.map_err(record_fault)?,
        };
        let is_queued = view.progress.queue.len() > queued && view.progress.state == TaskState::Working;
        let shown_again = match answered {
            // A message that was queued behind visible work got a notice.
            0 => u64::from(is_queued),
            // The answers, and the question about what is still open.
            answers if view.progress.waits_for_person() => answers + 1,
            _ => 0,
        };
        Ok(StartedTask { live, view, bare: false, shown_again, recorded })
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
        let missing: Vec<_> = (0..keys.len()).filter(|place| views[*place].is_none()).collect();
        let asked: Vec<_> = missing.iter().map(|place| keys[*place].clone()).collect();
        let read = replay::views(self.stores.log.as_ref(), &self.counters.quarantine, &asked).await?;
        for (place, mut view) in missing.into_iter().zip(read) {
            if view.is_none() && self.reserved_tasks.contains(&keys[place]) {
                view = self.reserved_view(&keys[place]).await.ok().flatten();
            }
            views[place] = view.map(Arc::new);
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

/// Who sends a message, for other clients.
pub(crate) fn sender(scope: &Scope, options: &SendOptions) -> Box<Sender> {
    let (by, client) = (scope.owner.to_string(), options.client.clone());
    Box::new(Sender { by, client, interface: options.interface })
}

/// What a message says to a task: answers about calls, something else, or both.
enum MessageContent {
    Prompt(Message),
    Answers { answers: Vec<(CallId, CallAnswer)>, rest: Option<Message> },
}

impl MessageContent {
    /// Refuses what the client may not say. A question of a tool, which any text answers, approves nothing.
    fn check(&self, rights: Rights) -> Result<(), Fault> {
        match self {
            Self::Prompt(_) => rights.require(Right::Prompt),
            Self::Answers { answers, rest } => {
                if rest.is_some() {
                    rights.require(Right::Prompt)?;
                }
                match answers.iter().all(|(_, answer)| answer.choice == ANSWER) {
                    true => rights.require_to_send(),
                    false => rights.require(Right::Approve),
                }
            }
        }
    }
}

/// A message that the task has already received is passed on unchanged: `decide` recognises it.
fn read(
    view: &TaskView,
    message: &Message,
    answers: &MessageAnswers,
    by: &str,
    is_known: impl Fn(&Progress) -> bool,
) -> Result<MessageContent, Fault> {
    let progress = &view.progress;
    let is_known = is_known(progress);
    if !is_known && let Some((data, rest)) = answers.data_apart(message) {
        let answers = view.match_answers(message, &data, by, now())?;
        return Ok(MessageContent::Answers { answers, rest });
    }
    if is_known || message.command.is_some() {
        return Ok(MessageContent::Prompt(message.clone()));
    }
    if !progress.waits_for_person() {
        view.refuse_late_answer(answers, by, now())?;
        view.refuse_answer_after_end(answers, now())?;
        return Ok(MessageContent::Prompt(message.clone()));
    }
    let answers = view.match_answers(message, answers, by, now())?;
    Ok(MessageContent::Answers { answers, rest: None })
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

fn record_fault(error: RecordError) -> Fault {
    match error {
        RecordError::Refused(fault) => fault,
        RecordError::Store(error) => internal(error),
    }
}

/// For callers to whom an id says it all: what came under this id must have been the same.
pub(crate) fn refuse_another(progress: &Progress, message: &MessageId, digest: &Digest) -> Result<(), Fault> {
    let another = progress.received.iter().any(|seen| seen.id == *message && seen.digest != *digest);
    if another { Err(Fault::MessageIdTaken { message: message.clone() }) } else { Ok(()) }
}

pub(crate) fn internal(error: StoreError) -> Fault {
    store_fault(&error)
}
