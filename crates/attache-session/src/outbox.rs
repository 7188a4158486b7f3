//! The durable outbox: every configuration follows its task's log with a cursor of its own.
//!
//! One delivery works on each active configuration: one notification under way, in the order of the log, each tried again
//! until it is taken or given up. A configuration is active while its task may move or has something untold; then it has
//! a record in the store's list of active ones, which is all that a start reads. When its task rests and everything is
//! told, it is parked: two records and no memory. Whoever is about to move a task takes a [`Hold`] first, which makes its
//! configurations active, durably; so a crash between any two steps loses nothing, and at most repeats.
//!
//! Not here: how a notification is spelled and sent (the [`Courier`]).

mod courier;
mod delivery;
mod enlisting;
mod hold;
mod ledger;
mod pace;
mod reading;
mod stored;
mod terms;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use attache_domain::{PushConfig, PushConfigId, PushShape, PushStanding, PushState, Seq, TaskKey, Timestamp};
use attache_store::{EventLog, Records, StoreError, Stores};
use bytes::Bytes;
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub(crate) use enlisting::Enlisted;
pub(crate) use hold::Hold;

pub use courier::{Courier, Delivered, Notice, Parcel, PushOptions, PushSettings, Told, Unfit};

use crate::Counters;
use crate::hot::HotTask;
use crate::shelf::Shelf;
use ledger::{Queue, Receipt};
use stored::{ACTIVE, ConfigKey, Standing};

pub(crate) struct Outbox {
    courier: Arc<dyn Courier>,
    options: PushOptions,
    records: Arc<dyn Records>,
    log: Arc<dyn EventLog>,
    shelf: Arc<Shelf>,
    counters: Arc<Counters>,
    state: Mutex<State>,
    /// Something is in the ledger's line.
    in_line: Notify,
    /// Notifications that may be under way.
    slots: Semaphore,
    /// The same for receivers whose last notification failed, so that those who hang keep nobody else waiting.
    doubtful: Semaphore,
    deliveries: TaskTracker,
    ledger: TaskTracker,
    stop: CancellationToken,
    closed: CancellationToken,
}

/// Changes together, and never across an await.
#[derive(Default)]
struct State {
    mail: HashMap<TaskKey, Mail>,
    queue: Queue,
}

/// The configurations of one task that are in memory.
#[derive(Default)]
struct Mail {
    slots: HashMap<PushConfigId, Slot>,
    /// Somebody is about to move the task: nothing is parked.
    holds: usize,
    /// Every configuration that is kept and not given up has a slot.
    complete: bool,
    bodies: Bodies,
}

struct Slot {
    active: Arc<Active>,
    standing: Standing,
    /// When the next try comes.
    until: Option<Timestamp>,
    /// When what is being told happened.
    telling: Option<Timestamp>,
    rest: Rest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    No,
    /// There is nothing more to do; that is on its way to the store.
    Begun,
    /// The store knows.
    Known,
}

/// One configuration at work.
struct Active {
    key: ConfigKey,
    config: Arc<PushConfig>,
    shape: PushShape,
    stop: CancellationToken,
    /// Its delivery has ended.
    done: CancellationToken,
    /// The task rests, or a hold is gone: time to look around.
    poke: Notify,
}

/// The latest bodies, for the other configurations of the task.
#[derive(Default)]
struct Bodies(VecDeque<(Seq, PushShape, Bytes)>);

/// By number and weight.
const MOST_BODIES: usize = 32;
const MOST_BODY_BYTES: usize = 64 << 10;

/// Active configurations read at once at a start.
const PAGE: usize = 256;

/// How the outbox fares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OutboxNow {
    pub active: u64,
    /// Those of them that wait after a failure.
    pub waiting: u64,
    /// How old the oldest event is that is being told, in milliseconds.
    pub lag_millis: u64,
}

impl Outbox {
    pub(crate) async fn start(
        settings: PushSettings,
        stores: &Stores,
        shelf: Arc<Shelf>,
        counters: Arc<Counters>,
    ) -> Result<Arc<Self>, StoreError> {
        let PushSettings { courier, options } = settings;
        let outbox = Arc::new(Self {
            courier,
            records: stores.records.clone(),
            log: stores.log.clone(),
            shelf,
            counters,
            state: Mutex::default(),
            in_line: Notify::new(),
            slots: Semaphore::new(options.at_once),
            doubtful: Semaphore::new(options.at_once.div_ceil(2)),
            deliveries: TaskTracker::new(),
            ledger: TaskTracker::new(),
            stop: CancellationToken::new(),
            closed: CancellationToken::new(),
            options,
        });
        outbox.take_up().await?;
        let own = outbox.clone();
        outbox.ledger.spawn(async move { own.keep_ledger().await });
        Ok(outbox)
    }

