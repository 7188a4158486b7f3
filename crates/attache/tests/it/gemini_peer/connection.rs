//! An HTTP/1.1 connection that stays open from one request to the next.
//!
//! The peer cancels what it was asked on a connection as soon as that connection ends, even long after it has
//! answered. Its own clients keep theirs open, and so does this one.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

pub(super) struct Connection {
    stream: BufReader<TcpStream>,
}

/// What came back, as JSON: `status` with `events` and how they `end`, or with the `body`.
pub(super) type Heard = Value;

impl Connection {
    pub(super) async fn open(address: &str) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream: BufReader::new(stream) }
    }

    /// Sends one request and hears its answer to the end. A stream that says nothing for as long as `patience` is taken
    /// for one that never will, and its connection is of no more use.
    pub(super) async fn call(&mut self, method: &str, path: &str, body: &Value, patience: Duration) -> Heard {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.write_all(request.as_bytes()).await.unwrap();
        let (status, headers) = self.head().await;
        if header(&headers, "content-type").is_some_and(|kind| kind.starts_with("text/event-stream")) {
            let (text, ended) = self.events(patience).await;
            return json!({"status": status, "events": frames(&text), "end": if ended { "end" } else { "silence" }});
        }
        let text = self.body(&headers).await;
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

    async fn events(&mut self, patience: Duration) -> (String, bool) {
        let mut text = Vec::new();
        loop {
            match timeout(patience, self.chunk()).await {
                Ok(Some(chunk)) => text.extend(chunk),
                ended => return (String::from_utf8(text).unwrap(), ended.is_ok()),
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
        timeout(attache_testkit::PATIENCE, self.stream.read_line(&mut line))
            .await
            .expect("a line in time")
            .unwrap();
        line
    }
}

fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// The data of every frame. What a frame is called is kept when it has a name; numbers of frames and comments,
/// which clients of the peer pass over, are not.
fn frames(text: &str) -> Vec<Value> {
    let frames = text.split("\n\n").filter_map(|frame| {
        let field = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        let data: Value = serde_json::from_str(field("data")?).expect("JSON in a data line");
        Some(match field("event") {
            Some(name) => json!({"event": name, "data": data}),
            None => json!({"data": data}),
        })
    });
    frames.collect()
}
