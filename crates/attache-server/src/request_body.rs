//! A request's body, and its unread rest.
//!
//! Some requests are answered before their body has arrived: the path is unknown, or the body is too large. An HTTP/1
//! connection can be reused only after the body's end. So a short rest is read and discarded; otherwise the response says
//! `connection: close`, and `listen` lingers before it closes.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::header;
use http::request::Parts;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;

/// A rest of up to this size is discarded to keep the connection, if it arrives in time.
const MAX_DISCARDED_BYTES: u64 = 64 << 10;
const DISCARD_TIMEOUT: Duration = Duration::from_millis(200);

/// Remembers whether its end was read, which hyper's own body does not for chunked bodies.
pub(crate) struct RequestBody {
    incoming: Option<Incoming>,
    ended: bool,
}

/// The rest of a body when its request has been answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnreadBody {
    Nothing,
    Incoming,
}

impl RequestBody {
    pub(crate) fn new(incoming: Incoming) -> Self {
        Self { ended: incoming.is_end_stream(), incoming: Some(incoming) }
    }

    /// Takes the body out, for a response that goes on reading it.
    pub(crate) fn take(&mut self) -> Self {
        std::mem::replace(self, Self { incoming: None, ended: true })
    }

    /// Discards a short rest once the request is answered. Returns whether more is to come.
    pub(crate) async fn discard_rest(&mut self, head: &Parts) -> UnreadBody {
        // HTTP/2 ends each call separately.
        if self.is_end_stream() || head.version >= http::Version::HTTP_2 {
            return UnreadBody::Nothing;
        }
        // For a client that sent `Expect`, the response itself means: do not send the body.
        let asks = head.headers.contains_key(header::EXPECT);
        if asks || self.size_hint().lower() > MAX_DISCARDED_BYTES {
            return UnreadBody::Incoming;
        }
        tokio::time::timeout(DISCARD_TIMEOUT, self.skip()).await.unwrap_or(UnreadBody::Incoming)
    }

    async fn skip(&mut self) -> UnreadBody {
        let mut left = MAX_DISCARDED_BYTES;
        loop {
            match self.frame().await {
                None => return UnreadBody::Nothing,
                Some(Err(_)) => return UnreadBody::Incoming,
                Some(Ok(frame)) => {
                    let length = frame.data_ref().map_or(0, Bytes::len) as u64;
                    match left.checked_sub(length) {
                        Some(rest) => left = rest,
                        None => return UnreadBody::Incoming,
                    }
                }
            }
        }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = self.get_mut();
        let Some(incoming) = &mut this.incoming else { return Poll::Ready(None) };
        let frame = ready!(Pin::new(incoming).poll_frame(context));
        this.ended |= frame.is_none();
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.ended || self.incoming.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.as_ref().map_or_else(SizeHint::default, Body::size_hint)
    }
}
