//! Delivers the events of one task to one receiver, one notification at a time.

use std::sync::Arc;
use std::time::Duration;

use attache_domain::{PushShape, Seq, TaskKey, Timestamp};
use attache_store::StoreError;
use bytes::Bytes;
use tokio_util::sync::CancellationToken;

use super::backoff::{random_fraction, retry_delay};
use super::reader::OutboxReader;
use super::registration::DELETE_TIMEOUT;
use super::sender::{DeliveryResult, PushDelivery, PushPayload};
use super::stored::StoredPushStatus;
use super::{ActiveConfig, Outbox, RestState};
use crate::TailEntry;
use crate::live_task::{LiveTask, now};
use crate::runner::chain;

/// Why a delivery stops reading.
enum End {
    /// There is nothing more to do, or the delivery was stopped.
    Done,
    /// The task is released while nothing can be sent.
    After(Duration),
}

/// During shorter delays the task stays in memory.
const SHORT_DELAY: Duration = Duration::from_secs(5);

impl Outbox {
    /// Ends when everything is delivered, when the delivery gives up, or when it is stopped.
    pub(super) async fn deliver(self: &Arc<Self>, active: &Arc<ActiveConfig>) {
        let mut pause = Duration::from_millis(50);
        while !active.stop.is_cancelled() {
            let rest = match self.deliver_from_cursor(active).await {
                Ok(End::Done) => return,
                Ok(End::After(rest)) => rest,
                Err(error @ StoreError::Corrupt { .. }) => {
                    self.counters.quarantine.add(&active.key.task, &error);
                    let failures = self.status(active).map_or(1, |status| status.failures + 1);
                    self.give_up(active, failures, "the log of the task cannot be read".into()).await;
                    return;
                }
                Err(error) => {
                    self.counters.store_failed();
                    let task = &active.key.task.task;
                    tracing::error!(%task, error = %chain(&error), "the log is not available for push notifications");
                    pause = (pause * 2).min(SHORT_DELAY);
                    pause
                }
            };
            sleep(&active.stop, rest).await;
        }
    }

    async fn deliver_from_cursor(self: &Arc<Self>, active: &Arc<ActiveConfig>) -> Result<End, StoreError> {
        let Some(status) = self.status(active) else { return Ok(End::Done) };
        // Checked before the task is loaded: the code that opens a task guards it until the task exists.
        let held = self.is_held(&active.key.task);
        let Some(live) = self.task(&active.key.task).await? else {
            return self.leave_orphan(active, held).await;
        };
        let mut reading = OutboxReader::open(live, status.cursor, active.shape, self.options.events).await?;
        loop {
            if let Some(entry) = reading.next_buffered() {
                let delivery = self.delivery(active, &reading, &entry);
                if let Some(end) = self.send(active, &delivery, entry.event.at).await {
                    return Ok(end);
                }
                continue;
            }
            if self.park(active, &reading.live, reading.cursor()).await {
                return Ok(End::Done);
            }
            tokio::select! {
                biased;
                () = active.stop.cancelled() => return Ok(End::Done),
                more = reading.read_more() => more?,
                () = active.wakeup.notified() => {}
            }
        }
    }

    /// Sends a notification until it is accepted; `Some` if the delivery cannot continue now.
    async fn send(&self, active: &Arc<ActiveConfig>, delivery: &PushDelivery, at: Timestamp) -> Option<End> {
        self.change(active, |slot| slot.sending_since = Some(at));
        loop {
            let failures = self.status(active)?.failures;
            let Some(delivered) = self.attempt(active, delivery, failures > 0).await else {
                return Some(End::Done);
            };
            let (why, retry_after, last) = match delivered {
                DeliveryResult::Accepted => {
                    self.counters.push_delivered();
                    return self.accepted(active, delivery);
                }
                DeliveryResult::Failed { why, retry_after } => {
                    (why, retry_after, failures + 1 >= self.options.attempts)
                }
                DeliveryResult::Refused { why } => (why, None, true),
            };
            self.counters.push_failed();
            let failures = failures + 1;
            if last {
                self.give_up(active, failures, why).await;
                return Some(End::Done);
            }
            let rest = retry_delay(&self.options, failures, retry_after, random_fraction());
            tracing::debug!(
                task = %active.key.task.task, config = %active.key.id, seq = %delivery.seq, failures, why, ?rest,
                "a push notification was not taken"
            );
            self.failed(active, failures, why, rest);
            if rest > SHORT_DELAY {
                return Some(End::After(rest));
            }
            sleep(&active.stop, rest).await;
            if active.stop.is_cancelled() {
                return Some(End::Done);
            }
        }
    }

    /// One attempt, when a slot is free; `None` if it was stopped.
    async fn attempt(
        &self,
        active: &ActiveConfig,
        delivery: &PushDelivery,
        doubtful: bool,
    ) -> Option<DeliveryResult> {
        let slots = if doubtful { &self.doubtful } else { &self.slots };
        let _room = tokio::select! {
            biased;
            () = active.stop.cancelled() => return None,
            room = slots.acquire() => room.ok()?,
        };
        let stopped = async {
            active.stop.cancelled().await;
            tokio::time::sleep(DELETE_TIMEOUT).await;
        };
        tokio::select! {
            biased;
            delivered = self.sender.deliver(delivery) => Some(delivered),
            () = stopped => None,
        }
    }

