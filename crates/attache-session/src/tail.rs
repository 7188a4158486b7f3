//! The newest events of a task in memory, so that followers that keep up never read the store.

use std::collections::VecDeque;
use std::sync::Arc;

use attache_domain::{
    CallRecords, DevtoolEvent, Event, Seq, Update, UpdateContext, closes_stream, devtool_event_of, is_shown,
    update_of,
};

use crate::encoded_events::EncodedEvents;
use crate::weight::{weight_of_fact, weight_of_live};

/// An event with everything that is needed to show it, encoded once for each dialect.
pub struct TailEntry {
    pub event: Arc<Event>,
    /// The state before the event; the update is made only when it is encoded.
    stage: UpdateContext,
    /// The calls after the event, for clients that see calls.
    call_records: Arc<CallRecords>,
    encoded: EncodedEvents,
}

impl TailEntry {
    /// `stage` is of before the event, `call_records` of after it.
    pub(crate) fn new(event: Arc<Event>, stage: UpdateContext, call_records: Arc<CallRecords>) -> Self {
        Self { event, stage, call_records, encoded: EncodedEvents::default() }
    }

    /// The event for clients of the development-tool extension; `None` if it is internal.
    pub fn devtool_event(&self) -> Option<DevtoolEvent<'_>> {
        devtool_event_of(&self.stage, &self.call_records, &self.event)
    }

    pub fn stage(&self) -> &UpdateContext {
        &self.stage
    }

    pub fn call_records(&self) -> &Arc<CallRecords> {
        &self.call_records
    }

    /// The event for plain A2A clients; `None` if it is internal.
    pub fn update(&self) -> Option<Update<'_>> {
        update_of(&self.stage, &self.event)
    }

    /// Clients see something of this event.
    pub fn is_visible(&self) -> bool {
        is_shown(&self.stage, &self.event.fact)
    }

    /// Writes the event in dialect number `dialect`. The encoding is kept if the task has `others` as readers.
    pub fn write_encoded(
        &self,
        dialect: usize,
        others: bool,
        out: &mut Vec<u8>,
        encode: impl FnOnce(&Self, &mut Vec<u8>),
    ) {
        if others {
            self.encoded.write(dialect, out, |out| encode(self, out));
        } else {
            encode(self, out);
        }
    }

    /// What the event after this one is shown by.
    pub(crate) fn stage_after(&self) -> UpdateContext {
        self.stage.after(&self.event.fact)
    }

    /// A stream that has shown this event is done.
    pub fn closes(&self) -> bool {
        closes_stream(&self.event.fact)
    }
}

/// Bounded by count and by weight; the oldest entries go first.
const MAX_ENTRIES: usize = 1024;
const MAX_BYTES: usize = 1 << 20;

#[derive(Default)]
pub(crate) struct Tail {
    entries: VecDeque<(usize, Arc<TailEntry>)>,
    bytes: usize,
}

impl Tail {
    pub(crate) fn push(&mut self, entry: Arc<TailEntry>) {
        let weight =
            weight_of_fact(&entry.event.fact) + weight_of_live(&entry.event.fact, &entry.call_records);
        self.bytes += weight;
        self.entries.push_back((weight, entry));
        while self.entries.len() > MAX_ENTRIES || (self.bytes > MAX_BYTES && self.entries.len() > 1) {
            let Some((weight, _)) = self.entries.pop_front() else { break };
            self.bytes -= weight;
        }
    }

    /// Adds the entries after `after` to `found`, at most `limit`; false when some of them are not here any more.
    pub(crate) fn after(&self, after: Seq, limit: usize, found: &mut Vec<Arc<TailEntry>>) -> bool {
        let Some((_, first)) = self.entries.front() else { return false };
        let first = first.event.seq.0;
        if after.0 + 1 < first {
            return false;
        }
        let skip = usize::try_from(after.0 + 1 - first).unwrap_or(usize::MAX);
        if skip < self.entries.len() {
            found.extend(self.entries.range(skip..).take(limit).map(|(_, entry)| entry.clone()));
        }
        true
    }

    pub(crate) fn find(&self, seq: Seq) -> Option<&Arc<TailEntry>> {
        let (_, first) = self.entries.front()?;
        let place = usize::try_from(seq.0.checked_sub(first.event.seq.0)?).ok()?;
        self.entries.get(place).map(|(_, entry)| entry)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}
