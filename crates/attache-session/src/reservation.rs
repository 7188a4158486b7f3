//! Tasks that have an id and wait for their first message.
//!
//! Some clients ask for a task before they have anything to say. Nothing has happened to it yet, so there is no fact to
//! log: a record keeps what was asked for, until the first message opens the task under its id, the task is canceled, or
//! the reservation timeout (a day) has passed and no client reads it.

use std::sync::Arc;

use attache_domain::{
    ContextId, Digest, DuplicateWindow, Event, Fact, Fault, Message, MessageId, OpenTask, Presentation,
    Progress, ReplyShape, RequestedSettings, Right, Rights, Role, Scope, SendMessage, Seq, TaskEnding,
    TaskId, TaskKey, TaskView, Timestamp,
};
use attache_store::{Record, RecordChange, StoreError};
use futures_util::FutureExt;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::identity::{digest, new_context};
use crate::live_task::now;
use crate::open_task::NewTask;
use crate::outbox::OutboxGuard;
use crate::service::{StartedTask, internal};
use crate::subscription::Subscription;
use crate::{Follower, SessionService};

const SPACE: &str = "reserved";

/// Of a reserved id.
const ID_LENGTH: usize = 36;

/// Records read at once at the start.
const LOADED_AT_ONCE: usize = 512;

/// Each new one clears away so many that have waited too long.
const MAX_CLEARED: usize = 4;

/// What a task starts with. The settings of its first message take precedence.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reservation {
    pub context: Option<ContextId>,
    pub requested: Option<Box<RequestedSettings>>,
    pub ending: TaskEnding,
    /// Of the client that asks for it.
    pub rights: Rights,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct StoredReservation {
    at: Timestamp,
    pub(crate) context: ContextId,
    #[serde(rename = "wishes")]
    pub(crate) requested: Option<Box<RequestedSettings>>,
    pub ending: TaskEnding,
}

impl SessionService {
    /// Reserves an id for the caller, whose next message to it opens the task.
    pub async fn reserve(&self, scope: &Scope, wanted: Reservation) -> Result<TaskId, Fault> {
        // In the order of time, so that the oldest come first among the records.
        let task = TaskId::from(Uuid::now_v7().to_string());
        self.reserve_as(scope, task, wanted).await
    }

    /// The same with an id that the caller chose, which must be a UUID and new.
    pub async fn reserve_as(
        &self,
        scope: &Scope,
        task: TaskId,
        wanted: Reservation,
    ) -> Result<TaskId, Fault> {
        if self.stop.is_cancelled() {
            return Err(Fault::Unavailable);
        }
        self.reserved_tasks.check_room(scope)?;
        let Reservation { context, requested, ending, rights } = wanted;
        rights.require(Right::Prompt)?;
        rights.check_settings(requested.as_deref())?;
        let message = Message { context: context.clone(), ..nothing_said(requested.clone()) };
        self.check_message(scope, &message).await?;
        let context = context.unwrap_or_else(new_context);
        let key = TaskKey { scope: scope.clone(), task: task.clone() };
        let at = now();
        let reserved = StoredReservation { at, context: context.clone(), requested, ending };
        let value = serde_json::to_vec(&reserved).map_err(|_| Fault::Internal)?;
        let put = RecordChange::Put { space: SPACE, record: Record { key: name(&key), value } };
        let mut changes = self.expired_reservations().await?;
        changes.push(put);
        self.stores.records.change(changes).await.map_err(internal)?;
        self.reserved_tasks.insert(&key, at, context);
        self.activity.announce_reserved(&key);
        Ok(task)
    }

