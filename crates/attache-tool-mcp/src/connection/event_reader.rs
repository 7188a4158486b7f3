//! Server-sent events, read piece by piece and never kept beyond a bound.

use std::collections::VecDeque;

use attache_net::HttpResponse;

use super::MAX_MESSAGE_BYTES;
use super::http_channel::HttpError;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) name: Option<String>,
    pub(super) data: Option<String>,
    pub(super) id: Option<String>,
    pub(super) retry: Option<u64>,
}

/// The events of an answer.
pub(super) struct EventReader {
    answer: HttpResponse,
    parser: EventParser,
}

impl EventReader {
    pub(super) fn of(answer: HttpResponse) -> Self {
        Self { answer, parser: EventParser::new(MAX_MESSAGE_BYTES) }
    }

    /// The next event; none at the end. May be given up and taken up again at any time.
    pub(super) async fn next(&mut self) -> Result<Option<Event>, HttpError> {
        loop {
            if let Some(event) = self.parser.ready.pop_front() {
                return Ok(Some(event));
            }
            match self.answer.chunk().await.map_err(HttpError::Net)? {
                Some(chunk) => self.parser.push(&chunk)?,
                None => return Ok(None),
            }
        }
    }
}

pub(super) struct EventParser {
    pub(super) ready: VecDeque<Event>,
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    event: Event,
    any: bool,
    /// The last byte was a carriage return: a line feed after it belongs to the same end of line.
    after_return: bool,
    first: bool,
    size: usize,
    largest: usize,
}

impl EventParser {
    pub(super) fn new(largest: usize) -> Self {
        Self {
            ready: VecDeque::new(),
            line: Vec::new(),
            event: Event::default(),
            any: false,
            after_return: false,
            first: true,
            size: 0,
            largest,
        }
    }

    pub(super) fn push(&mut self, mut bytes: &[u8]) -> Result<(), HttpError> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_return) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = memchr::memchr2(b'\n', b'\r', bytes);
            let part = &bytes[..end.unwrap_or(bytes.len())];
            self.size += part.len();
            if self.size > self.largest {
                return Err(HttpError::TooLarge);
            }
            self.line.extend_from_slice(part);
            let Some(end) = end else { return Ok(()) };
            self.after_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            let line = std::mem::take(&mut self.line);
            self.take_line(&line);
        }
        Ok(())
    }

    fn take_line(&mut self, line: &[u8]) {
        let line = match std::mem::take(&mut self.first) {
            true => line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line),
            false => line,
        };
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            self.size = 0;
            if std::mem::take(&mut self.any) {
                self.ready.push_back(event);
            }
            return;
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &line[line.len()..]),
        };
        let value = String::from_utf8_lossy(value.strip_prefix(b" ").unwrap_or(value));
        match field {
            b"data" => match &mut self.event.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(&value);
                }
                none => *none = Some(value.into_owned()),
            },
            b"event" => self.event.name = Some(value.into_owned()),
            b"id" if !value.contains('\0') => self.event.id = Some(value.into_owned()),
            b"retry" => self.event.retry = value.parse().ok(),
            _ => return,
        }
        self.any = true;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<Event> {
        let mut parser = EventParser::new(100);
        pieces.iter().for_each(|piece| parser.push(piece).unwrap());
        parser.ready.into()
    }

    fn message(data: &str) -> Event {
        Event { data: Some(data.into()), ..Event::default() }
    }

    #[test]
    fn events_are_read_as_the_standard_says() {
        let text = "\u{feff}: hello\nevent: endpoint\ndata:/x\nid: 7\nretry: 10\nother: 1\n\n\n: only a comment\n\n\
                    data: one\r\ndata: two\r\n\r\ndata\n\ndata: unfinished";
        let first = Event {
            name: Some("endpoint".into()),
            data: Some("/x".into()),
            id: Some("7".into()),
            retry: Some(10),
        };
        assert_eq!(read(&[text.as_bytes()]), [first, message("one\ntwo"), message("")]);
    }

    #[test]
    fn an_event_without_end_is_not_kept() {
        let mut parser = EventParser::new(100);
        assert!(matches!(parser.push(&[b'x'; 101]), Err(HttpError::TooLarge)));
        let mut parser = EventParser::new(100);
        let lines = "data: 12345678\n".repeat(8);
        assert!(matches!(parser.push(lines.as_bytes()), Err(HttpError::TooLarge)));
        let mut parser = EventParser::new(100);
        parser.push("data: 12345678\n\n".repeat(80).as_bytes()).unwrap();
        assert_eq!(parser.ready.len(), 80);
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(text in "(data: a|id: 1|\r|\n|\r\n|: x|ä){0,20}", cuts in prop::collection::vec(0usize..60, 0..4)) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(read(&pieces), read(&[bytes]));
        }
    }
}