    fn delivery(&self, active: &ActiveConfig, reading: &OutboxReader, entry: &TailEntry) -> PushDelivery {
        let ActiveConfig { key, config, shape, .. } = active;
        let (seq, shape) = (entry.event.seq, *shape);
        let body = self.encode(reading, entry, shape);
        PushDelivery { task: key.task.task.clone(), config: config.clone(), seq, shape, body }
    }

    fn encode(&self, reading: &OutboxReader, entry: &TailEntry, shape: PushShape) -> Bytes {
        if let (PushShape::WholeTask, Some(view)) = (shape, reading.view()) {
            return self.sender.encode(&PushPayload::Task(view));
        }
        let (task, context, ending) = reading
            .live
            .with_progress(|progress| (progress.task.clone(), progress.context.clone(), progress.ending));
        self.sender.encode(&PushPayload::Update { task: &task, context: &context, ending, entry })
    }

    /// Something when another has taken the place of this delivery.
    fn accepted(&self, active: &Arc<ActiveConfig>, delivery: &PushDelivery) -> Option<End> {
        let kept = self.change(active, |slot| {
            slot.status = StoredPushStatus { delivered: delivery.seq, ..StoredPushStatus::at(delivery.seq) };
            (slot.sending_since, slot.next_attempt) = (None, None);
        });
        if kept { None } else { Some(End::Done) }
    }

    fn failed(&self, active: &Arc<ActiveConfig>, failures: u32, why: String, rest: Duration) {
        self.change(active, |slot| {
            (slot.status.failures, slot.status.last_error) = (failures, Some(why));
            slot.next_attempt = now().checked_add(rest).ok();
        });
    }

    /// Changes what is known about a configuration and has it written down; false when it is not ours any more.
    fn change(&self, active: &Arc<ActiveConfig>, change: impl FnOnce(&mut super::ConfigSlot)) -> bool {
        let mut state = self.state();
        let Some(slot) = state.slot(active) else { return false };
        let before = slot.status.clone();
        change(slot);
        if slot.status != before {
            let status = slot.status.clone();
            state.queue.note(&active.key, status);
            drop(state);
            self.in_line.notify_one();
        }
        true
    }

    fn status(&self, active: &Arc<ActiveConfig>) -> Option<StoredPushStatus> {
        self.state().slot(active).map(|slot| slot.status.clone())
    }

    /// Parks a configuration whose task rests and has nothing more to deliver; false if that is not so.
    async fn park(&self, active: &Arc<ActiveConfig>, live: &LiveTask, cursor: Seq) -> bool {
        self.deactivate(active, |held, status| {
            // Under the lock, so that no guard can be taken in between.
            if held || !live.rests_at(cursor) {
                return false;
            }
            status.cursor = cursor;
            true
        })
        .await
    }

    async fn give_up(&self, active: &Arc<ActiveConfig>, failures: u32, why: String) {
        let (task, config) = (&active.key.task.task, &active.key.id);
        tracing::warn!(%task, %config, failures, why, "push notifications are given up; set the configuration again to go on");
        let given_up = self.deactivate(active, |_, status| {
            (status.failures, status.last_error, status.gave_up) = (failures, Some(why), true);
            true
        });
        if given_up.await {
            self.counters.push_gave_up();
        }
    }

    fn is_held(&self, task: &TaskKey) -> bool {
        self.state().is_held(task)
    }

    /// Writes down that there is nothing more to do, then forgets the configuration.
    async fn deactivate(
        &self,
        active: &Arc<ActiveConfig>,
        may: impl FnOnce(bool, &mut StoredPushStatus) -> bool,
    ) -> bool {
        let receipt = {
            let mut state = self.state();
            let held = state.is_held(&active.key.task);
            let Some(slot) = state.slot(active) else { return true };
            if !may(held, &mut slot.status) {
                return false;
            }
            slot.rest = RestState::Begun;
            (slot.sending_since, slot.next_attempt) = (None, None);
            let key = &active.key;
            let changes = [key.put_status(&slot.status), key.delete_active()];
            state.queue.put(key, changes)
        };
        self.in_line.notify_one();
        // If it could not be written, the next start finds that there is nothing to do.
        let _ = receipt.wait().await;
        let mut state = self.state();
        if let Some(slot) = state.slot(active).filter(|slot| slot.rest == RestState::Begun) {
            slot.rest = RestState::Known;
            state.remove_idle(&active.key.task);
        }
        true
    }

    /// The task does not exist: it is about to be opened, or never was.
    ///
    /// `was_held`: it was guarded when it was looked up, so it may exist now.
    async fn leave_orphan(&self, active: &Arc<ActiveConfig>, was_held: bool) -> Result<End, StoreError> {
        let receipt = {
            let mut state = self.state();
            let held = state.is_held(&active.key.task);
            if state.slot(active).is_none() {
                return Ok(End::Done);
            }
            if was_held && !held {
                return Ok(End::After(Duration::ZERO));
            }
            if held {
                None
            } else {
                if let Some(mail) = state.tasks.get_mut(&active.key.task) {
                    mail.slots.remove(&active.key.id);
                }
                state.remove_idle(&active.key.task);
                Some(state.queue.put(&active.key, active.key.delete_all()))
            }
        };
        match receipt {
            Some(receipt) => {
                self.in_line.notify_one();
                receipt.wait().await?;
                Ok(End::Done)
            }
            None => {
                tokio::select! {
                    () = active.wakeup.notified() => {}
                    () = active.stop.cancelled() => {}
                }
                Ok(End::After(Duration::ZERO))
            }
        }
    }
}

async fn sleep(stop: &CancellationToken, rest: Duration) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = tokio::time::sleep(rest) => {}
    }
}
