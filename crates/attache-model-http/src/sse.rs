//! Server-sent events, read as the bytes come.
//!
//! Takes any chunking, every line ending and a byte order mark, and looks at each byte once. Unlike a browser
//! it delivers a last event that no blank line follows: providers end their streams that way.

use std::collections::VecDeque;

/// One event; comments and events without data are not told.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SseEvent {
    pub name: Option<String>,
    /// The data lines, joined by line feeds. What is not UTF-8 is replaced.
    pub data: String,
}

/// An event is larger than it may be; the rest of the stream is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event is larger than {limit} bytes")]
pub struct EventTooLarge {
    pub limit: usize,
}

#[derive(Debug)]
pub struct SseParser {
    limit: usize,
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    name: Option<Vec<u8>>,
    data: Option<Vec<u8>>,
    events: VecDeque<SseEvent>,
    /// The last byte was a carriage return: a line feed right behind it ends no further line.
    after_return: bool,
    first_line: bool,
}

pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

impl SseParser {
    /// `limit` is for one event, in bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            name: None,
            data: None,
            events: VecDeque::new(),
            after_return: false,
            first_line: true,
        }
    }

    /// Takes the next bytes in. Events that were whole before an error can still be taken.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<(), EventTooLarge> {
        if self.after_return && !bytes.is_empty() {
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            self.after_return = false;
        }
        while let Some(end) = memchr::memchr2(b'\r', b'\n', bytes) {
            if self.line.is_empty() {
                self.take_line(&bytes[..end])?;
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(&bytes[..end]);
                self.take_line(&line)?;
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

    /// There are no more bytes.
    pub fn finish(&mut self) -> Result<(), EventTooLarge> {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.take_line(&line)?;
        }
        self.take_event();
        Ok(())
    }

    /// The oldest event that was not taken yet.
    pub fn next_event(&mut self) -> Option<SseEvent> {
        self.events.pop_front()
    }

    fn take_line(&mut self, mut line: &[u8]) -> Result<(), EventTooLarge> {
        if std::mem::take(&mut self.first_line) {
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        if line.is_empty() {
            self.take_event();
            return Ok(());
        }
        let colon = memchr::memchr(b':', line).unwrap_or(line.len());
        let (field, value) = (&line[..colon], line.get(colon + 1..).unwrap_or_default());
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                self.check_size(value.len())?;
                match &mut self.data {
                    Some(data) => {
                        data.push(b'\n');
                        data.extend_from_slice(value);
                    }
                    None => self.data = Some(value.to_vec()),
                }
            }
            b"event" => {
                self.check_size(value.len())?;
                self.name = Some(value.to_vec());
            }
            // Comments, ids, retry hints and what nobody knows.
            _ => {}
        }
        Ok(())
    }

    fn take_event(&mut self) {
        let name = self.name.take();
        if let Some(data) = self.data.take() {
            self.events.push_back(SseEvent { name: name.map(text), data: text(data) });
        }
    }

    fn check_size(&self, more: usize) -> Result<(), EventTooLarge> {
        let data = self.data.as_ref().map_or(0, |data| data.len() + 1);
        let size = data + self.line.len() + more;
        if size > self.limit { Err(EventTooLarge { limit: self.limit }) } else { Ok(()) }
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
#[path = "sse_tests.rs"]
mod tests;
