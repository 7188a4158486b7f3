//! Refuses HTTP/1 request heads with a bare line feed.
//!
//! hyper accepts a line feed as the end of a line; a proxy may not, and then the two read different requests (request
//! smuggling). hyper has no option for that. So this filter replaces a bare line feed by a byte that no head may contain,
//! and hyper answers 400 and closes the connection. It tracks bodies to find the next head, and refuses an ambiguous
//! length in the same way.

#[cfg(feature = "fuzz")]
pub(crate) mod fuzz;

/// A byte that no head may contain.
const NOT_ALLOWED: u8 = 0;

/// The end of a head.
const HEAD_END: &[u8] = b"\r\n\r\n";

/// As much of a line as is kept: a header's name and a length.
const LINE_BYTES: usize = 48;

#[derive(Debug)]
pub(super) struct HeadFilter {
    state: State,
    /// The last byte of a head or of a line.
    last: u8,
    line: Line,
    body: Body,
    /// Bytes for hyper to read after a refused line: it parses a head only when it has all of it.
    ending: &'static [u8],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Head,
    /// So many bytes until the next head.
    Body(u64),
    /// In the line with the size of a chunk.
    ChunkSize,
    /// So many bytes until the next size, including the line end after the chunk.
    Chunk(u64),
    Trailers,
    /// Another protocol, or a refused request: no head follows.
    Over,
}

/// How the body after this head is delimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Body {
    Length(u64),
    Chunked,
}

/// The beginning of a line, in lower case and without blanks.
#[derive(Debug)]
struct Line {
    bytes: [u8; LINE_BYTES],
    length: usize,
    /// Including blanks, to tell an empty line from a blank one.
    is_empty: bool,
}

impl HeadFilter {
    pub(super) fn new() -> Self {
        Self { state: State::Head, last: 0, line: Line::new(), body: Body::Length(0), ending: b"" }
    }

    /// Filters bytes from the client: replaces bare line feeds in heads.
    pub(super) fn read(&mut self, bytes: &mut [u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let taken = match self.state {
                State::Over => return,
                State::Body(left) | State::Chunk(left) => self.skip(left, rest.len()),
                State::Head | State::ChunkSize | State::Trailers => self.read_line(rest),
            };
            rest = &mut rest[taken..];
        }
    }

    /// Up to `room` bytes that hyper reads before anything else.
    pub(super) fn take_ending(&mut self, room: usize) -> &'static [u8] {
        let (now, later) = self.ending.split_at(room.min(self.ending.len()));
        self.ending = later;
        now
    }

    fn skip(&mut self, left: u64, there: usize) -> usize {
        let taken = usize::try_from(left).unwrap_or(usize::MAX).min(there);
        let left = left - taken as u64;
        self.state = match self.state {
            State::Body(_) if left == 0 => State::Head,
            State::Body(_) => State::Body(left),
            _ if left == 0 => State::ChunkSize,
            _ => State::Chunk(left),
        };
        taken
    }

    /// Reads to the end of the line, or of the bytes.
    fn read_line(&mut self, bytes: &mut [u8]) -> usize {
        let end = memchr::memchr(b'\n', bytes);
        let text = &bytes[..end.unwrap_or(bytes.len())];
        self.line.add(text);
        self.last = text.last().copied().unwrap_or(self.last);
        let Some(end) = end else { return bytes.len() };
        let is_bare = self.last != b'\r';
        self.last = b'\n';
        let understood = if is_bare { None } else { self.end_line() };
        if understood.is_none() {
            bytes[end] = NOT_ALLOWED;
            self.state = State::Over;
            self.ending = HEAD_END;
        }
        self.line = Line::new();
        end + 1
    }

    /// `None` for an ambiguous line, which hyper may read differently.
    fn end_line(&mut self) -> Option<()> {
        match self.state {
            State::Head if self.line.is_empty => self.end_head(),
            State::Head => self.read_header()?,
            State::ChunkSize => {
                self.state = match self.line.chunk_size()? {
                    0 => State::Trailers,
                    // Including the line end that follows.
                    size => State::Chunk(size.saturating_add(2)),
                };
            }
            State::Trailers if self.line.is_empty => self.begin_head(),
            _ => {}
        }
        Some(())
    }

    fn begin_head(&mut self) {
        self.state = State::Head;
        self.body = Body::Length(0);
    }

    /// Empty lines before a request are skipped.
    fn end_head(&mut self) {
        let body = self.body;
        self.begin_head();
        match body {
            Body::Length(0) => {}
            Body::Length(length) => self.state = State::Body(length),
            Body::Chunked => self.state = State::ChunkSize,
        }
    }

    fn read_header(&mut self) -> Option<()> {
        let line = self.line.text();
        if line.starts_with(b"transfer-encoding:") {
            self.body = Body::Chunked;
        } else if let Some(length) = line.strip_prefix(b"content-length:") {
            let length = number(length, 10).filter(|_| self.line.is_whole())?;
            // hyper refuses both together, or uses the chunks.
            if self.body != Body::Chunked {
                self.body = Body::Length(length);
            }
        } else if line == b"pri*http/2.0" {
            self.state = State::Over;
        }
        Some(())
    }
}

