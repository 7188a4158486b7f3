//! One reader's way along a task: the task as of a cursor, then every event that is shown, each in a frame of its own.
//!
//! Everything that is ready goes out in one write; a reader that does not read is not polled, so it costs one chunk and
//! delays nobody. Payloads are spelled once per language and shared by all readers. Not here: frames, signs of life, and how
//! a stream tells its end, which differ between bindings.

use std::sync::Arc;
use std::task::{Context, Poll, ready};

use attache_domain::{
    CallId, CallPhase, ContextId, DevtoolEvent, Fact, Fault, ReplayGap, Seq, TaskId, TaskState, TaskView,
};
use attache_session::{Follower, FutureFollower, Subscription, TailEntry, store_fault};
use attache_wire::devtool::Profile;
use attache_wire::encode::TaskShape;
use futures_util::FutureExt;

use crate::app::App;
use crate::encoder::{Encoder, Encoding, seq_before};
use crate::handler::{StreamOpening, StreamStart};
use crate::metrics::OpenStream;
use crate::open_calls::OpenCall;

/// Events taken at once, and bytes put together at once.
const MAX_EVENTS: usize = 64;
const FLUSH_BYTES: usize = 64 << 10;
/// Room made in advance for one event.
const TYPICAL_FRAME_BYTES: usize = 448;

/// What a binding puts around every payload.
pub(crate) trait Framer {
    /// Begins a frame, for what stands at `seq` in the log of that name; tells what [`close`](Self::close) has to know.
    fn open(&self, epoch: Option<&str>, seq: Seq, out: &mut Vec<u8>) -> usize;
    /// Begins a frame for what is not in the log, so that no client resumes after it.
    fn open_unnumbered(&self, out: &mut Vec<u8>) -> usize;
    fn close(&self, opened: usize, out: &mut Vec<u8>);
}

pub(crate) struct TaskStream<L> {
    encoder: Encoder<L>,
    shape: TaskShape,
    task: TaskId,
    context: ContextId,
    /// The answer is one bare message; there is no task to be seen.
    bare: bool,
    /// Shown first.
    first: Option<Arc<TaskView>>,
    /// None when there is nothing more to come.
    follower: Option<Follower>,
    /// The task has yet to begin.
    pending_follower: Option<FutureFollower>,
    /// What the task that is shown first leaves out.
    gap: Option<ReplayGap>,
    entries: Vec<Arc<TailEntry>>,
    /// The questions about calls that this stream has shown, by the ids that answers name.
    asked: Vec<CallId>,
    /// This reader knows that the work waits for the store.
    store_notice_sent: bool,
    _open: OpenStream,
    _open_call: Option<OpenCall>,
}

/// The task as a stream shows it first. Plain clients add whatever a status says to the answer of the agent, so how a
/// question was answered stands for them in the history only.
fn opening_view(mut view: Arc<TaskView>, profile: Profile) -> Arc<TaskView> {
    if profile == Profile::Plain && view.status_is_answer() {
        Arc::make_mut(&mut view).keep_answer_message();
    }
    view
}

impl<L: Encoding> TaskStream<L> {
    pub(crate) fn new(app: &App, speech: Encoder<L>, opened: StreamStart) -> Self {
        let StreamStart { open_call, subscription, shape, first, resumes } = opened;
        let Subscription { view, follower, gap, promised, .. } = subscription;
        let shows_task = match first {
            StreamOpening::Task => true,
            StreamOpening::Events => follower.is_none() && promised.is_none(),
            StreamOpening::Message => false,
        };
        // A task shows its open questions while it waits for their answers.
        let asked = match resumes || (shows_task && view.status.state == TaskState::InputRequired) {
            true => view.call_records.asked().map(|call| call.shown_id().clone()).collect(),
            false => Vec::new(),
        };
        Self {
            encoder: speech,
            shape,
            task: view.task.clone(),
            context: view.context.clone(),
            bare: first == StreamOpening::Message,
            first: shows_task.then(|| opening_view(view, shape.profile)),
            follower,
            pending_follower: promised,
            gap,
            entries: Vec::new(),
            asked,
            store_notice_sent: false,
            _open: app.metrics.open_stream(),
            _open_call: open_call,
        }
    }

    /// All has been read, or the reading was given up.
    pub(crate) fn is_over(&self) -> bool {
        self.first.is_none() && self.follower.is_none() && self.pending_follower.is_none()
    }

    pub(crate) fn close(&mut self) {
        (self.first, self.follower, self.pending_follower) = (None, None, None);
    }

    /// Ready when something was written, or nothing when the reading is over. After a fault it is over too; what was
    /// written before still counts.
    pub(crate) fn poll(
        &mut self,
        context: &mut Context<'_>,
        frames: &impl Framer,
        out: &mut Vec<u8>,
    ) -> Poll<Result<(), Fault>> {
        let read = ready!(self.poll_read(context, frames, out));
        if read.is_err() {
            self.close();
        }
        Poll::Ready(read)
    }

    fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        frames: &impl Framer,
        out: &mut Vec<u8>,
    ) -> Poll<Result<(), Fault>> {
        if let Some(view) = self.first.take() {
            return Poll::Ready(self.write_first(&view, frames, out));
        }
        while out.is_empty() {
            if let Some(promised) = &mut self.pending_follower {
                let follower = ready!(promised.poll_unpin(context));
                self.pending_follower = None;
                self.follower = Some(follower.map_err(|error| store_fault(&error))?);
            }
            let Some(follower) = &mut self.follower else { break };
            match follower.poll_next(context, MAX_EVENTS, &mut self.entries) {
                Poll::Ready(Ok(())) => self.store_notice_sent = false,
                Poll::Ready(Err(error)) => {
                    tracing::error!(task = %self.task, "a stream cannot go on");
                    return Poll::Ready(Err(store_fault(&error)));
                }
                Poll::Pending if self.write_store_notice(frames, out) => break,
                Poll::Pending => return Poll::Pending,
            }
            self.write_entries(frames, out)?;
        }
        Poll::Ready(Ok(()))
    }

    /// Tells once that the work waits for the store; false when there is nothing to tell.
    fn write_store_notice(&mut self, frames: &impl Framer, out: &mut Vec<u8>) -> bool {
        let profile = self.shape.profile;
        if self.store_notice_sent || self.bare {
            return false;
        }
        let Some(notice) = self.follower.as_ref().and_then(Follower::store_notice) else { return false };
        self.store_notice_sent = true;
        if !is_shown(profile, &notice) {
            return false;
        }
        let start = out.len();
        let opened = frames.open_unnumbered(out);
        let payload = out.len();
        self.encoder.write_entry(profile, (&self.task, &self.context), &notice, false, out);
        if out.len() == payload {
            out.truncate(start);
            return false;
        }
        frames.close(opened, out);
        true
    }

    /// The task first, with whatever has happened meanwhile.
    fn write_first(&mut self, view: &TaskView, frames: &impl Framer, out: &mut Vec<u8>) -> Result<(), Fault> {
        let opened = frames.open(self.encoder.epoch.as_deref(), view.progress.head, out);
        self.encoder.write_task_item(view, self.shape, self.gap.as_ref(), out);
        frames.close(opened, out);
        if let Some(follower) = &mut self.follower {
            follower.ready(MAX_EVENTS, &mut self.entries);
        }
        self.write_entries(frames, out)
    }

    /// Writes the entries taken, and those that became ready meanwhile, until there is enough for one write.
    fn write_entries(&mut self, frames: &impl Framer, out: &mut Vec<u8>) -> Result<(), Fault> {
        while !self.entries.is_empty() {
            // Taken out and put back, so that its room is used again.
            let mut entries = std::mem::take(&mut self.entries);
            let others = self.follower.as_ref().is_some_and(Follower::has_other_readers);
            for entry in entries.drain(..) {
                self.write_questions(&entry, frames, out)?;
                self.write_entry(&entry, others, frames, out)?;
                if entry.closes() {
                    self.follower = None;
                    return Ok(());
                }
            }
            self.entries = entries;
            if out.len() >= FLUSH_BYTES {
                break;
            }
            if let Some(follower) = &mut self.follower {
                follower.ready(MAX_EVENTS, &mut self.entries);
            }
        }
        Ok(())
    }

    /// A client that is shown calls is shown every question that is open before the stream ends with one, also those that
    /// were put on another stream.
    fn write_questions(
        &mut self,
        entry: &TailEntry,
        frames: &impl Framer,
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let profile = self.shape.profile;
        if profile == Profile::Plain {
            return Ok(());
        }
        if let Some(DevtoolEvent::Call { call, .. }) = entry.devtool_event()
            && call.phase == CallPhase::Asked
        {
            self.asked.push(call.shown_id().clone());
        }
        if !matches!(entry.event.fact, Fact::PersonAsked { .. }) {
            return Ok(());
        }
        for call in entry.call_records().asked().filter(|call| !self.asked.contains(call.shown_id())) {
            let opened = frames.open(self.encoder.epoch.as_deref(), seq_before(entry), out);
            let written = self.encoder.write_question(profile, (&self.task, &self.context), entry, call, out);
            if let Err(error) = written {
                tracing::error!(task = %self.task, error, "a question cannot be spelled");
                return Err(Fault::Internal);
            }
            frames.close(opened, out);
        }
        Ok(())
    }

    fn write_entry(
        &self,
        entry: &TailEntry,
        others: bool,
        frames: &impl Framer,
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        if self.bare && entry.closes() && !matches!(entry.event.fact, Fact::Replied { .. }) {
            let what = "it ended without the message it announced".into();
            return Err(Fault::InvalidAgentResponse { what });
        }
        let profile = self.shape.profile;
        if !is_shown(profile, entry) {
            return Ok(());
        }
        out.reserve(TYPICAL_FRAME_BYTES);
        let start = out.len();
        let opened = frames.open(self.encoder.epoch.as_deref(), entry.event.seq, out);
        let payload = out.len();
        self.encoder.write_entry(profile, (&self.task, &self.context), entry, others, out);
        // What should be shown and cannot be said must not look as if nothing had happened.
        if out.len() == payload {
            out.truncate(start);
            return Err(Fault::Internal);
        }
        frames.close(opened, out);
        Ok(())
    }
}

fn is_shown(profile: Profile, entry: &TailEntry) -> bool {
    match profile {
        Profile::Plain => entry.is_visible(),
        Profile::Developer | Profile::Gemini => {
            entry.devtool_event().is_some_and(|happening| profile.shows(&happening))
        }
    }
}
