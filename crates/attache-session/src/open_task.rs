//! Opens tasks: a new message opens one, a repeated message finds the one it opened.
//!
//! The id of a task follows from what was said and from how often it was said before, so that sends at the same time, and
//! those after a crash, agree on it. The tasks of one message are numbered without a gap, and each begins when the one
//! before is over.

use std::sync::Arc;

use attache_domain::{
    Digest, DuplicateRule, DuplicateWindow, Event, Fault, Message, OpenTask, Presentation, ReplyShape, Right,
    Scope, SendMessage, Seq, TaskEnding, TaskKey, TaskSummary, TaskView,
};
use attache_store::{Append, StoreError};

use crate::SessionService;
use crate::identity::{digest, new_context};
use crate::live_task::now;
use crate::media;
use crate::outbox::OutboxGuard;
use crate::receive_message::{refuse_another, sender};
use crate::service::{StartedTask, internal};

/// A task that is to be opened.
pub(crate) struct NewTask {
    pub(crate) key: TaskKey,
    pub(crate) duplicates: DuplicateWindow,
    /// By default the agent decides.
    pub(crate) reply: Option<ReplyShape>,
}

impl SessionService {
    pub(crate) async fn open(
        &self,
        scope: &Scope,
        send: SendMessage,
    ) -> Result<(StartedTask, Option<OutboxGuard>), Fault> {
        let digest = digest(&send.message);
        let duplicates = self.duplicates(&send);
        let new_task = |number| {
            let task = self.identity.task(scope, &send.message, &digest, send.options.duplicate_rule, number);
            NewTask { key: TaskKey { scope: scope.clone(), task }, duplicates, reply: None }
        };
        let mut number = 0;
        // Most messages are new. It is looked up first where a wrong guess would have to be taken back.
        let may_guess = send.options.duplicate_rule == DuplicateRule::Id
            || (duplicates == DuplicateWindow::InFlight && send.configuration.push.is_none());
        if !may_guess && let Some(latest) = self.latest_number(new_task).await? {
            let counts = self.find_duplicate(&new_task(latest), &send.message.id, &digest).await?.is_some();
            number = if counts { latest } else { latest + 1 };
        }
        loop {
            if let Some(opened) = self.open_as(new_task(number), send.clone(), digest.clone()).await? {
                return Ok(opened);
            }
            number = self.latest_number(new_task).await?.unwrap_or(0).max(number + 1);
        }
    }

    /// The push configuration is recorded before there is anything to push. `None`: the message has opened this task, and that
    /// is over.
    pub(crate) async fn open_as(
        &self,
        new_task: NewTask,
        mut send: SendMessage,
        digest: Digest,
    ) -> Result<Option<(StartedTask, Option<OutboxGuard>)>, Fault> {
        send.options.rights.require(Right::Prompt)?;
        let request = send.configuration.push.take();
        let reply = new_task.reply.unwrap_or_else(|| self.agent.reply_shape(&send.message));
        let request = request.filter(|_| reply == ReplyShape::Task);
        let registered = self.register_push(&new_task.key, request, Seq::START.next()).await?;
        match self.append_opening(new_task, send, digest, reply).await {
            Ok(Some(started)) => Ok(Some((started, registered.map(|registered| registered.guard)))),
            refused => {
                self.discard_push(registered).await;
                refused.map(|_| None)
            }
        }
    }

    async fn append_opening(
        &self,
        new_task: NewTask,
        send: SendMessage,
        digest: Digest,
        reply: ReplyShape,
    ) -> Result<Option<StartedTask>, Fault> {
        let NewTask { key, .. } = &new_task;
        let scope = &key.scope;
        let (message, duplicate_rule) = (send.message.id.clone(), send.options.duplicate_rule);
        let context = send.message.context.clone().unwrap_or_else(new_context);
        let opening = OpenTask {
            task: key.task.clone(),
            scope: scope.clone(),
            context,
            message: Message { sender: Some(sender(scope, &send.options)), ..send.message },
            digest: digest.clone(),
            reply,
            metadata: send.metadata,
            ending: send.options.ending.unwrap_or_default(),
            presentation: Presentation {
                // Tasks of clients that know the development-tool extension do not simply complete.
                changes: send.options.ending.is_some_and(|ending| ending != TaskEnding::Completes)
                    || media::names_diffs(&send.configuration.accepted_output_modes),
                answer: send.options.answer,
            },
        };
        let event = Arc::new(Event { seq: Seq::START.next(), at: now(), fact: opening.decide() });
        let Some(view) = TaskView::open(&event) else { return Err(Fault::Internal) };
        let bare = reply == ReplyShape::Message;
        match self.append_first(&view, vec![event]).await {
            Ok(()) => {
                let live = self.task_cache.insert(self.insert_live(view.clone()));
                Ok(Some(StartedTask { live, view: Arc::new(view), bare, shown_again: 0, recorded: 1 }))
            }
            // The message came before. If that still counts, the caller sees the task from its start.
            Err(StoreError::Conflict { .. }) => {
                let Some(live) = self.find_duplicate(&new_task, &message, &digest).await? else {
                    return Ok(None);
                };
                if duplicate_rule == DuplicateRule::Id {
                    live.with_progress(|progress| refuse_another(progress, &message, &digest))?;
                }
                let view = self.as_of(&live, Seq::START.next()).await?;
                let bare = view.progress.reply == ReplyShape::Message;
                Ok(Some(StartedTask { live, view, bare, shown_again: 0, recorded: 1 }))
            }
            Err(error) => Err(internal(error)),
        }
    }

    /// Appends the first events of a task, which is `view` after them.
    pub(crate) async fn append_first(
        &self,
        view: &TaskView,
        events: Vec<Arc<Event>>,
    ) -> Result<(), StoreError> {
        let summary = TaskSummary::of(&view.progress);
        let append = Append { key: view.key(), expected: Seq::START, events: events.clone(), summary };
        let write = self.counters.store.write_started();
        let appended = self.stores.log.append(append).await;
        drop(write);
        self.counters.store.write_ended(&appended);
        if appended.is_ok() {
            events.iter().for_each(|event| self.counters.appended(&event.fact));
        }
        appended
    }
}
