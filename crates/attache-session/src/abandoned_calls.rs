//! Notifies the peers of cancelled calls, also after a crash.
//!
//! A task is canceled at once, and the peers of its calls are notified later. A record remembers that until it is done;
//! the next start goes on with what is left.

use std::sync::Arc;
use std::time::Duration;

use attache_domain::{CallPhase, CallProgress, Fact, Intent, Message, MessageId, Seq, TaskKey, TaskView};
use attache_store::{Record, RecordChange, Records, TaskIndex};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::live_task::LiveTask;
use crate::reservation::{key_of, name};
use crate::runner::chain;
use crate::{AbandonedPeers, Agent, SessionService, TurnRequest};

const SPACE: &str = "abandoned-calls";
/// Before each further attempt.
const DELAYS: [Duration; 3] = [Duration::from_secs(1), Duration::from_secs(5), Duration::from_secs(30)];
/// Starts of the server at which the peers of one task are tried to be reached.
const MAX_STARTS: u32 = 3;
/// Records that are read at a start.
const MAX_READ: usize = 1_000;

#[derive(Clone)]
pub(crate) struct AbandonedCalls {
    pub(crate) agent: Arc<dyn Agent>,
    pub(crate) index: Arc<dyn TaskIndex>,
    pub(crate) records: Arc<dyn Records>,
    pub(crate) tracker: TaskTracker,
    pub(crate) stop: CancellationToken,
    /// How many tasks are about to end their calls, and have not tried yet to tell the peers.
    pub(crate) pending: watch::Sender<usize>,
}

/// Held while a task ends its calls, until the first attempt to tell their peers is over.
pub(crate) struct PendingGuard(watch::Sender<usize>);

impl Drop for PendingGuard {
    fn drop(&mut self) {
        self.0.send_modify(|pending| *pending -= 1);
    }
}

/// What is stored about a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    /// The last event before the calls were over.
    at: Seq,
    #[serde(default)]
    starts: u32,
}

/// The calls of a task that were under way.
pub(crate) struct UnfinishedCalls {
    live: Arc<LiveTask>,
    view: Arc<TaskView>,
}

impl UnfinishedCalls {
    /// None if no call of the task has begun and is not over.
    pub(crate) fn of(live: &Arc<LiveTask>) -> Option<Self> {
        let view = live.view();
        let has_open = view.progress.work.calls.iter().any(is_open);
        has_open.then(|| Self { live: live.clone(), view })
    }

    /// Only calls that saved something have a peer.
    fn have_peers(&self) -> bool {
        let work = &self.view.progress.work;
        let records = &self.view.call_records.calls;
        records.iter().any(|record| record.state.is_some() && work.find(&record.call.id).is_some_and(is_open))
    }
}

impl UnfinishedCalls {
    /// A notice in the task, which is over or works on something else by now.
    async fn notice(&self, at: Seq, text: &str) {
        let (task, context) = (self.live.key.task.clone(), self.view.context.clone());
        let id = MessageId::from(format!("not-told-{at}-{task}"));
        let message = Arc::new(Message::from_agent(id, context, Some(task), text));
        let state = self.live.view().progress.state;
        let later = Fact::NoticedLater { message: message.clone(), state };
        for fact in [later, Fact::Noticed { message }] {
            match self.live.record(Intent::Record(fact)).await {
                Ok(_) => return,
                Err(error) => tracing::debug!(?error, "a notice does not fit here"),
            }
        }
        tracing::warn!(task = %self.live.key.task, text, "people cannot be told in the task");
    }
}

fn is_open(call: &CallProgress) -> bool {
    call.phase == CallPhase::Started || call.asks.is_some()
}

impl AbandonedCalls {
    pub(crate) fn begin(&self) -> PendingGuard {
        self.pending.send_modify(|pending| *pending += 1);
        PendingGuard(self.pending.clone())
    }

    /// Remembers the calls before they are over. A store that cannot be written must not prevent a cancel.
    pub(crate) async fn remember(&self, open: &UnfinishedCalls) {
        if open.have_peers() {
            let entry = Entry { at: open.view.progress.head, starts: 0 };
            self.put(&open.live.key, entry).await;
        }
    }

    /// The calls are over: tells their peers, and tries again later if that fails.
    pub(crate) async fn notify(&self, open: UnfinishedCalls) {
        let Some(peers) = self.attempt(&open).await else { return };
        if !open.have_peers() {
            return;
        }
        let entry = Entry { at: open.view.progress.head, starts: 0 };
        if peers.unreached.is_empty() {
            self.settle(&open, entry, peers).await;
        } else {
            let this = self.clone();
            self.tracker.spawn(async move { this.retry(open, entry).await });
        }
    }

