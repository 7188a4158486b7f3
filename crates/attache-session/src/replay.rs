//! Tasks read back from the log.

use std::sync::Arc;

use attache_domain::{Event, Seq, TaskKey, TaskView};
use attache_store::{EventLog, Snapshot, StoreError};

use crate::quarantine::Quarantine;

/// Events asked for at once: large enough that a long log takes few trips, small enough to hold.
pub(crate) const PAGE: usize = 512;

/// The whole task; `None` when there is none.
pub(crate) async fn view(log: &dyn EventLog, key: &TaskKey) -> Result<Option<TaskView>, StoreError> {
    view_at(log, key, Seq(u64::MAX)).await
}

/// Several whole tasks, in the order asked for. One that cannot be read is none.
pub(crate) async fn views(
    log: &dyn EventLog,
    quarantine: &Quarantine,
    keys: &[TaskKey],
) -> Result<Vec<Option<TaskView>>, StoreError> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = Vec::with_capacity(keys.len());
    for (key, events) in keys.iter().zip(log.read_each(keys, PAGE).await?) {
        let read = match events {
            Ok(events) if events.len() < PAGE => Ok(TaskView::fold(events.iter().map(|event| &**event))),
            Ok(_) => view(log, key).await,
            Err(error) => Err(error),
        };
        found.push(match read {
            Err(error @ StoreError::Corrupt { .. }) => {
                quarantine.add(key, &error);
                None
            }
            read => read?,
        });
    }
    Ok(found)
}

/// The task as it was right after event `at`, or before that as far as it has come. `None` when there is no task, or when
/// events before `at` are not kept any more.
pub(crate) async fn view_at(
    log: &dyn EventLog,
    key: &TaskKey,
    at: Seq,
) -> Result<Option<TaskView>, StoreError> {
    let mut page = log.read(key, Seq::START, PAGE).await?;
    let mut view: Option<TaskView> = None;
    let begins = page.first().is_none_or(|event| event.seq == Seq::START.next());
    // Short tasks need no snapshot; for long ones it saves reading from the start, if that is still there.
    if (page.len() >= PAGE || !begins)
        && let Some(snapshot) = readable_snapshot(log, key, at).await?
        && let Some(stored) = decode_snapshot(&snapshot.bytes)
    {
        page = log.read(key, stored.progress.head, PAGE).await?;
        view = Some(stored);
    }
    let head = view.as_ref().map_or(Seq::START, |view| view.progress.head);
    if page.first().is_some_and(|event| event.seq != head.next()) {
        return Ok(None);
    }
    while !page.is_empty() {
        let mut last = Seq::START;
        for event in page.iter().filter(|event| event.seq <= at) {
            last = event.seq;
            fold(&mut view, event, key)?;
        }
        if last == Seq::START || last >= at {
            break;
        }
        page = log.read(key, last, PAGE).await?;
    }
    Ok(view)
}

/// Not inlined, so that the large parser is compiled once: every crate that awaits [`view_at`] has a copy of its body.
#[inline(never)]
fn decode_snapshot(bytes: &[u8]) -> Option<TaskView> {
    serde_json::from_slice(bytes).ok()
}

/// An unreadable snapshot is ignored: the log has the same content.
async fn readable_snapshot(
    log: &dyn EventLog,
    key: &TaskKey,
    at: Seq,
) -> Result<Option<Snapshot>, StoreError> {
    match log.snapshot(key, at).await {
        Err(StoreError::Corrupt { what }) => {
            tracing::warn!(task = %key.task, what, "a snapshot cannot be read; the log is read from its start");
            Ok(None)
        }
        found => found,
    }
}

pub(crate) fn fold(view: &mut Option<TaskView>, event: &Arc<Event>, key: &TaskKey) -> Result<(), StoreError> {
    match view {
        Some(view) => view.apply(event),
        None => {
            let opened = TaskView::open(event);
            let what =
                || StoreError::Corrupt { what: format!("task {} does not begin with its opening", key.task) };
            *view = Some(opened.ok_or_else(what)?);
        }
    }
    Ok(())
}
