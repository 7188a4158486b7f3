//! Server-sent events: one frame for each event of a task, and heartbeats between them.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use attache_domain::Seq;
use attache_wire::Encoder;
use attache_wire::encode::write_integer;
use bytes::Bytes;
use futures_util::stream::{BoxStream, Stream, StreamExt};
use http::{HeaderValue, header};
use serde_json::Value;
use tokio::time::{Instant, Sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::app::App;
use crate::framing::{self, Framing};
use crate::http::{Body, Response};
use crate::live_updates::LiveUpdates;
use crate::task_stream::{Framer, StreamStart, TaskStream};

pub(crate) struct SseStream {
    framing: Framing,
    framer: SseFramer,
    events: TaskStream,
    /// Shown between the events.
    news: Option<BoxStream<'static, Vec<Value>>>,
    /// Sent before everything else.
    preface: Vec<u8>,
    heartbeat: Duration,
    silence: Pin<Box<Sleep>>,
    last_sent: Instant,
    stop: Pin<Box<WaitForCancellationFutureOwned>>,
    /// Shows without polling whether `stop` is ready.
    stopping: CancellationToken,
    app: Arc<App>,
    /// The waker that `silence` and `stop` hold; they are not polled again for it.
    waiting: Option<Waker>,
}

impl SseStream {
    pub(crate) fn new(app: &Arc<App>, framing: Framing, encoder: Encoder, start: StreamStart) -> Self {
        let heartbeat = app.options.limits.heartbeat;
        Self {
            framer: SseFramer::of(&framing),
            framing,
            events: TaskStream::new(app, encoder, start),
            news: None,
            preface: Vec::new(),
            heartbeat,
            silence: Box::pin(tokio::time::sleep(heartbeat)),
            last_sent: Instant::now(),
            stop: Box::pin(app.stop.clone().cancelled_owned()),
            stopping: app.stop.clone(),
            app: app.clone(),
            waiting: None,
        }
    }

    /// Sends `payload` before everything else, in a frame without an id.
    pub(crate) fn set_preface(&mut self, payload: &[u8]) {
        self.framer.write_unnumbered(payload, &mut self.preface);
    }

    pub(crate) fn set_news(&mut self, news: LiveUpdates) {
        self.news = Some(news.into_stream());
    }

    /// Writes the news that there are. Returns false if there are none.
    fn write_news(&mut self, context: &mut Context<'_>, out: &mut Vec<u8>) -> bool {
        let Some(news) = &mut self.news else { return false };
        let Poll::Ready(Some(events)) = news.poll_next_unpin(context) else { return false };
        for event in &events {
            self.framer.write_unnumbered(event.to_string().as_bytes(), out);
        }
        !events.is_empty()
    }

    pub(crate) fn into_response(self) -> Response {
        let mut response = Response::new(Body::Stream(Box::pin(self)));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        response
    }

    /// Ready with true when a heartbeat is due, with false when the server stops.
    fn poll_idle(&mut self, context: &mut Context<'_>) -> Poll<bool> {
        // A body is polled more often than it is woken; both futures hold the waker already.
        let known = self.waiting.as_ref().is_some_and(|waker| waker.will_wake(context.waker()));
        if known && !self.silence.is_elapsed() && !self.stopping.is_cancelled() {
            return Poll::Pending;
        }
        if self.stop.as_mut().poll(context).is_ready() {
            return Poll::Ready(false);
        }
        while self.silence.as_mut().poll(context).is_ready() {
            let quiet_until = self.last_sent + self.heartbeat;
            if Instant::now() >= quiet_until {
                return Poll::Ready(true);
            }
            self.silence.as_mut().reset(quiet_until);
        }
        self.waiting = Some(context.waker().clone());
        Poll::Pending
    }

    fn sent(&mut self, out: Vec<u8>) -> Poll<Option<Bytes>> {
        self.last_sent = Instant::now();
        if self.silence.is_elapsed() {
            self.silence.as_mut().reset(self.last_sent + self.heartbeat);
            self.waiting = None;
        }
        Poll::Ready(Some(Bytes::from(out)))
    }

    /// A comment, which is no event. It says so when the store takes no writes.
    fn write_heartbeat(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b": keep-alive");
        if let Some(fault) = self.app.session.counters().store_fault() {
            let text = format!("; {fault}: what happens now is shown when it is recorded");
            out.extend_from_slice(text.as_bytes());
        }
        out.extend_from_slice(b"\n\n");
    }
}

impl Stream for SseStream {
    type Item = Bytes;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let this = self.get_mut();
        let mut out = std::mem::take(&mut this.preface);
        match this.events.poll(context, &this.framer, &mut out) {
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(fault)) => this.framing.write_fault_event(&fault, &mut out),
            Poll::Pending if this.write_news(context, &mut out) => {}
            Poll::Pending => {
                if !ready!(this.poll_idle(context)) {
                    return Poll::Ready(None);
                }
                this.write_heartbeat(&mut out);
            }
        }
        if out.is_empty() { Poll::Ready(None) } else { this.sent(out) }
    }
}

/// A stream of one event without an id.
pub(crate) fn single_event(framing: &Framing, payload: &[u8]) -> Response {
    let mut out = Vec::new();
    SseFramer::of(framing).write_unnumbered(payload, &mut out);
    framing::json(200, "text/event-stream", out)
}

/// What stands before and after every payload.
struct SseFramer {
    open: Box<[u8]>,
    close: Box<[u8]>,
}

impl SseFramer {
    fn of(framing: &Framing) -> Self {
        let field: &[u8] = if matches!(framing, Framing::RestApi) { b"\nevent: " } else { b"\ndata: " };
        let (mut open, mut close) = (field.to_vec(), Vec::new());
        framing.open(&mut open);
        framing.close(0, &mut close);
        close.extend_from_slice(b"\n\n");
        Self { open: open.into(), close: close.into() }
    }

    fn write_unnumbered(&self, payload: &[u8], out: &mut Vec<u8>) {
        let opened = self.open_unnumbered(out);
        out.extend_from_slice(payload);
        self.close(opened, out);
    }
}

impl Framer for SseFramer {
    fn open(&self, epoch: Option<&str>, seq: Seq, out: &mut Vec<u8>) -> usize {
        out.extend_from_slice(b"id: ");
        if let Some(epoch) = epoch {
            out.extend_from_slice(epoch.as_bytes());
            out.push(b'.');
        }
        write_integer(seq.0, out);
        out.extend_from_slice(&self.open);
        out.len()
    }

    fn open_unnumbered(&self, out: &mut Vec<u8>) -> usize {
        out.extend_from_slice(self.open.strip_prefix(b"\n").unwrap_or(&self.open));
        out.len()
    }

    fn close(&self, _: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.close);
    }
}