    /// The peers that do not know yet; none if the server stops.
    async fn attempt(&self, open: &UnfinishedCalls) -> Option<AbandonedPeers> {
        let request = TurnRequest::at(open.view.clone(), open.live.clone(), self.index.clone());
        tokio::select! {
            biased;
            peers = self.agent.abandon_calls(request) => Some(peers),
            () = self.stop.cancelled() => None,
        }
    }

    async fn retry(&self, open: UnfinishedCalls, entry: Entry) {
        let key = &open.live.key;
        let mut peers = AbandonedPeers::default();
        for delay in DELAYS {
            tokio::select! {
                biased;
                () = self.stop.cancelled() => return,
                () = tokio::time::sleep(delay) => {}
            }
            let Some(left) = self.attempt(&open).await else { return };
            if left.unreached.is_empty() {
                return self.settle(&open, entry, left).await;
            }
            peers = left;
        }
        let starts = entry.starts + 1;
        tracing::warn!(task = %key.task, starts, "the peers of cancelled calls were not notified");
        match starts {
            MAX_STARTS.. => self.settle(&open, entry, peers).await,
            _ => self.put(key, Entry { starts, ..entry }).await,
        }
    }

    /// Nothing more is tried. People read which peers do not know that their calls are over.
    async fn settle(
        &self,
        open: &UnfinishedCalls,
        entry: Entry,
        AbandonedPeers { unreached, lost }: AbandonedPeers,
    ) {
        let sentences = [lost, unreached].concat();
        if !sentences.is_empty() {
            open.notice(entry.at, &sentences.join("\n")).await;
        }
        self.forget(&open.live.key, entry.at).await;
    }

    async fn put(&self, key: &TaskKey, entry: Entry) {
        let Ok(value) = serde_json::to_vec(&entry) else { return };
        let record = Record { key: record_key(key, entry.at), value };
        self.change(key, RecordChange::Put { space: SPACE, record }).await;
    }

    async fn forget(&self, key: &TaskKey, at: Seq) {
        self.change(key, RecordChange::Delete { space: SPACE, key: record_key(key, at) }).await;
    }

    async fn change(&self, key: &TaskKey, change: RecordChange) {
        if let Err(error) = self.records.change(vec![change]).await {
            tracing::warn!(task = %key.task, error = %chain(&error), "cannot remember which calls are cancelled");
        }
    }
}

impl SessionService {
    /// Waits until it was tried to tell the peers of all calls that were cancelled. For a process that ends for good.
    pub async fn notify_peers(&self) {
        // The sender is part of this service.
        let _ = self.abandoned_calls.pending.subscribe().wait_for(|pending| *pending == 0).await;
    }

    /// Goes on with what an earlier process has left.
    pub(crate) async fn tell_left_peers(&self) {
        let left = self.stores.records.list_prefix(SPACE, "", None, MAX_READ).await;
        for record in left.unwrap_or_default() {
            let Some((key, entry)) = read(&record) else { continue };
            match self.left_calls(&key, entry.at).await {
                Some(open) => {
                    let abandoned = self.abandoned_calls.clone();
                    self.abandoned_calls.tracker.spawn(async move {
                        match abandoned.attempt(&open).await {
                            None => {}
                            Some(peers) if peers.unreached.is_empty() => {
                                abandoned.settle(&open, entry, peers).await
                            }
                            Some(_) => abandoned.retry(open, entry).await,
                        }
                    });
                }
                None => self.abandoned_calls.forget(&key, entry.at).await,
            }
        }
    }

    /// None if the task is not there any more, or was not canceled after all.
    async fn left_calls(&self, key: &TaskKey, at: Seq) -> Option<UnfinishedCalls> {
        let live = self.live_task(key).await.ok()??;
        let view = live.view_at(at).await.ok()??;
        let now = live.view();
        let is_over = |call: &CallProgress| now.progress.work.find(&call.id).is_none_or(|now| !is_open(now));
        let ended = now.progress.state.is_terminal() || view.progress.work.calls.iter().all(is_over);
        let view = Arc::new(view);
        ended.then_some(UnfinishedCalls { live, view })
    }
}

fn record_key(key: &TaskKey, at: Seq) -> String {
    format!("{at} {}", name(key))
}

fn read(record: &Record) -> Option<(TaskKey, Entry)> {
    let (_, task) = record.key.split_once(' ')?;
    Some((key_of(task)?, serde_json::from_slice(&record.value).ok()?))
}
