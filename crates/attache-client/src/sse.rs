//! Server-sent events, read as the bytes come.

use std::collections::VecDeque;

/// One event with data; comments and empty events are not told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SseEvent {
    pub(crate) id: Option<String>,
    /// The data lines, joined by line feeds. What is not UTF-8 is replaced.
    pub(crate) data: String,
}

/// An event is larger than it may be; the rest of the stream is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SseEventTooLarge;

#[derive(Debug)]
pub(crate) struct SseParser {
    limit: usize,
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    id: Option<Vec<u8>>,
    data: Option<Vec<u8>>,
    frames: VecDeque<SseEvent>,
    /// The last byte was a carriage return: a line feed right behind it ends no further line.
    after_return: bool,
}

impl SseParser {
    /// `limit` is for one event, in bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, line: vec![], id: None, data: None, frames: VecDeque::new(), after_return: false }
    }

    pub(crate) fn push(&mut self, mut bytes: &[u8]) -> Result<(), SseEventTooLarge> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_return) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\r' | b'\n')) else {
                self.check(bytes.len())?;
                self.line.extend_from_slice(bytes);
                return Ok(());
            };
            self.check(end)?;
            self.line.extend_from_slice(&bytes[..end]);
            self.after_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            let line = std::mem::take(&mut self.line);
            self.take_line(&line);
        }
        Ok(())
    }

    /// The oldest event that was not taken yet.
    pub(crate) fn next_event(&mut self) -> Option<SseEvent> {
        self.frames.pop_front()
    }

    fn check(&self, more: usize) -> Result<(), SseEventTooLarge> {
        let held = self.line.len() + self.data.as_ref().map_or(0, Vec::len);
        if held + more > self.limit { Err(SseEventTooLarge) } else { Ok(()) }
    }

    fn take_line(&mut self, line: &[u8]) {
        if line.is_empty() {
            let id = self.id.take().map(|id| String::from_utf8_lossy(&id).into_owned());
            if let Some(data) = self.data.take() {
                self.frames.push_back(SseEvent { id, data: String::from_utf8_lossy(&data).into_owned() });
            }
            return;
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            b"data" => match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_vec()),
            },
            b"id" => self.id = Some(value.to_vec()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(chunks: &[&[u8]]) -> Vec<SseEvent> {
        let mut parser = SseParser::new(1000);
        chunks.iter().for_each(|chunk| parser.push(chunk).unwrap());
        std::iter::from_fn(|| parser.next_event()).collect()
    }

    fn frame(id: Option<&str>, data: &str) -> SseEvent {
        SseEvent { id: id.map(str::to_owned), data: data.into() }
    }

    const STREAM: &[u8] =
        b": hello\n\nid: 1\ndata: {}\n\nid:2\r\ndata:a\r\ndata: b\r\n\r\nevent: x\n\ndata: c\r\rdata: lost";

    #[test]
    fn events_are_read_with_their_ids_and_an_unfinished_one_is_not() {
        assert_eq!(read(&[STREAM]), [frame(Some("1"), "{}"), frame(Some("2"), "a\nb"), frame(None, "c")]);
    }

    #[test]
    fn an_event_that_is_too_large_is_refused() {
        let mut parser = SseParser::new(10);
        assert_eq!(parser.push(b"data: 12345678"), Err(SseEventTooLarge));
        let mut parser = SseParser::new(10);
        assert_eq!(
            parser.push(b"data: 1\ndata: 2\ndata: 3\ndata: 4\ndata: 5\ndata: 6\n"),
            Err(SseEventTooLarge)
        );
    }

    proptest! {
        #[test]
        fn chunks_make_no_difference(cuts in proptest::collection::vec(0..STREAM.len(), 0..8)) {
            let mut cuts = cuts;
            cuts.sort_unstable();
            let mut chunks = Vec::new();
            let mut from = 0;
            for cut in cuts {
                chunks.push(&STREAM[from..cut]);
                from = cut;
            }
            chunks.push(&STREAM[from..]);
            prop_assert_eq!(read(&chunks), read(&[STREAM]));
        }
    }
}
