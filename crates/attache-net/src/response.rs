//! Responses.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, Sleep, sleep};

use crate::NetError;

/// The head of a response, and its body as it arrives.
#[derive(Debug)]
pub struct HttpResponse {
    response: reqwest::Response,
    idle_timeout: Duration,
    /// Fires at the latest when the response was silent for too long. Reset only when it fires, because a body may
    /// have thousands of pieces.
    idle_timer: Pin<Box<Sleep>>,
}

impl HttpResponse {
    pub(crate) fn new(response: reqwest::Response, idle_timeout: Duration) -> Self {
        Self { response, idle_timeout, idle_timer: Box::pin(sleep(idle_timeout)) }
    }

    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// A header, if it is present and text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name)?.to_str().ok()
    }

    /// All headers that are text.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        let headers = self.response.headers().iter();
        headers.filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
    }

    /// The next piece of the body; `None` at its end.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, NetError> {
        let Self { response, idle_timeout, idle_timer: silence } = self;
        let deadline = Instant::now() + *idle_timeout;
        let mut chunk = pin!(response.chunk());
        poll_fn(|context| {
            if let Poll::Ready(chunk) = chunk.as_mut().poll(context) {
                return Poll::Ready(chunk.map_err(NetError::of));
            }
            while silence.as_mut().poll(context).is_ready() {
                if silence.deadline() >= deadline {
                    return Poll::Ready(Err(NetError::IdleTimeout { after: *idle_timeout }));
                }
                silence.as_mut().reset(deadline);
            }
            Poll::Pending
        })
        .await
    }

    /// The whole body, if it has at most `limit` bytes.
    pub async fn read(mut self, limit: usize) -> Result<Vec<u8>, NetError> {
        let mut body = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            if body.len() + chunk.len() > limit {
                return Err(NetError::TooLarge { limit });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// At most `limit` bytes from the beginning of the body, for error messages. Ignores a broken connection.
    pub async fn read_prefix(mut self, limit: usize) -> Vec<u8> {
        let mut body = Vec::new();
        while let Ok(Some(chunk)) = self.chunk().await {
            body.extend_from_slice(&chunk);
            if body.len() >= limit {
                body.truncate(limit);
                break;
            }
        }
        body
    }
}
