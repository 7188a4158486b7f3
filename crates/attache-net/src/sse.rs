//! Reads server-sent events as their bytes arrive.
//!
//! Accepts any chunking, every line ending and a byte order mark. [`SseReader`] lends out each event without
//! allocating; [`SseParser`] keeps whole events until they are taken. An event larger than the limit is an error.

use std::collections::VecDeque;

/// Everything between two blank lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SseEvent {
    /// The field `event`.
    pub name: Option<String>,
    pub id: Option<String>,
    /// Milliseconds to wait before reconnecting.
    pub retry: Option<u64>,
    /// The data lines, joined by line feeds. Invalid UTF-8 is replaced.
    pub data: Option<String>,
    /// The comment lines, joined by line feeds.
    pub comment: Option<String>,
}

/// An event as the reader lends it out; see [`SseEvent`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SseFields<'a> {
    pub name: Option<&'a [u8]>,
    pub id: Option<&'a [u8]>,
    pub retry: Option<u64>,
    pub data: Option<&'a [u8]>,
    pub comment: Option<&'a [u8]>,
}

/// The stream cannot be read any further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event is larger than {limit} bytes")]
pub struct EventTooLarge {
    pub limit: usize,
}

/// Reads events and hands each one to a closure.
#[derive(Debug)]
pub struct SseReader {
    limit: usize,
    /// A line whose end has not arrived.
    line: Vec<u8>,
    name: Field,
    id: Field,
    retry: Option<u64>,
    data: Field,
    comment: Field,
    /// The last byte was a carriage return, so a line feed right after it belongs to the same line ending.
    after_return: bool,
    first_line: bool,
}

/// May precede the first line.
pub const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

impl SseReader {
    /// `limit` bounds one event, in bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            name: Field::default(),
            id: Field::default(),
            retry: None,
            data: Field::default(),
            comment: Field::default(),
            after_return: false,
            first_line: true,
        }
    }

    /// Reads the next bytes and calls `on_event` with each event that they complete.
    pub fn read(
        &mut self,
        mut bytes: &[u8],
        mut on_event: impl FnMut(SseFields<'_>),
    ) -> Result<(), EventTooLarge> {
        if self.after_return && !bytes.is_empty() {
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            self.after_return = false;
        }
        while let Some(end) = memchr::memchr2(b'\r', b'\n', bytes) {
            if self.line.is_empty() {
                self.read_line(&bytes[..end], &mut on_event)?;
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(&bytes[..end]);
                self.read_line(&line, &mut on_event)?;
                line.clear();
                self.line = line;
            }
            let returned = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            if returned {
                self.after_return = bytes.is_empty();
                bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            }
        }
        self.check_size(bytes.len())?;
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    /// Ends the stream. Some servers send no blank line after their last event, so that event counts too.
    pub fn finish(&mut self, mut on_event: impl FnMut(SseFields<'_>)) -> Result<(), EventTooLarge> {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.read_line(&line, &mut on_event)?;
        }
        self.end_event(&mut on_event);
        Ok(())
    }

    fn read_line(
        &mut self,
        mut line: &[u8],
        on_event: &mut impl FnMut(SseFields<'_>),
    ) -> Result<(), EventTooLarge> {
        if std::mem::take(&mut self.first_line) {
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        if line.is_empty() {
            self.end_event(on_event);
            return Ok(());
        }
        let colon = memchr::memchr(b':', line).unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        if matches!(&line[..colon], b"" | b"event" | b"id" | b"data") {
            self.check_size(value.len())?;
        }
        match &line[..colon] {
            b"" => self.comment.add_line(value),
            b"event" => self.name.set(value),
            b"id" if memchr::memchr(0, value).is_none() => self.id.set(value),
            b"data" => self.data.add_line(value),
            b"retry" => self.retry = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok()),
            _ => {}
        }
        Ok(())
    }

    fn end_event(&mut self, on_event: &mut impl FnMut(SseFields<'_>)) {
        let event = SseFields {
            name: self.name.get(),
            id: self.id.get(),
            retry: self.retry,
            data: self.data.get(),
            comment: self.comment.get(),
        };
        if event != SseFields::default() {
            on_event(event);
        }
        self.retry = None;
        for field in [&mut self.name, &mut self.id, &mut self.data, &mut self.comment] {
            field.clear();
        }
    }

    fn check_size(&self, more: usize) -> Result<(), EventTooLarge> {
        let fields = [&self.name, &self.id, &self.data, &self.comment];
        let held: usize = fields.iter().map(|field| field.size()).sum();
        if held + self.line.len() + more > self.limit {
            return Err(EventTooLarge { limit: self.limit });
        }
        Ok(())
    }
}

/// The value of one field. The buffer is reused from event to event.
#[derive(Debug, Default)]
struct Field {
    is_set: bool,
    bytes: Vec<u8>,
}

impl Field {
    fn get(&self) -> Option<&[u8]> {
        self.is_set.then_some(&self.bytes)
    }

    fn set(&mut self, value: &[u8]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(value);
        self.is_set = true;
    }

    fn add_line(&mut self, value: &[u8]) {
        if self.is_set {
            self.bytes.push(b'\n');
        }
        self.bytes.extend_from_slice(value);
        self.is_set = true;
    }

    fn clear(&mut self) {
        self.is_set = false;
        self.bytes.clear();
    }

    /// Counts the line feed that the next line would add.
    fn size(&self) -> usize {
        self.bytes.len() + usize::from(self.is_set)
    }
}

/// Reads events and keeps them until they are taken.
#[derive(Debug)]
pub struct SseParser {
    reader: SseReader,
    events: VecDeque<SseEvent>,
}

impl SseParser {
    /// `limit` bounds one event, in bytes.
    pub fn new(limit: usize) -> Self {
        Self { reader: SseReader::new(limit), events: VecDeque::new() }
    }

    /// Reads the next bytes. Events that were complete before an error can still be taken.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), EventTooLarge> {
        let Self { reader, events } = self;
        reader.read(bytes, |event| events.push_back(SseEvent::from(event)))
    }

    /// Ends the stream; see [`SseReader::finish`].
    pub fn finish(&mut self) -> Result<(), EventTooLarge> {
        let Self { reader, events } = self;
        reader.finish(|event| events.push_back(SseEvent::from(event)))
    }

    /// Takes the oldest event.
    pub fn next_event(&mut self) -> Option<SseEvent> {
        self.events.pop_front()
    }
}

impl From<SseFields<'_>> for SseEvent {
    fn from(fields: SseFields<'_>) -> Self {
        let text = |bytes: Option<&[u8]>| bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        Self {
            name: text(fields.name),
            id: text(fields.id),
            retry: fields.retry,
            data: text(fields.data),
            comment: text(fields.comment),
        }
    }
}

#[cfg(test)]
#[path = "sse_tests.rs"]
mod tests;
