//! A request's body while it arrives, and what becomes of the part that nobody wants.
//!
//! Many requests are answered before their body has come: there is nothing at the path, or the body is too large. An
//! HTTP/1 connection can go on only after a body's end. So a short rest is read and thrown away; before a long one the
//! client is told that the connection ends, and `listen` closes it gently. Not here: reading what somebody wants (`body`).

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::header;
use http::request::Parts;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;

/// A rest of up to this is read for the sake of the connection, if it comes soon.
const MAX_DISCARDED_BYTES: u64 = 64 << 10;
const DISCARD_TIMEOUT: Duration = Duration::from_millis(200);

/// Knows whether its end was seen; hyper's own does not when it comes in chunks.
pub(crate) struct RequestBody {
    incoming: Option<Incoming>,
    ended: bool,
}

/// What is left of a body when its request is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnreadBody {
    Nothing,
    Incoming,
}

impl RequestBody {
    pub(crate) fn new(incoming: Incoming) -> Self {
        Self { ended: incoming.is_end_stream(), incoming: Some(incoming) }
    }

    /// The body itself, for an answer that goes on reading it.
    pub(crate) fn take(&mut self) -> Self {
        std::mem::replace(self, Self { incoming: None, ended: true })
    }

    /// The request is answered: throws away what is left if that is little, and tells whether more is to come.
    pub(crate) async fn discard_rest(&mut self, head: &Parts) -> UnreadBody {
        // Calls of HTTP/2 end for themselves.
        if self.is_end_stream() || head.version >= http::Version::HTTP_2 {
            return UnreadBody::Nothing;
        }
        // A client that asks first whether it should send the body is told no by the answer itself.
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
