//! A task as of a cursor, then one message per event, then how it ended.
//!
//! The same reading as `sse` does, in other frames: everything that is ready goes out in one write, a reader that does
//! not read is not polled, and events are spelled once per version for all readers. Signs of life are HTTP/2's.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use attache_domain::{ContextId, Fact, Fault, Gap, Seq, TaskId, TaskView};
use attache_session::{Entry, Follower, Subscription};
use attache_wire::devtool::{Occasion, Profile};
use attache_wire::encode::TaskShape;
use attache_wire::replay::{self, Mark};
use attache_wire::{Version, proto};
use bytes::Bytes;
use futures_util::Stream;
use http::HeaderMap;
use http_body::Frame;
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::deadline::{self, Deadline};
use super::{Speech, answer, frame};
use crate::app::App;
use crate::metrics::OpenStream;
use crate::operate::{First, Opened};

/// Events taken at once, and bytes put together at once.
const MOST_EVENTS: usize = 64;
const ENOUGH_BYTES: usize = 64 << 10;
/// Room made in advance for one event.
const USUAL_FRAME: usize = 384;

pub(super) struct EventStream {
    version: Version,
    shape: TaskShape,
    task: TaskId,
    context: ContextId,
    /// The answer is one bare message; there is no task to be seen.
    bare: bool,
    /// Shown first.
    first: Option<Arc<TaskView>>,
    follower: Option<Follower>,
    /// The log's name, for those who want to know where in it they are.
    epoch: Option<Arc<str>>,
    /// What the task that is shown first leaves out.
    gap: Option<Gap>,
    entries: Vec<Arc<Entry>>,
    /// What ends the stream early.
    stop: Pin<Box<WaitForCancellationFutureOwned>>,
    deadline: Option<Pin<Box<tokio::time::Sleep>>>,
    state: State,
    _open: OpenStream,
}

enum State {
    Open,
    /// Nothing but the end is still to be sent.
    Ending(HeaderMap),
    Over,
}

impl EventStream {
    pub(super) fn new(app: &Arc<App>, speech: Speech, opened: Opened, deadline: Deadline) -> Self {
        let Opened { subscription: Subscription { view, follower, gap }, shape, first } = opened;
        let Speech { version, epoch } = speech;
        let shows_task = match first {
            First::Task => true,
            First::Events => follower.is_none(),
            First::Message => false,
        };
        Self {
            version,
            shape,
            task: view.task.clone(),
            context: view.context.clone(),
            bare: first == First::Message,
            first: shows_task.then_some(view),
            follower,
            epoch,
            gap,
            entries: Vec::new(),
            stop: Box::pin(app.stop.clone().cancelled_owned()),
            deadline: deadline.map(|at| Box::pin(tokio::time::sleep_until(at))),
            state: State::Open,
            _open: app.metrics.open_stream(),
        }
    }

    /// The task first, with whatever has happened meanwhile.
    fn write_first(&mut self, view: &TaskView, out: &mut Vec<u8>) {
        let start = open_frame(out);
        let message = out.len();
        proto::write_task_item(self.version, view, self.shape, out);
        self.mark(view.progress.head, self.gap.as_ref(), out, message);
        frame::close(out, start);
        match &mut self.follower {
            Some(follower) => {
                follower.ready(MOST_EVENTS, &mut self.entries);
                self.write_entries(out);
            }
            None => self.state = State::Ending(answer::success()),
        }
    }

    /// Ready when there is something to send, or when the stream has come to its end.
    fn poll_events(&mut self, context: &mut Context<'_>, out: &mut Vec<u8>) -> Poll<()> {
        while out.is_empty() && matches!(self.state, State::Open) {
            let Some(follower) = &mut self.follower else {
                self.state = State::Ending(answer::success());
                break;
            };
            if let Err(error) = ready!(follower.poll_next(context, MOST_EVENTS, &mut self.entries)) {
                tracing::error!(task = %self.task, %error, "a stream cannot go on");
                self.end(&Fault::Internal);
            }
            self.write_entries(out);
        }
        Poll::Ready(())
    }

    /// Ready when there is a reason to end a stream that has nothing to send.
    fn poll_early_end(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.stop.as_mut().poll(context).is_ready() {
            self.end(&Fault::Unavailable);
            return Poll::Ready(());
        }
        match &mut self.deadline {
            Some(deadline) => ready!(deadline.as_mut().poll(context)),
            None => return Poll::Pending,
        }
        self.follower = None;
        self.state = State::Ending(answer::trailers(&deadline::exceeded()));
        Poll::Ready(())
    }

    fn end(&mut self, fault: &Fault) {
        self.follower = None;
        self.state = State::Ending(answer::trailers(&proto::status(self.version, fault)));
    }

    /// Writes the entries taken, and those that became ready meanwhile, until there is enough for one write.
    fn write_entries(&mut self, out: &mut Vec<u8>) {
        while !self.entries.is_empty() {
            // Taken out and put back, so that its room is used again.
            let mut entries = std::mem::take(&mut self.entries);
            let others = self.follower.as_ref().is_some_and(Follower::has_company);
            for entry in entries.drain(..) {
                if self.bare && entry.closes() && !matches!(entry.event.fact, Fact::Replied { .. }) {
                    return self.end(&no_reply());
                }
                self.write_entry(&entry, others, out);
                if entry.closes() {
                    self.follower = None;
                    self.state = State::Ending(answer::success());
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

    fn write_entry(&self, entry: &Entry, others: bool, out: &mut Vec<u8>) {
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
        let start = open_frame(out);
        let plain = proto::index(profile, self.version);
        let number = if self.epoch.is_some() { replay::index(plain) } else { plain };
        entry.write_spelled(number, others, out, |entry, out| {
            let message = out.len();
            self.spell(entry, out);
            self.mark(entry.event.seq, None, out, message);
        });
        frame::close(out, start);
    }

    /// Adds to the message that begins at `start` where it stands, for those who want to know.
    fn mark(&self, seq: Seq, gap: Option<&Gap>, out: &mut Vec<u8>, start: usize) {
        if let Some(epoch) = &self.epoch {
            proto::mark_item(self.version, &Mark { epoch, seq, gap }, out, start);
        }
    }

    fn spell(&self, entry: &Entry, out: &mut Vec<u8>) {
        if self.shape.profile == Profile::Plain {
            if let Some(update) = entry.update() {
                proto::write_update(self.version, &self.task, &self.context, &update, out);
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
            proto::write_occasion(self.shape.profile, self.version, &occasion, out);
        }
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
            if let Some(view) = events.first.take() {
                events.write_first(&view, &mut out);
            } else if events.poll_events(context, &mut out).is_pending() {
                ready!(events.poll_early_end(context));
            }
            if !out.is_empty() {
                return Poll::Ready(Some(Frame::data(out.into())));
            }
        }
    }
}

/// Room for the prefix of a frame, which [`frame::close`] fills in.
fn open_frame(out: &mut Vec<u8>) -> usize {
    let start = out.len();
    out.resize(start + frame::PREFIX, 0);
    start
}

fn no_reply() -> Fault {
    Fault::InvalidAgentResponse { what: "it ended without the message it announced".into() }
}
