//! A reading of a task in protobuf: one message for each event, then how it ended. Signs of life are HTTP/2's.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use attache_domain::{Fault, Seq};
use attache_wire::{Version, proto};
use bytes::Bytes;
use futures_util::Stream;
use http::HeaderMap;
use http_body::Frame;
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::deadline::{self, Deadline};
use super::{answer, frame};
use crate::app::App;
use crate::operate::Opened;
use crate::reading::{Frames, Reading};
use crate::speech::Speech;

pub(super) struct EventStream {
    version: Version,
    reading: Reading<Version>,
    /// What ends the stream early.
    stop: Pin<Box<WaitForCancellationFutureOwned>>,
    deadline: Option<Pin<Box<tokio::time::Sleep>>>,
    state: State,
}

enum State {
    Open,
    /// Nothing but the end is still to be sent.
    Ending(HeaderMap),
    Over,
}

impl EventStream {
    pub(super) fn new(app: &Arc<App>, speech: Speech<Version>, opened: Opened, deadline: Deadline) -> Self {
        Self {
            version: speech.language,
            reading: Reading::new(app, speech, opened),
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
        Poll::Ready(answer::trailers(&deadline::exceeded()))
    }

    fn failed(&self, fault: &Fault) -> HeaderMap {
        answer::trailers(&proto::status(self.version, fault))
    }
}

impl Stream for EventStream {
    type Item = Frame<Bytes>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Frame<Bytes>>> {
        let events = self.get_mut();
        let mut out = Vec::new();
        loop {
            match std::mem::replace(&mut events.state, State::Over) {
                State::Open => events.state = State::Open,
                State::Ending(trailers) => return Poll::Ready(Some(Frame::trailers(trailers))),
                State::Over => return Poll::Ready(None),
            }
            match events.reading.poll(context, &MessageFrames, &mut out) {
                Poll::Ready(Ok(())) if events.reading.is_over() => {
                    events.state = State::Ending(answer::success());
                }
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(fault)) => events.state = State::Ending(events.failed(&fault)),
                Poll::Pending => {
                    events.state = State::Ending(ready!(events.poll_early_end(context)));
                    events.reading.give_up();
                }
            }
            if !out.is_empty() {
                return Poll::Ready(Some(Frame::data(out.into())));
            }
        }
    }
}

struct MessageFrames;

impl Frames for MessageFrames {
    fn open(&self, _: Option<&str>, _: Seq, out: &mut Vec<u8>) -> usize {
        self.open_unnumbered(out)
    }

    fn open_unnumbered(&self, out: &mut Vec<u8>) -> usize {
        let start = out.len();
        out.resize(start + frame::PREFIX, 0);
        start
    }

    fn close(&self, opened: usize, out: &mut Vec<u8>) {
        frame::close(out, opened);
    }
}
