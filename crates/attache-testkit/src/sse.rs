//! A stream of server-sent events, read frame by frame.

use attache_net::sse::{SseEvent, SseParser};
use serde_json::Value;
use tokio::io::BufReader;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::WAIT_TIMEOUT;
use crate::test_client::{find, read_chunk};

/// Far larger than any event of a test.
const MAX_EVENT_BYTES: usize = 64 << 20;

/// One frame: everything up to a blank line.
#[derive(Debug, Clone, PartialEq)]
pub struct SseFrame {
    pub id: Option<u64>,
    /// The id as sent.
    pub id_text: Option<String>,
    pub event: Option<String>,
    pub data: Value,
    /// The data as sent.
    pub raw: String,
}

impl SseFrame {
    /// The content of the JSON-RPC envelope, or the data itself.
    pub fn payload(&self) -> &Value {
        self.data.get("result").unwrap_or(&self.data)
    }
}

pub struct SseStream {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    connection: BufReader<TcpStream>,
    parser: SseParser,
    /// The number of comment lines, such as heartbeats.
    pub comments: Vec<String>,
    /// How many chunks the server sent: everything in one chunk was one write.
    pub chunks: usize,
}

impl SseStream {
    pub(crate) fn new(status: u16, headers: Vec<(String, String)>, connection: BufReader<TcpStream>) -> Self {
        Self {
            status,
            headers,
            connection,
            parser: SseParser::new(MAX_EVENT_BYTES),
            comments: Vec::new(),
            chunks: 0,
        }
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
                while let Some(event) = self.parser.next_event() {
                    self.comments.push(event.comment.expect("nothing but comments"));
                }
            }
        };
        timeout(WAIT_TIMEOUT, waiting).await.expect("a comment in time");
        self.comments[seen].clone()
    }

    async fn read(&mut self) -> std::io::Result<Option<SseFrame>> {
        // No body follows.
        if self.status == 204 {
            return Ok(None);
        }
        loop {
            while let Some(event) = self.parser.next_event() {
                match event {
                    SseEvent { comment: Some(comment), data: None, .. } => self.comments.push(comment),
                    event => return Ok(Some(frame(event))),
                }
            }
            if !self.fill().await? {
                return Ok(None);
            }
        }
    }

    async fn fill(&mut self) -> std::io::Result<bool> {
        let Some(chunk) = read_chunk(&mut self.connection).await? else {
            self.parser.finish().expect("an event of bounded size");
            assert_eq!(self.parser.next_event(), None, "the stream broke off within an event");
            return Ok(false);
        };
        self.chunks += 1;
        self.parser.push(&chunk).expect("an event of bounded size");
        Ok(true)
    }
}

/// The server sends one data line in each event.
fn frame(event: SseEvent) -> SseFrame {
    let raw = event.data.clone().unwrap_or_default();
    assert!(event.comment.is_none() && !raw.contains('\n'), "an unexpected line in {event:?}");
    let data = event.data.map(|data| serde_json::from_str(&data).expect("JSON in a data line"));
    // With the replay extension the number follows the name of the log.
    let id = event.id.as_deref().and_then(|id| id.rsplit('.').next()?.parse().ok());
    SseFrame { id, id_text: event.id, event: event.name, data: data.unwrap_or(Value::Null), raw }
}