    /// Reads the reservations back. Those of tasks that exist, and those that have expired, are deleted. Damage costs
    /// the reservations that cannot be read, never the start.
    pub(crate) async fn load_reserved(&self) -> Result<(), StoreError> {
        let mut last: Option<String> = None;
        loop {
            let listed = self.stores.records.list_prefix(SPACE, "", last.as_deref(), LOADED_AT_ONCE).await;
            let records = match listed {
                Err(error @ StoreError::Corrupt { .. }) => {
                    self.counters.quarantine.count_read();
                    tracing::error!(%error, "the reserved ids cannot be read; those not read yet are not listed");
                    return Ok(());
                }
                listed => listed?,
            };
            let mut outdated = Vec::new();
            for record in &records {
                let found = match (key_of(&record.key), read(&record.value)) {
                    (Some(key), Some(reserved)) if !self.is_old(&reserved) => Some((key, reserved)),
                    _ => None,
                };
                let Some((key, reserved)) = found else {
                    outdated.push(RecordChange::Delete { space: SPACE, key: record.key.clone() });
                    continue;
                };
                match self.stores.index.summary(&key).await {
                    Ok(None) => self.reserved_tasks.insert(&key, reserved.at, reserved.context),
                    Ok(Some(_)) => {
                        outdated.push(RecordChange::Delete { space: SPACE, key: record.key.clone() });
                    }
                    // Only the log says now whether the task was opened, so the record stays.
                    Err(error @ StoreError::Corrupt { .. }) => {
                        self.counters.quarantine.count_read();
                        tracing::error!(
                            task = %key.task, %error,
                            "the index row of a reserved task cannot be read; the task is not listed"
                        );
                    }
                    Err(error) => return Err(error),
                }
            }
            if !outdated.is_empty() {
                self.stores.records.change(outdated).await?;
            }
            match records.last() {
                Some(record) if records.len() == LOADED_AT_ONCE => last = Some(record.key.clone()),
                _ => return Ok(()),
            }
        }
    }

    /// The reservation, if it is still waiting.
    pub(crate) async fn reserved(&self, key: &TaskKey) -> Result<Option<StoredReservation>, Fault> {
        // Other ids were never reserved and could be confused with another caller's record.
        if key.task.as_str().len() != ID_LENGTH || Uuid::try_parse(key.task.as_str()).is_err() {
            return Ok(None);
        }
        let found = match self.stores.records.get(SPACE, &name(key)).await {
            Err(StoreError::Corrupt { what }) => {
                tracing::error!(what, "what a task was promised with cannot be read");
                None
            }
            found => found.map_err(internal)?,
        };
        let counts =
            |reserved: &StoredReservation| !self.is_old(reserved) || self.reserved_tasks.is_read(key);
        Ok(found.and_then(|value| read(&value)).filter(counts))
    }

    /// The task before its first message.
    pub(crate) async fn reserved_view(&self, key: &TaskKey) -> Result<Option<TaskView>, Fault> {
        Ok(self.reserved(key).await?.and_then(|reserved| TaskView::open(&reserved.opened(key))))
    }

    /// The task before its first message, then its events; `None` if the id is not reserved.
    pub(crate) async fn subscribe_reserved(&self, key: &TaskKey) -> Result<Option<Subscription>, Fault> {
        let Some(view) = self.reserved_view(key).await? else { return Ok(None) };
        let (task_cache, log, counters) =
            (self.task_cache.clone(), self.stores.log.clone(), self.counters.clone());
        let (promises, reader, key) = (self.promises.clone(), self.reserved_tasks.read(key), key.clone());
        let promised = async move {
            let _reader = reader;
            loop {
                let kept = promises.notified();
                tokio::pin!(kept);
                // What happens from here on is not missed.
                kept.as_mut().enable();
                if let Some(live) = task_cache.load(&log, &counters, &key).await? {
                    let opened = live.view_at(Seq::START.next()).await?;
                    let view = opened.map_or_else(|| live.view(), Arc::new);
                    return Ok(Follower::new(live, &view));
                }
                kept.await;
            }
        };
        let (view, promised) = (Arc::new(view), Some(promised.boxed()));
        Ok(Some(Subscription { promised, ..Subscription::at_rest(view, None) }))
    }

    /// Cancels the task before its first message; `None` if the id is not reserved or a message came first. Afterwards
    /// it is an ordinary canceled task.
    pub(crate) async fn cancel_reserved(&self, key: &TaskKey) -> Result<Option<Arc<TaskView>>, Fault> {
        let Some(reserved) = self.reserved(key).await? else { return Ok(None) };
        let opened = reserved.opened(key);
        let canceled = Event { seq: opened.seq.next(), at: now(), fact: Fact::TaskCanceled };
        let Some(mut view) = TaskView::open(&opened) else { return Err(Fault::Internal) };
        view.apply(&canceled);
        match self.append_first(&view, vec![Arc::new(opened), Arc::new(canceled)]).await {
            Ok(()) => {
                self.delete_reserved(key).await;
                self.promises.notify_waiters();
                self.activity.announce(key, Seq::START);
                Ok(Some(Arc::new(view)))
            }
            Err(StoreError::Conflict { .. }) => Ok(None),
            Err(error) => Err(internal(error)),
        }
    }

