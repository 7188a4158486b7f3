//! The durable outbox: every configuration follows its task's log with a cursor of its own.
//!
//! Each active configuration has one delivery. It sends one notification at a time, in the order of the log, and
//! retries each until it is accepted or given up. A configuration is active while its task may change or has
//! undelivered events; then it has a record in the store's list of active ones, which is all that a start reads. When
//! its task rests and everything is delivered, it is parked: two records and no memory. Code that is about to change a
//! task takes an [`OutboxGuard`] first, which makes its configurations active, durably. So a crash between any two
//! steps loses nothing, and at most repeats a notification.
//!
//! Not here: how a notification is encoded and sent (the [`PushSender`]).

mod backoff;
mod config_limits;
mod delivery;
mod guard;
mod reader;
mod registration;
mod sender;
mod stored;
mod write_queue;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use attache_domain::{
    IgnorePoison, PushConfig, PushConfigId, PushShape, PushState, PushStatus, TaskKey, Timestamp,
};
use attache_store::{EventLog, Records, StoreError, Stores};
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub(crate) use guard::OutboxGuard;
pub(crate) use registration::RegisteredConfig;

pub use sender::{
    DeliveryResult, PushConfigError, PushDelivery, PushEvents, PushOptions, PushPayload, PushSender,
    PushSetup,
};

use crate::Counters;
use crate::live_task::LiveTask;
use crate::task_cache::TaskCache;
use stored::{ACTIVE, ConfigKey, StoredPushStatus};
use write_queue::{WriteQueue, WriteReceipt};

pub(crate) struct Outbox {
    sender: Arc<dyn PushSender>,
    options: PushOptions,
    records: Arc<dyn Records>,
    log: Arc<dyn EventLog>,
    task_cache: Arc<TaskCache>,
    counters: Arc<Counters>,
    state: Mutex<State>,
    /// Something is in the ledger's line.
    in_line: Notify,
    /// Notifications that may be under way.
    slots: Semaphore,
    /// The same for receivers whose last notification failed, so that a receiver that hangs does not delay the others.
    doubtful: Semaphore,
    deliveries: TaskTracker,
    ledger: TaskTracker,
    stop: CancellationToken,
    closed: CancellationToken,
}

/// Changes together, and never across an await.
#[derive(Default)]
struct State {
    tasks: HashMap<TaskKey, TaskConfigs>,
    queue: WriteQueue,
}

/// The configurations of one task that are in memory.
#[derive(Default)]
struct TaskConfigs {
    slots: HashMap<PushConfigId, ConfigSlot>,
    /// The task is about to change: nothing is parked.
    guards: usize,
    /// Every configuration that is kept and not given up has a slot.
    complete: bool,
}

struct ConfigSlot {
    active: Arc<ActiveConfig>,
    status: StoredPushStatus,
    /// When the next try comes.
    next_attempt: Option<Timestamp>,
    /// When the event happened that is being sent.
    sending_since: Option<Timestamp>,
    rest: RestState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RestState {
    No,
    /// There is nothing more to do; that is on its way to the store.
    Begun,
    /// The store knows.
    Known,
}

/// One configuration at work.
struct ActiveConfig {
    key: ConfigKey,
    config: Arc<PushConfig>,
    shape: PushShape,
    stop: CancellationToken,
    /// Its delivery has ended.
    done: CancellationToken,
    /// The task is idle, or a guard was dropped: check for pending events.
    wakeup: Notify,
}

/// Active configurations read at once at a start.
const PAGE: usize = 256;

/// The state of the outbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OutboxStats {
    pub active: u64,
    /// Those of them that wait after a failure.
    pub waiting: u64,
    /// The age of the oldest event that is being sent, in milliseconds.
    pub lag_millis: u64,
}

impl Outbox {
    pub(crate) async fn start(
        settings: PushSetup,
        stores: &Stores,
        task_cache: Arc<TaskCache>,
        counters: Arc<Counters>,
    ) -> Result<Arc<Self>, StoreError> {
        let PushSetup { sender, options } = settings;
        let outbox = Arc::new(Self {
            sender,
            records: stores.records.clone(),
            log: stores.log.clone(),
            task_cache,
            counters,
            state: Mutex::default(),
            in_line: Notify::new(),
            slots: Semaphore::new(options.max_concurrent),
            doubtful: Semaphore::new(options.max_concurrent.div_ceil(2)),
            deliveries: TaskTracker::new(),
            ledger: TaskTracker::new(),
            stop: CancellationToken::new(),
            closed: CancellationToken::new(),
            options,
        });
        outbox.resume_active().await?;
        let own = outbox.clone();
        outbox.ledger.spawn(async move { own.run_writer().await });
        Ok(outbox)
    }