impl Line {
    fn new() -> Self {
        Self { bytes: [0; LINE_BYTES], length: 0, is_empty: true }
    }

    fn add(&mut self, text: &[u8]) {
        self.is_empty = self.is_empty && text.iter().all(|byte| *byte == b'\r');
        for byte in text {
            if self.length == LINE_BYTES {
                return;
            }
            if !matches!(byte, b' ' | b'\t' | b'\r') {
                self.bytes[self.length] = byte.to_ascii_lowercase();
                self.length += 1;
            }
        }
    }

    fn text(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn is_whole(&self) -> bool {
        self.length < LINE_BYTES
    }

    /// The size before an extension.
    fn chunk_size(&self) -> Option<u64> {
        let text = self.text();
        let end = memchr::memchr(b';', text);
        number(&text[..end.unwrap_or(text.len())], 16).filter(|_| end.is_some() || self.is_whole())
    }
}

fn number(digits: &[u8], radix: u32) -> Option<u64> {
    let digits = str::from_utf8(digits).ok()?;
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u64::from_str_radix(digits, radix).ok().filter(|_| is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What hyper sees of `sent`, in pieces of `size`.
    fn seen(sent: &str, size: usize) -> String {
        let mut watch = HeadFilter::new();
        let mut bytes = sent.as_bytes().to_vec();
        bytes.chunks_mut(size).for_each(|piece| watch.read(piece));
        String::from_utf8(bytes).unwrap()
    }

    #[track_caller]
    fn check(sent: &str, expected: &str) {
        for size in [1, 2, 3, 5, 17, sent.len()] {
            assert_eq!(seen(sent, size), expected, "in pieces of {size}");
        }
    }

    const HEAD: &str = "POST / HTTP/1.1\r\nhost: a\r\n";

    #[test]
    fn only_bare_line_feeds_in_heads_are_replaced() {
        check(&format!("{HEAD}\r\n"), &format!("{HEAD}\r\n"));
        check("GET / HTTP/1.1\nhost: a\n\n", "GET / HTTP/1.1\0host: a\n\n");
        check("\nGET / HTTP/1.1\r\n", "\0GET / HTTP/1.1\r\n");
        check("\r\nGET / HTTP/1.1\r\n\n", "\r\nGET / HTTP/1.1\r\n\0");
        check("GET / HTTP/1.1\r\nx: y\r\n\n", "GET / HTTP/1.1\r\nx: y\r\n\0");
    }

    #[test]
    fn lengths_in_doubt_are_refused() {
        let zeros = "0".repeat(60);
        for (sent, refused) in [
            (format!("{HEAD}content-length: {zeros}5\r\n"), true),
            (format!("{HEAD}content-length: 5, 5\r\n"), true),
            (format!("{HEAD}content-length: +5\r\n"), true),
            (format!("{HEAD}content-length:\r\n"), true),
            (format!("{HEAD}content-length: 5{}\r\n", " ".repeat(99)), false),
            (format!("{HEAD}transfer-encoding: chunked\r\n\r\n{zeros}5\r\n"), true),
            (format!("{HEAD}transfer-encoding: chunked\r\n\r\n5\n"), true),
            (format!("{HEAD}transfer-encoding: chunked\r\n\r\n-5\r\n"), true),
            (format!("{HEAD}transfer-encoding: chunked\r\n\r\n0\r\nt: u\n"), true),
            (format!("{HEAD}transfer-encoding: chunked\r\n\r\n5;{zeros}\r\n"), false),
        ] {
            let end = sent.len() - 1;
            check(&sent, &if refused { format!("{}\0", &sent[..end]) } else { sent.clone() });
        }
    }

    #[test]
    fn bodies_are_left_alone_and_the_next_head_is_found() {
        for first in [
            "\r\n",
            "Content-Length: \t 3\r\n\r\n\n\n\n",
            "content-length: 3\r\ncontent-length: 3\r\n\r\n\r\n\n",
            "Transfer-Encoding:   Chunked\r\n\r\n3;x=\"y\"\r\n\n\n\n\r\nA\r\n\n\n\n\n\n\n\n\n\n\n\r\n0\r\nt: u\r\n\r\n",
            "transfer-encoding: chunked\r\n\r\n0\r\n\r\n\r\n\r\n",
        ] {
            let sent = format!("{HEAD}{first}{HEAD}x: y\n\r\n");
            check(&sent, &format!("{HEAD}{first}{HEAD}x: y\0\r\n"));
        }
    }

    #[test]
    fn http2_is_not_looked_at() {
        let sent = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\n\n\n";
        check(sent, sent);
    }
}
