//! Tasks whose log cannot be read. Each is named in the server's log once and counted. It is shown as failed and left
//! out of lists, and nothing more happens to it. All other tasks continue.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use attache_domain::{
    ContextId, Digest, Event, Fault, IgnorePoison, Message, MessageId, OpenTask, Presentation, ReplyShape,
    Scope, Seq, TaskEnding, TaskId, TaskKey, TaskState, TaskStatus, TaskView, TurnPhase,
};
use attache_store::StoreError;

use crate::SessionService;
use crate::live_task::{LiveTask, now};
use crate::replay::{PAGE, fold};
use crate::service::internal;

/// Beyond so many, tasks are still shown as failed, but not named and counted any more.
const MAX_NAMED: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct Quarantine {
    tasks: Mutex<HashSet<TaskKey>>,
    reads: AtomicU64,
}

impl Quarantine {
    /// A read of the task's log has failed for what is stored.
    pub(crate) fn add(&self, key: &TaskKey, error: &StoreError) {
        self.count_read();
        let mut tasks = self.tasks.lock().ignore_poison();
        if tasks.len() < MAX_NAMED && tasks.insert(key.clone()) {
            tracing::error!(
                task = %key.task, tenant = %key.scope.tenant, owner = %key.scope.owner, %error,
                "the log of a task cannot be read; the task is shown as failed, and everything else goes on"
            );
        }
    }

    /// A read has failed for what is stored. The caller names it in the server's log.
    pub(crate) fn count_read(&self) {
        self.reads.fetch_add(1, Ordering::Relaxed);
    }

    /// Tasks found unreadable since the start.
    pub(crate) fn tasks(&self) -> u64 {
        self.tasks.lock().ignore_poison().len() as u64
    }

    /// Reads that met one of them, or another row that cannot be read.
    pub(crate) fn reads(&self) -> u64 {
        self.reads.load(Ordering::Relaxed)
    }
}

impl SessionService {
    /// What is left of an unreadable task: its events before the damage, in a task that has failed.
    pub(crate) async fn failed_view(&self, key: &TaskKey, error: &StoreError) -> TaskView {
        self.counters().quarantine.add(key, error);
        let mut view = None;
        let mut head = Seq::START;
        while let Ok(page) = self.stores.log.read(key, head, PAGE).await
            && let Some(last) = page.last()
            && page.iter().all(|event| fold(&mut view, event, key).is_ok())
        {
            head = last.seq;
        }
        let mut view = match view {
            Some(view) => view,
            None => self.blank_view(key).await,
        };
        fail(&mut view, head);
        view
    }

    /// A task of which nothing but the listing row is known.
    async fn blank_view(&self, key: &TaskKey) -> TaskView {
        let summary = self.stores.index.summary(key).await.ok().flatten();
        let context = summary.as_ref().map(|summary| summary.context.clone());
        let context = context.unwrap_or_else(|| ContextId::from(key.task.as_str()));
        let hidden = summary.as_ref().is_some_and(|summary| summary.hidden);
        let opening = OpenTask {
            task: key.task.clone(),
            scope: key.scope.clone(),
            context: context.clone(),
            message: Message::from_agent(MessageId::from("unreadable"), context, None, ""),
            digest: Digest("".into()),
            reply: if hidden { ReplyShape::Message } else { ReplyShape::Task },
            metadata: None,
            ending: TaskEnding::Completes,
            presentation: Presentation::default(),
        };
        let at = summary.map_or_else(now, |summary| summary.status_at);
        let event = Event { seq: Seq::START.next(), at, fact: opening.decide() };
        let mut view = TaskView::open(&event).unwrap_or_else(|| unreachable!("an opening opens a task"));
        view.history.clear();
        view
    }

    /// The task in memory, or the refusal that a task in quarantine gives: nothing can be done with it.
    pub(crate) async fn readable(&self, key: &TaskKey) -> Result<Option<Arc<LiveTask>>, Fault> {
        match self.live_task(key).await {
            Err(error @ StoreError::Corrupt { .. }) => {
                self.counters().quarantine.add(key, &error);
                Err(Fault::TaskFinished { task: key.task.clone(), state: TaskState::Failed })
            }
            found => found.map_err(internal),
        }
    }

    /// A task to be cancelled. One in quarantine has failed already.
    pub(crate) async fn cancelable(&self, scope: &Scope, task: &TaskId) -> Result<Arc<LiveTask>, Fault> {
        match self.visible(scope, task).await {
            Err(Fault::TaskFinished { task, state }) => Err(Fault::TaskNotCancelable { task, state }),
            found => found,
        }
    }

    /// The failed view of a task that is in quarantine; `None` when it can be read, or does not exist.
    pub(crate) async fn quarantined(&self, scope: &Scope, task: &TaskId) -> Option<Arc<TaskView>> {
        let key = TaskKey { scope: scope.clone(), task: task.clone() };
        match self.live_task(&key).await {
            Err(error @ StoreError::Corrupt { .. }) => Some(Arc::new(self.failed_view(&key, &error).await)),
            _ => None,
        }
    }
}

fn fail(view: &mut TaskView, head: Seq) {
    let text = match head {
        Seq::START => "What was stored of this task cannot be read.".to_owned(),
        head => format!(
            "What was stored of this task after event {head} cannot be read; what came before is shown."
        ),
    };
    let text = format!("{text} The server's operator finds the reason in its log.");
    let id = MessageId::from(format!("unreadable-{}", view.task));
    let message = Message::from_agent(id, view.context.clone(), Some(view.task.clone()), text);
    let at = view.status.at;
    view.status = TaskStatus { state: TaskState::Failed, message: Some(message.into()), at };
    let progress = &mut view.progress;
    progress.state = TaskState::Failed;
    // Whatever it was opened with, nothing can be added to it.
    progress.ending = TaskEnding::Completes;
    progress.turn.phase = TurnPhase::Over;
    progress.queue.clear();
}