    /// Stops deliveries, which get a moment to finish. Cursors are written.
    pub(crate) async fn shutdown(&self) {
        self.stop.cancel();
        self.deliveries.close();
        self.deliveries.wait().await;
        self.closed.cancel();
        self.ledger.close();
        self.ledger.wait().await;
    }

    /// Continues the configurations that were active when the store was last used. If the list of them cannot be read,
    /// the start goes on; the next message to a task finds its configurations again.
    async fn resume_active(self: &Arc<Self>) -> Result<(), StoreError> {
        let mut after: Option<String> = None;
        loop {
            let page = match self.records.list_prefix(ACTIVE, "", after.as_deref(), PAGE).await {
                Err(error @ StoreError::Corrupt { .. }) => {
                    self.counters.quarantine.count_read();
                    tracing::error!(%error, "the list of active push configurations cannot be read");
                    return Ok(());
                }
                page => page?,
            };
            for record in &page {
                match ConfigKey::parse(&record.key) {
                    Some(key) => self.resume(key).await?,
                    None => tracing::warn!("a record of an active push configuration has no readable key"),
                }
            }
            match page.last() {
                Some(last) if page.len() == PAGE => after = Some(last.key.clone()),
                _ => return Ok(()),
            }
        }
    }

    /// Counts the configurations in memory.
    pub(crate) fn stats(&self) -> OutboxStats {
        let (mut now, present) = (OutboxStats::default(), crate::live_task::now());
        let state = self.state();
        for slot in state.tasks.values().flat_map(|mail| mail.slots.values()) {
            now.active += u64::from(slot.rest == RestState::No);
            now.waiting += u64::from(slot.next_attempt.is_some());
            if let Some(since) = slot.sending_since {
                let age = present.as_millisecond().saturating_sub(since.as_millisecond());
                now.lag_millis = now.lag_millis.max(u64::try_from(age).unwrap_or(0));
            }
        }
        now
    }

    /// A runner has left the task: there may be nothing more to deliver.
    pub(crate) fn task_rested(&self, task: &TaskKey) {
        if let Some(mail) = self.state().tasks.get(task) {
            mail.poke();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().ignore_poison()
    }

    async fn task(&self, key: &TaskKey) -> Result<Option<Arc<LiveTask>>, StoreError> {
        self.task_cache.load(&self.log, &self.counters, key).await
    }

    /// Starts the delivery of a slot, once the one before it has ended.
    fn start_delivery(self: &Arc<Self>, active: &Arc<ActiveConfig>, before: Option<Arc<ActiveConfig>>) {
        let (outbox, active) = (self.clone(), active.clone());
        self.deliveries.spawn(async move {
            let _done = active.done.clone().drop_guard();
            if let Some(before) = before {
                before.done.cancelled().await;
            }
            outbox.deliver(&active).await;
        });
    }
}

impl State {
    /// The slot of `active`, unless another has taken its place.
    fn slot(&mut self, active: &Arc<ActiveConfig>) -> Option<&mut ConfigSlot> {
        let slot = self.tasks.get_mut(&active.key.task)?.slots.get_mut(&active.key.id)?;
        Arc::ptr_eq(&slot.active, active).then_some(slot)
    }

    /// The task is about to be changed or opened.
    fn is_held(&self, task: &TaskKey) -> bool {
        self.tasks.get(task).is_some_and(|mail| mail.guards > 0)
    }

    /// Removes configurations that rest and whose state is stored, unless the task has a guard.
    fn remove_idle(&mut self, task: &TaskKey) {
        let Some(mail) = self.tasks.get_mut(task) else { return };
        if mail.guards > 0 {
            return;
        }
        let before = mail.slots.len();
        mail.slots.retain(|_, slot| slot.rest != RestState::Known);
        mail.complete &= mail.slots.len() == before;
        if mail.slots.is_empty() {
            self.tasks.remove(task);
        }
    }
}

impl TaskConfigs {
    fn poke(&self) {
        self.slots.values().for_each(|slot| slot.active.wakeup.notify_one());
    }
}

impl ConfigSlot {
    fn new(active: Arc<ActiveConfig>, status: StoredPushStatus) -> Self {
        Self { active, status, next_attempt: None, sending_since: None, rest: RestState::No }
    }

    fn shown(&self) -> PushStatus {
        let shown = self.status.to_public();
        match self.next_attempt {
            Some(until) => PushStatus { state: PushState::Waiting { until }, ..shown },
            None => shown,
        }
    }
}

impl ActiveConfig {
    fn new(key: ConfigKey, config: Arc<PushConfig>, shape: PushShape, outbox: &Outbox) -> Arc<Self> {
        let (stop, done) = (outbox.stop.child_token(), CancellationToken::new());
        Arc::new(Self { key, config, shape, stop, done, wakeup: Notify::new() })
    }
}
