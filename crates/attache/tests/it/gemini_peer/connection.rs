//! An HTTP/1.1 connection that stays open from one request to the next.
//!
//! The peer cancels what it was asked on a connection as soon as that connection ends, even long after it has
//! answered. Its own clients keep theirs open, and so does this one.

use std::time::Duration;

use attache_testkit::WAIT_TIMEOUT;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};

pub(super) struct Connection {
    stream: BufReader<TcpStream>,
}

/// An answer of which the beginning was heard.
#[derive(Default)]
pub(super) struct Begun {
    status: u16,
    headers: Vec<(String, String)>,
    /// What a stream has said so far.
    text: Vec<u8>,
    ended: bool,
}

/// What came back, as JSON: `status` with `events` and how they `end`, or with the `body`.
pub(super) type Response = Value;

impl Connection {
    pub(super) async fn open(address: &str) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream: BufReader::new(stream) }
    }

    /// Sends one request and hears its answer to the end. A stream that says nothing for as long as `patience` is taken
    /// for one that never will, and its connection is of no more use.
    pub(super) async fn call(
        &mut self,
        method: &str,
        path: &str,
        body: &Value,
        patience: Duration,
    ) -> Response {
        let begun = self.begin(method, path, body).await;
        self.finish(begun, patience).await
    }

    /// Sends one request and hears how its answer begins.
    pub(super) async fn begin(&mut self, method: &str, path: &str, body: &Value) -> Begun {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
             accept: text/event-stream, application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.write_all(request.as_bytes()).await.unwrap();
        let (status, headers) = self.head().await;
        Begun { status, headers, text: Vec::new(), ended: false }
    }

    /// Hears more of a stream until it has said `word`.
    pub(super) async fn hear_until(&mut self, begun: &mut Begun, word: &str) {
        assert!(begun.streams(), "no stream but {}", begun.status);
        while !String::from_utf8_lossy(&begun.text).contains(word) {
            match timeout(WAIT_TIMEOUT, self.chunk()).await {
                Ok(Some(chunk)) => begun.text.extend(chunk),
                _ => panic!("no {word:?} in {}", String::from_utf8_lossy(&begun.text)),
            }
        }
    }

    /// Hears the rest.
    pub(super) async fn finish(&mut self, mut begun: Begun, patience: Duration) -> Response {
        let status = begun.status;
        // A stream of nothing but an error may come whole.
        if begun.streams() && header(&begun.headers, "content-length").is_some() {
            begun.text = self.body(&begun.headers).await.into_bytes();
            begun.ended = true;
            return json!({"status": status, "events": begun.frames(), "end": "end"});
        }
        if begun.streams() {
            self.events(&mut begun, patience).await;
            let end = if begun.ended { "end" } else { "silence" };
            return json!({"status": status, "events": begun.frames(), "end": end});
        }
        let text = self.body(&begun.headers).await;
        let body = serde_json::from_str(&text).unwrap_or_else(|_| json!(text));
        json!({"status": status, "body": body})
    }

    async fn head(&mut self) -> (u16, Vec<(String, String)>) {
        let line = self.line().await;
        let status = line.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.unwrap_or_else(|| panic!("no answer but {line:?}"));
        let mut headers = Vec::new();
        loop {
            let line = self.line().await;
            let Some((name, value)) = line.split_once(':') else { return (status, headers) };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }

    /// Comments only keep a connection alive and break no silence.
    async fn events(&mut self, begun: &mut Begun, patience: Duration) {
        let mut silent_at = Instant::now() + patience;
        loop {
            match timeout_at(silent_at, self.chunk()).await {
                Ok(Some(chunk)) => {
                    if !chunk.starts_with(b":") {
                        silent_at = Instant::now() + patience;
                    }
                    begun.text.extend(chunk);
                }
                ended => {
                    begun.ended = ended.is_ok();
                    return;
                }
            }
        }
    }

    async fn body(&mut self, headers: &[(String, String)]) -> String {
        let mut body = Vec::new();
        if header(headers, "transfer-encoding").is_some() {
            while let Some(chunk) = self.chunk().await {
                body.extend(chunk);
            }
        } else if let Some(length) = header(headers, "content-length") {
            body.resize(length.parse().unwrap(), 0);
            self.stream.read_exact(&mut body).await.unwrap();
        }
        String::from_utf8(body).unwrap()
    }

    /// The next chunk of a chunked body; `None` at its end.
    async fn chunk(&mut self) -> Option<Vec<u8>> {
        let line = self.line().await;
        let length =
            usize::from_str_radix(line.trim(), 16).unwrap_or_else(|_| panic!("no chunk but {line:?}"));
        let mut chunk = vec![0; length + 2];
        self.stream.read_exact(&mut chunk).await.unwrap();
        chunk.truncate(length);
        (length > 0).then_some(chunk)
    }

    async fn line(&mut self) -> String {
        let mut line = String::new();
        timeout(WAIT_TIMEOUT, self.stream.read_line(&mut line)).await.expect("a line in time").unwrap();
        line
    }
}

impl Begun {
    fn streams(&self) -> bool {
        header(&self.headers, "content-type").is_some_and(|kind| kind.starts_with("text/event-stream"))
    }

    /// The data of every frame so far. What a frame is called is kept when it has a name; numbers of frames and comments,
    /// which clients of the peer pass over, are not.
    pub(super) fn frames(&self) -> Vec<Value> {
        let text = std::str::from_utf8(&self.text).unwrap();
        let whole = text.rfind("\n\n").map_or("", |end| &text[..end]);
        let frames = whole.split("\n\n").filter_map(|frame| {
            let field =
                |name: &str| frame.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            let data: Value = serde_json::from_str(field("data")?).expect("JSON in a data line");
            // An error has a name with the peer and none here, where the same clients read it.
            let error = data.get("error").map(|_| "error");
            Some(match field("event").or(error) {
                Some(name) => json!({"event": name, "data": data}),
                None => json!({"data": data}),
            })
        });
        frames.collect()
    }
}

fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}
