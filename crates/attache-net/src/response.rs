//! Responses.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::Body as _;
use reqwest::header::HeaderMap;
use tokio::time::{Instant, Sleep, sleep};

use crate::NetError;

/// The head of a response, and its body as it arrives.
#[derive(Debug)]
pub struct HttpResponse {
    head: http::response::Parts,
    body: reqwest::Body,
    /// The fields after the body.
    trailers: HeaderMap,
    idle_timeout: Duration,
    /// Fires at the latest when the response was silent for too long. Reset only when it fires, because a body may
    /// have thousands of pieces.
    idle_timer: Pin<Box<Sleep>>,
}

impl HttpResponse {
    pub(crate) fn new(response: reqwest::Response, idle_timeout: Duration) -> Self {
        let (head, body) = http::Response::<reqwest::Body>::from(response).into_parts();
        let idle_timer = Box::pin(sleep(idle_timeout));
        Self { head, body, trailers: HeaderMap::new(), idle_timeout, idle_timer }
    }

    pub fn status(&self) -> u16 {
        self.head.status.as_u16()
    }

    /// A header, if it is present and text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.headers.get(name)?.to_str().ok()
    }

    /// All headers that are text.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        let headers = self.head.headers.iter();
        headers.filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
    }

    /// A header that came after the body, if the body was read to its end; gRPC puts its status there, or in the head
    /// when there is no body.
    pub fn trailer(&self, name: &str) -> Option<&str> {
        self.trailers.get(name)?.to_str().ok()
    }

    /// The next piece of the body; `None` at its end.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, NetError> {
        let deadline = Instant::now() + self.idle_timeout;
        poll_fn(|context| {
            if let Poll::Ready(chunk) = self.poll_chunk(context) {
                return Poll::Ready(chunk);
            }
            while self.idle_timer.as_mut().poll(context).is_ready() {
                if self.idle_timer.deadline() >= deadline {
                    return Poll::Ready(Err(NetError::IdleTimeout { after: self.idle_timeout }));
                }
                self.idle_timer.as_mut().reset(deadline);
            }
            Poll::Pending
        })
        .await
    }

    fn poll_chunk(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, NetError>> {
        loop {
            let frame = match Pin::new(&mut self.body).poll_frame(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => return Poll::Ready(Ok(None)),
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(NetError::of(error))),
                Poll::Ready(Some(Ok(frame))) => frame,
            };
            match frame.into_data() {
                Ok(bytes) => return Poll::Ready(Ok(Some(bytes))),
                Err(other) => self.trailers.extend(other.into_trailers().unwrap_or_default()),
            }
        }
    }

    /// Refuses a body that is announced as larger than `limit`, before any of it is read.
    pub fn check_announced_length(&self, limit: usize) -> Result<(), NetError> {
        let announced = self.header("content-length").and_then(|length| length.trim().parse::<u64>().ok());
        match announced.is_some_and(|length| length > limit as u64) {
            true => Err(NetError::TooLarge { limit }),
            false => Ok(()),
        }
    }

    /// The whole body, if it has at most `limit` bytes.
    pub async fn read(mut self, limit: usize) -> Result<Vec<u8>, NetError> {
        self.check_announced_length(limit)?;
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