    /// Stops telling; what is under way gets a moment. Cursors are written.
    pub(crate) async fn shutdown(&self) {
        self.stop.cancel();
        self.deliveries.close();
        self.deliveries.wait().await;
        self.closed.cancel();
        self.ledger.close();
        self.ledger.wait().await;
    }

    /// Goes on with what was active when the store was last used.
    async fn take_up(self: &Arc<Self>) -> Result<(), StoreError> {
        let mut after: Option<String> = None;
        loop {
            let page = self.records.under(ACTIVE, "", after.as_deref(), PAGE).await?;
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

    /// How the configurations in memory fare.
    pub(crate) fn now(&self) -> OutboxNow {
        let (mut now, present) = (OutboxNow::default(), crate::hot::now());
        let state = self.state();
        for slot in state.mail.values().flat_map(|mail| mail.slots.values()) {
            now.active += u64::from(slot.rest == Rest::No);
            now.waiting += u64::from(slot.until.is_some());
            if let Some(since) = slot.telling {
                let age = present.as_millisecond().saturating_sub(since.as_millisecond());
                now.lag_millis = now.lag_millis.max(u64::try_from(age).unwrap_or(0));
            }
        }
        now
    }

    /// A runner has left the task: perhaps there is nothing more to tell.
    pub(crate) fn rested(&self, task: &TaskKey) {
        if let Some(mail) = self.state().mail.get(task) {
            mail.poke();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn task(&self, key: &TaskKey) -> Result<Option<Arc<HotTask>>, StoreError> {
        self.shelf.bring(&self.log, &self.counters, key).await
    }

    /// Starts the delivery of a slot, once the one before it has ended.
    fn begin(self: &Arc<Self>, active: &Arc<Active>, before: Option<Arc<Active>>) {
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
    fn slot(&mut self, active: &Arc<Active>) -> Option<&mut Slot> {
        let slot = self.mail.get_mut(&active.key.task)?.slots.get_mut(&active.key.id)?;
        Arc::ptr_eq(&slot.active, active).then_some(slot)
    }

    /// Somebody is about to move the task, or to open it.
    fn is_held(&self, task: &TaskKey) -> bool {
        self.mail.get(task).is_some_and(|mail| mail.holds > 0)
    }

    /// Forgets what rests and is known to the store, unless somebody holds the task.
    fn tidy(&mut self, task: &TaskKey) {
        let Some(mail) = self.mail.get_mut(task) else { return };
        if mail.holds > 0 {
            return;
        }
        let before = mail.slots.len();
        mail.slots.retain(|_, slot| slot.rest != Rest::Known);
        mail.complete &= mail.slots.len() == before;
        if mail.slots.is_empty() {
            self.mail.remove(task);
        }
    }
}

impl Mail {
    fn poke(&self) {
        self.slots.values().for_each(|slot| slot.active.poke.notify_one());
    }
}

impl Slot {
    fn new(active: Arc<Active>, standing: Standing) -> Self {
        Self { active, standing, until: None, telling: None, rest: Rest::No }
    }

    fn shown(&self) -> PushStanding {
        let shown = self.standing.shown();
        match self.until {
            Some(until) => PushStanding { state: PushState::Waiting { until }, ..shown },
            None => shown,
        }
    }
}

impl Active {
    fn new(key: ConfigKey, config: Arc<PushConfig>, shape: PushShape, outbox: &Outbox) -> Arc<Self> {
        let (stop, done) = (outbox.stop.child_token(), CancellationToken::new());
        Arc::new(Self { key, config, shape, stop, done, poke: Notify::new() })
    }
}

impl Bodies {
    fn find(&self, seq: Seq, shape: PushShape) -> Option<Bytes> {
        self.0.iter().find(|known| (known.0, known.1) == (seq, shape)).map(|known| known.2.clone())
    }

    fn keep(&mut self, seq: Seq, shape: PushShape, body: &Bytes) {
        self.0.push_back((seq, shape, body.clone()));
        let weight = |bodies: &VecDeque<(Seq, PushShape, Bytes)>| {
            bodies.iter().map(|known| known.2.len()).sum::<usize>()
        };
        while self.0.len() > MOST_BODIES || (self.0.len() > 1 && weight(&self.0) > MOST_BODY_BYTES) {
            self.0.pop_front();
        }
    }
}
