//! A stream of server-sent events, read frame by frame.

use serde_json::Value;
use tokio::io::BufReader;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::WAIT_TIMEOUT;
use crate::test_client::{find, read_chunk};

/// One frame: everything up to a blank line.
#[derive(Debug, Clone, PartialEq)]
pub struct SseFrame {
    pub id: Option<u64>,
    pub event: Option<String>,
    pub data: Value,
    /// The frame as sent.
    pub raw: String,
}

impl SseFrame {
    /// What is inside the JSON-RPC envelope, or the data itself.
    pub fn payload(&self) -> &Value {
        self.data.get("result").unwrap_or(&self.data)
    }
}

pub struct SseStream {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    connection: BufReader<TcpStream>,
    buffer: String,
    /// Comment lines seen, such as heartbeats.
    pub comments: Vec<String>,
    /// How many chunks the server sent: everything in one chunk was one write.
    pub chunks: usize,
}

impl SseStream {
    pub(crate) fn new(status: u16, headers: Vec<(String, String)>, connection: BufReader<TcpStream>) -> Self {
        Self { status, headers, connection, buffer: String::new(), comments: Vec::new(), chunks: 0 }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    /// The next frame; `None` at the regular end of the stream.
    pub async fn next(&mut self) -> Option<SseFrame> {
        self.try_next().await.expect("the stream does not break off")
    }

    /// The next frame, or the error that broke the stream off.
    pub async fn try_next(&mut self) -> std::io::Result<Option<SseFrame>> {
        timeout(WAIT_TIMEOUT, self.read()).await.expect("a frame in time")
    }

    /// All frames until the stream ends.
    pub async fn rest(&mut self) -> Vec<SseFrame> {
        let mut frames = Vec::new();
        while let Some(frame) = self.next().await {
            frames.push(frame);
        }
        frames
    }

    /// Frames up to and including the first for which `enough` holds.
    pub async fn until(&mut self, enough: impl Fn(&SseFrame) -> bool) -> Vec<SseFrame> {
        let mut frames = Vec::new();
        while let Some(frame) = self.next().await {
            let done = enough(&frame);
            frames.push(frame);
            if done {
                return frames;
            }
        }
        panic!("the stream ended before that: {frames:#?}");
    }

    /// Waits for one more comment line.
    pub async fn comment(&mut self) -> String {
        let seen = self.comments.len();
        let waiting = async {
            while self.comments.len() == seen {
                assert!(self.fill().await.expect("an unbroken stream"), "the stream ended");
                self.take_comments();
            }
        };
        timeout(WAIT_TIMEOUT, waiting).await.expect("a comment in time");
        self.comments[seen].clone()
    }

    async fn read(&mut self) -> std::io::Result<Option<SseFrame>> {
        loop {
            self.take_comments();
            if let Some(end) = self.buffer.find("\n\n") {
                let raw: String = self.buffer.drain(..end + 2).collect();
                return Ok(Some(parse(raw)));
            }
            if !self.fill().await? {
                assert!(self.buffer.is_empty(), "the stream broke off in {:?}", self.buffer);
                return Ok(None);
            }
        }
    }

    fn take_comments(&mut self) {
        while self.buffer.starts_with(':') {
            let Some(end) = self.buffer.find("\n\n") else { return };
            let comment: String = self.buffer.drain(..end + 2).collect();
            self.comments.push(comment.trim().trim_start_matches(':').trim().to_owned());
        }
    }

    async fn fill(&mut self) -> std::io::Result<bool> {
        let Some(chunk) = read_chunk(&mut self.connection).await? else { return Ok(false) };
        self.chunks += 1;
        self.buffer.push_str(std::str::from_utf8(&chunk).expect("UTF-8 in whole frames"));
        Ok(true)
    }
}

fn parse(raw: String) -> SseFrame {
    let (mut id, mut event, mut data) = (None, None, None);
    for line in raw.lines().filter(|line| !line.is_empty()) {
        match line.split_once(": ") {
            // With the replay extension the number stands behind the name of the log.
            Some(("id", value)) => id = value.rsplit('.').next().and_then(|number| number.parse().ok()),
            Some(("event", value)) => event = Some(value.to_owned()),
            Some(("data", value)) => {
                assert!(data.is_none(), "two data lines in {raw:?}");
                data = Some(serde_json::from_str(value).expect("JSON in a data line"));
            }
            _ => panic!("an unexpected line in {raw:?}"),
        }
    }
    SseFrame { id, event, data: data.unwrap_or(Value::Null), raw }
}
