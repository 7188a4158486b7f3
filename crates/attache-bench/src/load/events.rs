//! Counts the events of an SSE stream and checks that their ids have no gaps or repeats.

use attache_net::sse::{SseFields, SseReader};
use serde_json::{Value, json};

/// The counts of one stream, or the sum over several.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct EventCounts {
    pub(super) events: u64,
    /// Bytes of all data.
    pub(super) data_bytes: u64,
    /// Ids skipped between one event and the next.
    pub(super) missing: u64,
    /// Events whose id was not above the one before.
    pub(super) repeated: u64,
    pub(super) without_id: u64,
}

impl EventCounts {
    pub(super) fn add(&mut self, other: &Self) {
        self.events += other.events;
        self.data_bytes += other.data_bytes;
        self.missing += other.missing;
        self.repeated += other.repeated;
        self.without_id += other.without_id;
    }

    pub(super) fn describe(&self) -> Value {
        json!({
            "events": self.events,
            "data_bytes": self.data_bytes,
            "missing_events": self.missing,
            "repeated_events": self.repeated,
            "events_without_id": self.without_id,
        })
    }
}

/// Reads one stream's payload, in pieces of any size.
#[derive(Debug)]
pub(super) struct EventCounter {
    pub(super) counts: EventCounts,
    last_id: Option<u64>,
    reader: SseReader,
}

impl Default for EventCounter {
    fn default() -> Self {
        Self { counts: EventCounts::default(), last_id: None, reader: SseReader::new(usize::MAX) }
    }
}

impl EventCounter {
    pub(super) fn feed(&mut self, payload: &[u8]) {
        let Self { counts, last_id, reader } = self;
        let read = reader.read(payload, |event| counts.count(event, last_id));
        read.expect("the reader has no limit");
    }
}

impl EventCounts {
    /// An event without data is a heartbeat and does not count.
    fn count(&mut self, event: SseFields<'_>, last_id: &mut Option<u64>) {
        let Some(data) = event.data else { return };
        self.events += 1;
        self.data_bytes += data.len() as u64;
        let id = event.id.and_then(|id| std::str::from_utf8(id).ok()?.trim().parse().ok());
        match (id, *last_id) {
            (None, _) => self.without_id += 1,
            (Some(id), Some(last)) if id <= last => self.repeated += 1,
            (Some(id), Some(last)) => self.missing += id - last - 1,
            (Some(_), None) => {}
        }
        *last_id = id.or(*last_id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> EventCounts {
        let mut counter = EventCounter::default();
        counter.feed(text.as_bytes());
        counter.counts
    }

    #[test]
    fn any_split_of_the_stream_gives_the_same_counts() {
        let long = "y".repeat(100);
        let text = format!("id: 3\ndata: abc\n\n: heartbeat\n\ndata:{long}\nid:4\n\n");
        let whole = count(&text);
        assert_eq!(whole, EventCounts { events: 2, data_bytes: 103, ..EventCounts::default() });
        for split in 0..text.len() {
            let mut counter = EventCounter::default();
            counter.feed(&text.as_bytes()[..split]);
            counter.feed(&text.as_bytes()[split..]);
            assert_eq!(counter.counts, whole, "split at {split}");
        }
    }

    #[test]
    fn holes_and_repeats_are_told_apart() {
        let counts = count("id: 1\ndata: a\n\nid: 4\ndata: b\n\nid: 4\ndata: b\n\ndata: c\n\n");
        assert_eq!((counts.missing, counts.repeated, counts.without_id), (2, 1, 1));
    }
}
