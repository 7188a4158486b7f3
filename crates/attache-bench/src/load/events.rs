//! Counts the events of an SSE stream and checks that their ids leave no hole and repeat nothing.

use serde_json::{Value, json};

/// As much of a line as its field name and an id need; data lines are counted, not kept.
const KEPT_BYTES: usize = 32;

/// What came over one stream, or, added up, over many.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct EventCounts {
    pub(super) events: u64,
    /// Bytes of all data lines, without field names.
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
#[derive(Debug, Default)]
pub(super) struct EventCounter {
    pub(super) counts: EventCounts,
    last_id: Option<u64>,
    /// Of the event being read.
    id: Option<u64>,
    has_data: bool,
    /// The beginning of a line that is not all there yet, and how long it is so far.
    kept: Vec<u8>,
    line_bytes: usize,
}

impl EventCounter {
    pub(super) fn feed(&mut self, mut payload: &[u8]) {
        while let Some(end) = memchr::memchr(b'\n', payload) {
            let (piece, rest) = (&payload[..end], &payload[end + 1..]);
            if self.line_bytes == 0 {
                self.line(piece, piece.len());
            } else {
                self.keep(piece);
                let kept = std::mem::take(&mut self.kept);
                self.line(&kept, self.line_bytes);
                self.kept = kept;
                self.kept.clear();
                self.line_bytes = 0;
            }
            payload = rest;
        }
        self.keep(payload);
    }

    fn keep(&mut self, piece: &[u8]) {
        let room = KEPT_BYTES.saturating_sub(self.kept.len()).min(piece.len());
        self.kept.extend_from_slice(&piece[..room]);
        self.line_bytes += piece.len();
    }

    /// `line` may be cut short; `length` is its true length.
    fn line(&mut self, line: &[u8], length: usize) {
        if length == 0 {
            self.end_of_event();
        } else if let Some(data) = line.strip_prefix(b"data:") {
            let space = usize::from(data.first() == Some(&b' '));
            self.counts.data_bytes += (length - b"data:".len() - space) as u64;
            self.has_data = true;
        } else if let Some(id) = line.strip_prefix(b"id:") {
            self.id = std::str::from_utf8(id).ok().and_then(|id| id.trim().parse().ok());
        }
    }

    /// A blank line behind nothing but a comment is a heartbeat and counts as no event.
    fn end_of_event(&mut self) {
        let id = self.id.take();
        if !std::mem::take(&mut self.has_data) {
            return;
        }
        self.counts.events += 1;
        match (id, self.last_id) {
            (None, _) => self.counts.without_id += 1,
            (Some(id), Some(last)) if id <= last => self.counts.repeated += 1,
            (Some(id), Some(last)) => self.counts.missing += id - last - 1,
            (Some(_), None) => {}
        }
        self.last_id = id.or(self.last_id);
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
