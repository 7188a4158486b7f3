//! Server-sent events: a task as of a cursor, then one frame per event.
//!
//! Everything that is ready goes out in one write; a reader that does not read is not polled, so it costs
//! one chunk and delays nobody. Payloads are spelled once per dialect and shared by all readers.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use attache_domain::{ContextId, Fact, Fault, Seq, TaskId, TaskView, Update};
use attache_session::{Entry, Follower, Subscription};
use attache_wire::Dialect;
use attache_wire::encode::{self, TaskShape};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::{HeaderValue, header};
use tokio::time::{Instant, Sleep};
use tokio_util::sync::WaitForCancellationFutureOwned;

use crate::app::App;
use crate::framing::Framing;
use crate::http::{Body, Response};
use crate::metrics::OpenStream;

/// Events taken at once, and bytes put together at once.
const MOST_EVENTS: usize = 64;
const ENOUGH_BYTES: usize = 64 << 10;
/// Room made in advance for one event.
const USUAL_FRAME: usize = 448;

pub(crate) struct EventStream {
    framing: Framing,
    /// What stands before and after every payload.
    open: Box<[u8]>,
    close: Box<[u8]>,
    dialect: Dialect,
    shape: TaskShape,
    task: TaskId,
    context: ContextId,
    /// The answer is one bare message; there is no task to be seen.
    bare: bool,
    /// Shown first, unless the answer is a bare message.
    first: Option<Arc<TaskView>>,
    follower: Option<Follower>,
    entries: Vec<Arc<Entry>>,
    heartbeat: Duration,
    silence: Pin<Box<Sleep>>,
    last_sent: Instant,
    stop: Pin<Box<WaitForCancellationFutureOwned>>,
    _open: OpenStream,
}

impl EventStream {
    pub(crate) fn new(
        app: &Arc<App>,
        framing: Framing,
        dialect: Dialect,
        shape: TaskShape,
        subscription: Subscription,
        bare: bool,
    ) -> Self {
        let Subscription { view, follower } = subscription;
        let heartbeat = app.options.limits.heartbeat;
        let (mut open, mut close) = (b"\ndata: ".to_vec(), Vec::new());
        framing.open(&mut open);
        framing.close(&mut close);
        close.extend_from_slice(b"\n\n");
        Self {
            framing,
            open: open.into(),
            close: close.into(),
            dialect,
            shape,
            task: view.task.clone(),
            context: view.context.clone(),
            bare,
            first: (!bare).then_some(view),
            follower,
            entries: Vec::new(),
            heartbeat,
            silence: Box::pin(tokio::time::sleep(heartbeat)),
            last_sent: Instant::now(),
            stop: Box::pin(app.stop.clone().cancelled_owned()),
            _open: app.metrics.open_stream(),
        }
    }

    pub(crate) fn into_response(self) -> Response {
        let chunks = stream::unfold(self, |mut events| async move {
            let chunk = events.next_chunk().await?;
            Some((chunk, events))
        });
        let mut response = Response::new(Body::Stream(chunks.boxed()));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        response
    }

    /// The next bytes to send; `None` ends the stream.
    async fn next_chunk(&mut self) -> Option<Bytes> {
        let mut out = Vec::new();
        if let Some(view) = self.first.take() {
            self.write_task(&view, &mut out);
            // Whatever has happened meanwhile goes out with it.
            if let Some(follower) = &mut self.follower {
                follower.ready(MOST_EVENTS, &mut self.entries);
                self.write_entries(&mut out);
            }
            return self.sent(out);
        }
        loop {
            let follower = self.follower.as_mut()?;
            tokio::select! {
                biased;
                read = follower.next(MOST_EVENTS, &mut self.entries) => {
                    if let Err(error) = read {
                        tracing::error!(task = %self.task, %error, "a stream cannot go on");
                        self.follower = None;
                        self.write_fault(&Fault::Internal, &mut out);
                        return self.sent(out);
                    }
                    self.write_entries(&mut out);
                    if !out.is_empty() {
                        return self.sent(out);
                    }
                }
                () = &mut self.stop => return None,
                () = &mut self.silence => {
                    let quiet_until = self.last_sent + self.heartbeat;
                    if Instant::now() < quiet_until {
                        self.silence.as_mut().reset(quiet_until);
                    } else {
                        out.extend_from_slice(b": keep-alive\n\n");
                        return self.sent(out);
                    }
                }
            }
        }
    }

    fn sent(&mut self, out: Vec<u8>) -> Option<Bytes> {
        self.last_sent = Instant::now();
        if self.silence.is_elapsed() {
            self.silence.as_mut().reset(self.last_sent + self.heartbeat);
        }
        Some(Bytes::from(out))
    }

    /// Writes the entries taken, and those that became ready meanwhile, until there is enough for one write.
    fn write_entries(&mut self, out: &mut Vec<u8>) {
        while !self.entries.is_empty() {
            // Taken out and put back, so that its room is used again.
            let mut entries = std::mem::take(&mut self.entries);
            for entry in entries.drain(..) {
                self.write_entry(&entry, out);
                if entry.closes() {
                    self.follower = None;
                    return;
                }
            }
            self.entries = entries;
            if out.len() >= ENOUGH_BYTES {
                return;
            }
            if let Some(follower) = &mut self.follower {
                follower.ready(MOST_EVENTS, &mut self.entries);
            }
        }
    }

    fn write_task(&self, view: &TaskView, out: &mut Vec<u8>) {
        self.open_frame(view.progress.head, out);
        encode::write_task_item(self.dialect, view, self.shape, out);
        self.close_frame(out);
    }

    fn write_entry(&self, entry: &Entry, out: &mut Vec<u8>) {
        let is_reply = matches!(entry.event.fact, Fact::Replied { .. });
        if self.bare && entry.closes() && !is_reply {
            return self.write_fault(&no_reply(), out);
        }
        if !entry.is_shown() {
            return;
        }
        out.reserve(USUAL_FRAME);
        self.open_frame(entry.event.seq, out);
        let others = self.follower.as_ref().is_some_and(Follower::has_company);
        entry.write_spelled(self.dialect.index(), others, out, |update, out| match update {
            Update::Replied(message) => encode::write_message_item(self.dialect, message, out),
            _ => encode::write_update(self.dialect, &self.task, &self.context, update, out),
        });
        self.close_frame(out);
    }

    fn open_frame(&self, seq: Seq, out: &mut Vec<u8>) {
        out.extend_from_slice(b"id: ");
        write_number(seq.0, out);
        out.extend_from_slice(&self.open);
    }

    fn close_frame(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.close);
    }

    fn write_fault(&self, fault: &Fault, out: &mut Vec<u8>) {
        let (name, payload) = self.framing.stream_fault(fault);
        if let Some(name) = name {
            out.extend_from_slice(b"event: ");
            out.extend_from_slice(name.as_bytes());
            out.push(b'\n');
        }
        out.extend_from_slice(b"data: ");
        out.extend_from_slice(&payload);
        out.extend_from_slice(b"\n\n");
    }
}

fn no_reply() -> Fault {
    Fault::InvalidAgentResponse { what: "it ended without the message it announced".into() }
}

fn write_number(mut number: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut place = digits.len();
    loop {
        place -= 1;
        digits[place] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[place..]);
}

#[cfg(test)]
mod tests {
    use super::write_number;

    #[test]
    fn numbers_are_written_in_decimal() {
        for number in [0, 1, 9, 10, 12_345, u64::MAX] {
            let mut out = Vec::new();
            write_number(number, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), number.to_string());
        }
    }
}