    /// Opens the task whose id the caller reserved; `None` if it is not reserved or another message came first.
    pub(crate) async fn open_reserved(
        &self,
        key: &TaskKey,
        send: &SendMessage,
    ) -> Result<Option<(StartedTask, Option<OutboxGuard>)>, Fault> {
        let Some(reserved) = self.reserved(key).await? else { return Ok(None) };
        let digest = digest(&send.message);
        let mut send = send.clone();
        let context = send.message.context.replace(reserved.context.clone());
        if context.is_some_and(|context| context != reserved.context) {
            return Err(Fault::ContextMismatch { task: key.task.clone(), context: reserved.context });
        }
        send.message.requested = match (send.message.requested.take(), reserved.requested) {
            (Some(said), Some(before)) => Some(Box::new(said.over(*before))),
            (said, before) => said.or(before),
        };
        send.options.ending = Some(reserved.ending);
        let message = send.message.id.clone();
        // The caller knows the task, so it must exist after a reply, too.
        let reply = Some(ReplyShape::Task);
        let place = NewTask { key: key.clone(), duplicates: DuplicateWindow::Always, reply };
        let opened = self.open_as(place, send, digest.clone()).await?;
        self.promises.notify_waiters();
        self.delete_reserved(key).await;
        let knows = |progress: &Progress| progress.has_received(&message, &digest, DuplicateWindow::Always);
        Ok(opened.filter(|(started, _)| knows(&started.view.progress)))
    }

    /// The task exists. A record that a crash leaves behind does no harm, because the task is found first.
    async fn delete_reserved(&self, key: &TaskKey) {
        self.reserved_tasks.remove(key);
        let change = RecordChange::Delete { space: SPACE, key: name(key) };
        if let Err(error) = self.stores.records.change(vec![change]).await {
            tracing::debug!(%error, "an id that was promised is not forgotten yet");
        }
    }

    async fn expired_reservations(&self) -> Result<Vec<RecordChange>, Fault> {
        let oldest = match self.stores.records.list_prefix(SPACE, "", None, MAX_CLEARED).await {
            // Nothing is cleared away then; a new reservation does not depend on it.
            Err(StoreError::Corrupt { .. }) => Vec::new(),
            oldest => oldest.map_err(internal)?,
        };
        let mut changes = Vec::new();
        for record in oldest {
            let key = key_of(&record.key);
            let is_read = key.as_ref().is_some_and(|key| self.reserved_tasks.is_read(key));
            if !is_read && read(&record.value).is_none_or(|reserved| self.is_old(&reserved)) {
                if let Some(key) = key {
                    self.reserved_tasks.remove(&key);
                }
                changes.push(RecordChange::Delete { space: SPACE, key: record.key });
            }
        }
        Ok(changes)
    }

    /// It expires unless a client reads it.
    fn is_old(&self, reserved: &StoredReservation) -> bool {
        reserved.at < self.oldest_reservation()
    }

    /// Reservations from before have expired.
    pub(crate) fn oldest_reservation(&self) -> Timestamp {
        now().checked_sub(self.options.reservation_timeout).unwrap_or(Timestamp::MIN)
    }
}

impl StoredReservation {
    /// The event of a task that was opened by a message without content.
    fn opened(self, key: &TaskKey) -> Event {
        let opening = OpenTask {
            task: key.task.clone(),
            scope: key.scope.clone(),
            context: self.context,
            message: nothing_said(self.requested),
            digest: Digest("".into()),
            reply: ReplyShape::Task,
            metadata: None,
            ending: self.ending,
            presentation: Presentation::default(),
        };
        Event { seq: Seq::START.next(), at: self.at, fact: opening.decide() }
    }
}

fn read(value: &[u8]) -> Option<StoredReservation> {
    serde_json::from_slice(value).ok()
}

/// The id first, for the sake of the order.
pub(crate) fn name(TaskKey { scope, task }: &TaskKey) -> String {
    format!("{task} {}:{}{}", scope.tenant.len(), scope.tenant, scope.owner)
}

/// The task of a record.
pub(crate) fn key_of(name: &str) -> Option<TaskKey> {
    let (task, scope) = name.split_once(' ')?;
    let (length, names) = scope.split_once(':')?;
    let (tenant, owner) = names.split_at_checked(length.parse().ok()?)?;
    Some(TaskKey { scope: Scope::new(tenant, owner), task: TaskId::from(task) })
}

fn nothing_said(requested: Option<Box<RequestedSettings>>) -> Message {
    Message {
        id: MessageId::from(""),
        role: Role::User,
        parts: Vec::new(),
        context: None,
        task: None,
        reference_tasks: Vec::new(),
        extensions: Vec::new(),
        metadata: None,
        requested,
        command: None,
        sender: None,
    }
}
