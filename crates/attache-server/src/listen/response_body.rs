//! A response body that reports whether its client reads it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::connection_watch::ActiveCall;
use crate::response_budget::ResponseReservation;

/// Larger frames are handed out in chunks, so that unread bytes stay here, where they are noticed.
const CHUNK_BYTES: usize = 64 * 1024;

/// `B` in chunks; the call runs until this is dropped.
pub(super) struct ResponseBody<B> {
    body: B,
    /// The rest of one frame of the body.
    rest: Bytes,
    call: ActiveCall,
    sharing: Multiplexing,
    /// The budget share of a large response; a stream has one for its first event only.
    share: Option<Arc<ResponseReservation>>,
    /// The size of the last chunk.
    handed: usize,
}

/// Whether the connection carries other responses at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Multiplexing {
    /// A client that does not read fills the socket, which is noticed there.
    Alone,
    /// Each response waits separately while the socket is free, so its last chunk is watched too.
    Shared,
}

impl<B> ResponseBody<B> {
    pub(super) fn new(
        body: B,
        call: ActiveCall,
        sharing: Multiplexing,
        share: Option<Arc<ResponseReservation>>,
    ) -> Self {
        Self { body, rest: Bytes::new(), call, sharing, share, handed: 0 }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for ResponseBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.get_mut();
        this.call.chunk_requested();
        if let Some(share) = &this.share
            && this.handed > 0
        {
            share.taking.received(this.handed);
            if this.rest.is_empty() {
                this.share = None;
            }
        }
        if this.rest.is_empty() {
            match ready!(Pin::new(&mut this.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => this.rest = data,
                    Err(frame) => return Poll::Ready(Some(Ok(frame))),
                },
                other => return Poll::Ready(other),
            }
        }
        let part = match this.rest.len() {
            0..=CHUNK_BYTES => std::mem::take(&mut this.rest),
            _ => this.rest.split_to(CHUNK_BYTES),
        };
        if this.sharing == Multiplexing::Shared || !this.is_end_stream() {
            this.call.chunk_handed_out();
        }
        this.handed = part.len();
        if let Some(share) = &this.share {
            share.taking.awaits_client();
        }
        Poll::Ready(Some(Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (inner, rest) = (self.body.size_hint(), self.rest.len() as u64);
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower() + rest);
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http_body_util::{BodyExt, Full};

    use super::super::connection_watch::{CloseReason, ConnectionTimeouts, ConnectionWatch};
    use super::*;
    use crate::Limits;

    #[tokio::test(start_paused = true)]
    async fn a_long_answer_comes_whole_and_in_parts() {
        let watch = ConnectionWatch::new(ConnectionTimeouts::of(&Limits::default()));
        let text: Bytes = (0..CHUNK_BYTES * 5 / 2).map(|place| place as u8).collect();
        let mut answer = ResponseBody::new(Full::new(text.clone()), watch.call(), Multiplexing::Alone, None);
        assert_eq!(answer.size_hint().exact(), Some(text.len() as u64));
        let first = answer.frame().await.unwrap().unwrap().into_data().unwrap();
        assert_eq!(first.len(), CHUNK_BYTES);
        assert_eq!(answer.size_hint().exact(), Some((text.len() - CHUNK_BYTES) as u64));
        let rest = answer.collect().await.unwrap().to_bytes();
        assert_eq!([first, rest].concat(), text);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_is_not_asked_for_again_is_noticed() {
        let limits = Limits { stall_timeout: Duration::from_secs(7), ..Limits::default() };
        let watch = ConnectionWatch::new(ConnectionTimeouts::of(&limits));
        let mut answer = ResponseBody::new(
            Full::new(Bytes::from(vec![0; 2 * CHUNK_BYTES])),
            watch.call(),
            Multiplexing::Alone,
            None,
        );
        answer.frame().await.unwrap().unwrap();
        assert_eq!(watch.closed().await, CloseReason::Stalled);
        drop(answer);
        assert_eq!(watch.closed().await, CloseReason::Idle);
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_part_of_an_answer_among_others_is_watched_until_it_is_sent() {
        let watch = ConnectionWatch::new(ConnectionTimeouts::of(&Limits::default()));
        let small = Full::new(Bytes::from_static(b"small"));
        let mut answer = ResponseBody::new(small, watch.call(), Multiplexing::Shared, None);
        answer.frame().await.unwrap().unwrap();
        assert_eq!(watch.closed().await, CloseReason::Stalled);
    }
}
