//! The events of a task over gRPC: one message for each, then trailers with the status. HTTP/2 has heartbeats itself.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use attache_domain::{Fault, Seq};
use attache_wire::{Encoder, Version, proto};
use bytes::Bytes;
use futures_util::Stream;
use http::HeaderMap;
use http_body::Frame;
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::deadline::{self, Deadline};
use super::{frame, response};
use crate::app::App;
use crate::task_stream::{Framer, StreamStart, TaskStream};

pub(super) struct GrpcStream {
    version: Version,
    events: TaskStream,
    /// Ends the stream early.
    stop: Pin<Box<WaitForCancellationFutureOwned>>,
    deadline: Option<Pin<Box<tokio::time::Sleep>>>,
    state: State,
}

enum State {
    Open,
    /// Only the trailers are still to be sent.
    Ending(HeaderMap),
    Over,
}

impl GrpcStream {
    pub(super) fn new(app: &Arc<App>, encoder: Encoder, start: StreamStart, deadline: Deadline) -> Self {
        Self {
            version: encoder.encoding.version(),
            events: TaskStream::new(app, encoder, start),
            stop: Box::pin(app.stop.clone().cancelled_owned()),
            deadline: deadline.map(|at| Box::pin(tokio::time::sleep_until(at))),
            state: State::Open,
        }
    }

    /// Ready when there is a reason to end a stream that has nothing to send.
    fn poll_early_end(&mut self, context: &mut Context<'_>) -> Poll<HeaderMap> {
        if self.stop.as_mut().poll(context).is_ready() {
            return Poll::Ready(self.failed(&Fault::Unavailable));
        }
        match &mut self.deadline {
            Some(deadline) => ready!(deadline.as_mut().poll(context)),
            None => return Poll::Pending,
        }
        Poll::Ready(response::trailers(&deadline::exceeded()))
    }

    fn failed(&self, fault: &Fault) -> HeaderMap {
        response::trailers(&proto::status(self.version, fault))
    }
}

impl Stream for GrpcStream {
    type Item = Frame<Bytes>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Frame<Bytes>>> {
        let this = self.get_mut();
        let mut out = Vec::new();
        loop {
            match std::mem::replace(&mut this.state, State::Over) {
                State::Open => this.state = State::Open,
                State::Ending(trailers) => return Poll::Ready(Some(Frame::trailers(trailers))),
                State::Over => return Poll::Ready(None),
            }
            match this.events.poll(context, &GrpcFramer, &mut out) {
                Poll::Ready(Ok(())) if this.events.is_over() => {
                    this.state = State::Ending(response::success());
                }
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(fault)) => this.state = State::Ending(this.failed(&fault)),
                Poll::Pending => {
                    this.state = State::Ending(ready!(this.poll_early_end(context)));
                    this.events.close();
                }
            }
            if !out.is_empty() {
                return Poll::Ready(Some(Frame::data(out.into())));
            }
        }
    }
}

struct GrpcFramer;

impl Framer for GrpcFramer {
    fn open(&self, _: Option<&str>, _: Seq, out: &mut Vec<u8>) -> usize {
        self.open_unnumbered(out)
    }

    fn open_unnumbered(&self, out: &mut Vec<u8>) -> usize {
        let start = out.len();
        frame::open(out);
        start
    }

    fn close(&self, opened: usize, out: &mut Vec<u8>) {
        frame::close(out, opened);
    }
}
