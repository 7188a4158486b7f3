//! Server-sent events: a task as of a cursor, then one frame per event.
//!
//! Everything that is ready goes out in one write; a reader that does not read is not polled, so it costs
//! one chunk and delays nobody. Payloads are spelled once per dialect and shared by all readers.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use attache_domain::{ContextId, Fact, Fault, Gap, Seq, TaskId, TaskView};
use attache_session::{Entry, Follower, Subscription};
use attache_wire::Dialect;
use attache_wire::devtool::{Occasion, Profile};
use attache_wire::encode::{self, TaskShape};
use attache_wire::replay::{self, Mark};
use bytes::Bytes;
use futures_util::Stream;
use http::{HeaderValue, header};
use tokio::time::{Instant, Sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

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
    /// Said before everything else.
    preface: Vec<u8>,
    /// Shown first, unless the answer is a bare message.
    first: Option<Arc<TaskView>>,
    follower: Option<Follower>,
    /// The log's name, for those who want to know where in it they are.
    epoch: Option<Arc<str>>,
    /// What the task that is shown first leaves out.
    gap: Option<Gap>,
    entries: Vec<Arc<Entry>>,
    heartbeat: Duration,
    silence: Pin<Box<Sleep>>,
    last_sent: Instant,
    stop: Pin<Box<WaitForCancellationFutureOwned>>,
    /// Tells without waiting whether `stop` is ready.
    stopping: CancellationToken,
    /// The waker that `silence` and `stop` have; they need not be asked again for it.
    waiting: Option<Waker>,
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
        let Subscription { view, follower, gap } = subscription;
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
            preface: Vec::new(),
            first: (!bare).then_some(view),
            follower,
            epoch: None,
            gap,
            entries: Vec::new(),
            heartbeat,
            silence: Box::pin(tokio::time::sleep(heartbeat)),
            last_sent: Instant::now(),
            stop: Box::pin(app.stop.clone().cancelled_owned()),
            stopping: app.stop.clone(),
            waiting: None,
            _open: app.metrics.open_stream(),
        }
    }

    /// Says `payload` before everything else, in a frame of its own that nobody resumes after.
    pub(crate) fn begin_with(&mut self, payload: &[u8]) {
        let mut frame = std::mem::take(&mut self.preface);
        frame.extend_from_slice(self.open.strip_prefix(b"\n").unwrap_or(&self.open));
        frame.extend_from_slice(payload);
        frame.extend_from_slice(&self.close);
        self.preface = frame;
    }

    /// Says with everything where in the log it stands.
    pub(crate) fn mark_places(&mut self, epoch: Arc<str>) {
        self.epoch = Some(epoch);
    }

    /// Leaves the task itself out, unless there is nothing else to be seen.
    pub(crate) fn begin_with_events(&mut self) {
        if self.follower.is_some() {
            self.first = None;
        }
    }

    pub(crate) fn into_response(self) -> Response {
        let mut response = Response::new(Body::Stream(Box::pin(self)));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        response
    }

    /// The task first, with whatever has happened meanwhile.
    fn write_first(&mut self, view: &TaskView, out: &mut Vec<u8>) {
        self.write_task(view, out);
        if let Some(follower) = &mut self.follower {
            follower.ready(MOST_EVENTS, &mut self.entries);
            self.write_entries(out);
        }
    }

    /// Ready when there is something to send, or with nothing when the stream is over.
    fn poll_events(&mut self, context: &mut Context<'_>, out: &mut Vec<u8>) -> Poll<()> {
        while out.is_empty() {
            let Some(follower) = &mut self.follower else { break };
            if let Err(error) = ready!(follower.poll_next(context, MOST_EVENTS, &mut self.entries)) {
                tracing::error!(task = %self.task, %error, "a stream cannot go on");
                self.follower = None;
                self.write_fault(&Fault::Internal, out);
            }
            self.write_entries(out);
        }
        Poll::Ready(())
    }

    /// Ready with true when it is time for a sign of life, with false when the server stops.
    fn poll_quiet(&mut self, context: &mut Context<'_>) -> Poll<bool> {
        // A body is asked more often than it is woken; both of these know the waker already.
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

    /// Writes the entries taken, and those that became ready meanwhile, until there is enough for one write.
    fn write_entries(&mut self, out: &mut Vec<u8>) {
        while !self.entries.is_empty() {
            // Taken out and put back, so that its room is used again.
            let mut entries = std::mem::take(&mut self.entries);
            let others = self.follower.as_ref().is_some_and(Follower::has_company);
            for entry in entries.drain(..) {
                self.write_entry(&entry, others, out);
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
        let seq = view.progress.head;
        self.open_frame(seq, out);
        let start = out.len();
        encode::write_task_item(self.dialect, view, self.shape, out);
        if let Some(epoch) = &self.epoch {
            let mark = Mark { epoch, seq, gap: self.gap.as_ref() };
            replay::mark_item(self.dialect, &mark, out, start);
        }
        self.close_frame(out);
    }

    fn write_entry(&self, entry: &Entry, others: bool, out: &mut Vec<u8>) {
        let is_reply = matches!(entry.event.fact, Fact::Replied { .. });
        if self.bare && entry.closes() && !is_reply {
            return self.write_fault(&no_reply(), out);
        }
        let profile = self.shape.profile;
        let is_shown = match profile {
            Profile::Plain => entry.is_shown(),
            Profile::Developer | Profile::Gemini => {
                entry.happening().is_some_and(|happening| profile.shows(&happening))
            }
        };
        if !is_shown {
            return;
        }
        out.reserve(USUAL_FRAME);
        self.open_frame(entry.event.seq, out);
        let plain = profile.index(self.dialect);
        let number = if self.epoch.is_some() { replay::index(plain) } else { plain };
        entry.write_spelled(number, others, out, |entry, out| {
            let start = out.len();
            self.spell(entry, out);
            if let Some(epoch) = &self.epoch {
                let mark = Mark { epoch, seq: entry.event.seq, gap: None };
                replay::mark_item(self.dialect, &mark, out, start);
            }
        });
        self.close_frame(out);
    }

    fn spell(&self, entry: &Entry, out: &mut Vec<u8>) {
        if self.shape.profile == Profile::Plain {
            if let Some(update) = entry.update() {
                encode::write_update(self.dialect, &self.task, &self.context, &update, out);
            }
        } else if let Some(happening) = entry.happening() {
            let occasion = Occasion {
                task: &self.task,
                context: &self.context,
                seq: entry.event.seq,
                at: entry.event.at,
                stage: entry.stage(),
                cast: entry.cast(),
                happening,
            };
            self.shape.profile.write(self.dialect, &occasion, out);
        }
    }

    fn open_frame(&self, seq: Seq, out: &mut Vec<u8>) {
        out.extend_from_slice(b"id: ");
        if let Some(epoch) = &self.epoch {
            out.extend_from_slice(epoch.as_bytes());
            out.push(b'.');
        }
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

impl Stream for EventStream {
    type Item = Bytes;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let events = self.get_mut();
        let mut out = std::mem::take(&mut events.preface);
        if let Some(view) = events.first.take() {
            events.write_first(&view, &mut out);
        } else if events.poll_events(context, &mut out).is_pending() {
            if !ready!(events.poll_quiet(context)) {
                return Poll::Ready(None);
            }
            out.extend_from_slice(b": keep-alive\n\n");
        }
        if out.is_empty() { Poll::Ready(None) } else { events.sent(out) }
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
