//! The events of one task for one reader: the task as of a cursor, then every visible event, each in its own frame.
//!
//! Everything that is ready goes out in one write. A reader that does not read is not polled, so it costs one chunk and
//! delays no other reader. Each event is encoded once per encoding and dialect and shared by all readers. Frames,
//! heartbeats and the end of a stream differ between bindings and are theirs.

use std::sync::Arc;
use std::task::{Context, Poll, ready};

use attache_domain::{
    CallChange, CallId, CallPhase, CallRecords, ContextId, DevtoolEvent, Fact, Fault, Message, Presentation,
    PromptChange, ReplayGap, ReplyShape, Seq, TaskId, TaskView, TextPhase, Timestamp, Turn, TurnPhase,
    UpdateContext,
};
use attache_session::{Follower, FutureFollower, Subscription, TailEntry, store_fault};
use attache_wire::Encoder;
use attache_wire::devtool::{DevtoolFrame, Dialect};
use attache_wire::encode::TaskShape;
use futures_util::FutureExt;

use crate::app::App;
use crate::metrics::OpenStreamCount;
use crate::open_requests::OpenRequest;
use crate::streamed_prompt::StreamedPrompt;

/// Events taken at once, and bytes after which a write goes out.
const MAX_EVENTS: usize = 64;
const FLUSH_BYTES: usize = 64 << 10;
/// Reserved before an event is written.
const TYPICAL_FRAME_BYTES: usize = 448;

/// What a binding puts around every payload.
pub(crate) trait Framer {
    /// Begins a frame for the event at `seq` of the log `epoch`. Returns what [`close`](Self::close) needs.
    fn open(&self, epoch: Option<&str>, seq: Seq, out: &mut Vec<u8>) -> usize;
    /// Begins a frame for a payload that is not in the log, so that no client resumes after it.
    fn open_unnumbered(&self, out: &mut Vec<u8>) -> usize;
    fn close(&self, opened: usize, out: &mut Vec<u8>);
}

/// A stream before its first write.
pub(crate) struct StreamStart {
    /// Counts the stream while it is open.
    pub(crate) open_request: Option<OpenRequest>,
    pub(crate) subscription: Subscription,
    pub(crate) shape: TaskShape,
    pub(crate) first: StreamOpening,
    /// The client resumes: it has seen everything before the cursor.
    pub(crate) resumes: bool,
}

/// What a stream shows first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamOpening {
    Task,
    /// The events alone, or the task if there are none to come.
    Events,
    /// The events of a prompt on the live endpoint or in the REST API, until its turn is over.
    Prompt {
        turn: u32,
    },
    /// The answer is one bare message, without a task.
    Message,
}

pub(crate) struct TaskStream {
    encoder: Encoder,
    shape: TaskShape,
    task: TaskId,
    context: ContextId,
    /// The answer is one bare message, without a task.
    bare: bool,
    /// The stream shows this prompt only, and ends with its turn. Other streams of the live endpoint go on between prompts.
    prompt: Option<StreamedPrompt>,
    /// Shown first.
    first: Option<Arc<TaskView>>,
    /// The message that opened the task, for dialects that show prompts.
    opening: Option<Arc<Message>>,
    /// None once nothing more will come.
    follower: Option<Follower>,
    /// Resolves when the task, whose id is reserved, begins.
    pending_follower: Option<FutureFollower>,
    /// The events that the client missed for good.
    gap: Option<ReplayGap>,
    entries: Vec<Arc<TailEntry>>,
    /// The questions about calls that this stream has shown, by the ids that answers name. None: its events show them all.
    asked: Option<Vec<CallId>>,
    /// Of the last event that was read.
    last_seq: Seq,
    /// The last event that was read ended a turn.
    is_between_turns: bool,
    /// The reader has been told that the work waits for the store.
    store_notice_sent: bool,
    _open: OpenStreamCount,
    _open_request: Option<OpenRequest>,
}

/// The task as a stream shows it first. Plain clients append the status message to the agent's answer, so the message
/// about an answered question stays in the history for them.
fn opening_view(mut view: Arc<TaskView>, dialect: Dialect) -> Arc<TaskView> {
    if dialect == Dialect::Plain && view.status_is_answer() {
        Arc::make_mut(&mut view).keep_answer_message();
    }
    view
}

/// A stream of the REST API says nothing of the prompts before its own, so it begins with this news.
fn is_queued(view: &TaskView, turn: u32, dialect: Dialect) -> bool {
    dialect == Dialect::RestApi && view.progress.turn.number < turn
}

impl TaskStream {
    pub(crate) fn new(app: &App, encoder: Encoder, start: StreamStart) -> Self {
        let StreamStart { open_request, subscription, shape, first, resumes } = start;
        let Subscription { view, follower, gap, promised, opening, .. } = subscription;
        let shows_task = match first {
            StreamOpening::Task => true,
            StreamOpening::Events => gap.is_some() || (follower.is_none() && promised.is_none()),
            StreamOpening::Prompt { turn } => gap.is_some() || is_queued(&view, turn, shape.dialect),
            StreamOpening::Message => false,
        };
        let shows_every_event = resumes && !shows_task && shape.dialect.streams_whole_prompts();
        // A task shows its open questions while it waits for their answers.
        let asked =
            (!shows_every_event).then(|| match resumes || (shows_task && view.progress.waits_for_person()) {
                true => view.call_records.asked().map(|call| call.shown_id().clone()).collect(),
                false => Vec::new(),
            });
        let last_seq = follower.as_ref().map_or(view.progress.head, Follower::cursor);
        Self {
            encoder,
            shape,
            task: view.task.clone(),
            context: view.context.clone(),
            bare: first == StreamOpening::Message,
            prompt: match first {
                StreamOpening::Prompt { turn } => Some(StreamedPrompt::of(&view.progress, turn)),
                StreamOpening::Task | StreamOpening::Events | StreamOpening::Message => None,
            },
            opening: opening.filter(|message| shape.dialect.shows(&opening_event(message))),
            is_between_turns: false,
            first: shows_task.then(|| opening_view(view, shape.dialect)),
            follower,
            pending_follower: promised,
            gap,
            entries: Vec::new(),
            asked,
            last_seq,
            store_notice_sent: false,
            _open: app.metrics.open_stream(),
            _open_request: open_request,
        }
    }

    /// Everything has been read, or the stream was closed.
    pub(crate) fn is_over(&self) -> bool {
        let shows_first = self.first.is_some() || self.opening.is_some();
        !shows_first && self.follower.is_none() && self.pending_follower.is_none()
    }

    /// Nothing follows before the next prompt.
    pub(crate) fn is_between_turns(&self) -> bool {
        self.is_between_turns
    }

    pub(crate) fn last_seq(&self) -> Seq {
        self.last_seq
    }

    pub(crate) fn close(&mut self) {
        (self.first, self.follower, self.pending_follower) = (None, None, None);
    }

    /// Ready when something was written, or with nothing written when the stream is over. A fault ends the stream; bytes
    /// written before it still count.
    pub(crate) fn poll(
        &mut self,
        context: &mut Context<'_>,
        frames: &impl Framer,
        out: &mut Vec<u8>,
    ) -> Poll<Result<(), Fault>> {
        let result = ready!(self.poll_read(context, frames, out));
        if result.is_err() {
            self.close();
        }
        Poll::Ready(result)
    }

    fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        frames: &impl Framer,
        out: &mut Vec<u8>,
    ) -> Poll<Result<(), Fault>> {
        let dialect = self.shape.dialect;
        if let Some(view) = self.first.take() {
            return Poll::Ready(self.write_first(&view, frames, out));
        }
        if let Some(message) = self.opening.take() {
            return Poll::Ready(self.write_opening(&message, frames, out));
        }
        while out.is_empty() {
            if let Some(pending) = &mut self.pending_follower {
                let follower = ready!(pending.poll_unpin(context));
                self.pending_follower = None;
                let follower = follower.map_err(|error| store_fault(&error))?;
                let opening = follower.opening_message().filter(|message| !message.parts.is_empty());
                self.follower = Some(follower);
                if let Some(message) = opening.filter(|message| dialect.shows(&opening_event(message))) {
                    return Poll::Ready(self.write_opening(&message, frames, out));
                }
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

    /// Reports once that the work waits for the store. Returns false when nothing was written.
    fn write_store_notice(&mut self, frames: &impl Framer, out: &mut Vec<u8>) -> bool {
        let dialect = self.shape.dialect;
        if self.store_notice_sent || self.bare {
            return false;
        }
        let Some(notice) = self.follower.as_ref().and_then(Follower::store_notice) else { return false };
        self.store_notice_sent = true;
        if !is_shown(dialect, &notice) {
            return false;
        }
        let start = out.len();
        let opened = frames.open_unnumbered(out);
        let payload = out.len();
        self.encode_entry(&notice, false, out);
        if out.len() == payload {
            out.truncate(start);
            return false;
        }
        frames.close(opened, out);
        true
    }

    /// The task, then the events that are ready.
    fn write_first(&mut self, view: &TaskView, frames: &impl Framer, out: &mut Vec<u8>) -> Result<(), Fault> {
        let dialect = self.shape.dialect;
        let seq = match dialect {
            Dialect::Live => view.progress.last_shown(),
            Dialect::Plain | Dialect::Developer | Dialect::Gemini | Dialect::RestApi => view.progress.head,
        };
        let is_queued = self.prompt.as_ref().is_some_and(|prompt| is_queued(view, prompt.turn, dialect));
        let opened = frames.open(self.encoder.epoch.as_deref(), seq, out);
        match is_queued {
            true => self.encoder.write_queued(view, out),
            false => self.encoder.write_task_item(view, self.shape, self.gap.as_ref(), out),
        }
        frames.close(opened, out);
        if dialect.streams_whole_prompts() && !is_queued {
            self.write_open_questions(view, frames, out)?;
        }
        if let Some(follower) = &mut self.follower {
            follower.ready(MAX_EVENTS, &mut self.entries);
        }
        self.write_entries(frames, out)
    }

    /// The message that opened the task, then the events that are ready.
    fn write_opening(
        &mut self,
        message: &Message,
        frames: &impl Framer,
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let seq = Seq::START.next();
        let opened = frames.open(self.encoder.epoch.as_deref(), seq, out);
        let turn =
            Turn { number: 1, phase: TurnPhase::Due, emitted: 0, text: TextPhase::Silent, asked: false };
        let frame = DevtoolFrame {
            task: &self.task,
            context: &self.context,
            seq,
            at: Timestamp::now(),
            stage: &UpdateContext { reply: ReplyShape::Task, presentation: Presentation::default(), turn },
            call_records: &CallRecords::default(),
            event: opening_event(message),
        };
        let written = self.encoder.write_devtool_frame(self.shape.dialect, &frame, out);
        written.map_err(|_| Fault::Internal)?;
        frames.close(opened, out);
        if let Some(follower) = &mut self.follower {
            follower.ready(MAX_EVENTS, &mut self.entries);
        }
        self.write_entries(frames, out)
    }

    /// The state of a task says nothing about the calls that it waits for.
    fn write_open_questions(
        &self,
        view: &TaskView,
        frames: &impl Framer,
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let stage = view.progress.update_context();
        let asked = view.call_records.asked().filter(|_| view.progress.waits_for_person());
        for call in asked {
            let opened = frames.open_unnumbered(out);
            let frame = DevtoolFrame {
                task: &self.task,
                context: &self.context,
                seq: view.progress.head,
                at: view.status.at,
                stage: &stage,
                call_records: &view.call_records,
                event: DevtoolEvent::Call { call, moved: CallChange::StillAsked },
            };
            let written = self.encoder.write_devtool_frame(self.shape.dialect, &frame, out);
            written.map_err(|_| Fault::Internal)?;
            frames.close(opened, out);
        }
        Ok(())
    }

    /// Writes the entries taken, and those that became ready meanwhile, up to [`FLUSH_BYTES`].
    fn write_entries(&mut self, frames: &impl Framer, out: &mut Vec<u8>) -> Result<(), Fault> {
        while !self.entries.is_empty() {
            // Taken out and put back, so that its capacity is reused.
            let mut entries = std::mem::take(&mut self.entries);
            let others = self.follower.as_ref().is_some_and(Follower::has_other_readers);
            for entry in entries.drain(..) {
                let is_last = self.is_ended_by(&entry);
                let hides = |prompt: &StreamedPrompt| prompt.hides(&entry, self.shape.dialect);
                if is_last || !self.prompt.as_ref().is_some_and(hides) {
                    self.write_questions(&entry, frames, out)?;
                    self.write_entry(&entry, others, frames, out)?;
                }
                self.last_seq = entry.event.seq;
                self.is_between_turns =
                    entry.closes() && !matches!(entry.event.fact, Fact::PersonAsked { .. });
                if is_last {
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

    /// Before a stream ends with a question, a client of the extension sees every open question, also those that were
    /// asked on another stream.
    fn write_questions(
        &mut self,
        entry: &TailEntry,
        frames: &impl Framer,
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let dialect = self.shape.dialect;
        let Some(asked) = self.asked.as_mut().filter(|_| dialect != Dialect::Plain) else { return Ok(()) };
        if let Some(DevtoolEvent::Call { call, .. }) = entry.devtool_event()
            && call.phase == CallPhase::Asked
        {
            asked.push(call.shown_id().clone());
        }
        if !matches!(entry.event.fact, Fact::PersonAsked { .. }) {
            return Ok(());
        }
        let asked = self.asked.as_deref().unwrap_or_default();
        for call in entry.call_records().asked().filter(|call| !asked.contains(call.shown_id())) {
            // The seq of the event before, so that a client that resumes after the question is shown `entry`.
            let seq = Seq(entry.event.seq.0.saturating_sub(1));
            let opened = frames.open(self.encoder.epoch.as_deref(), seq, out);
            let event = DevtoolEvent::Call { call, moved: CallChange::StillAsked };
            if let Err(error) = self.encoder.write_devtool_frame(dialect, &self.frame(entry, seq, event), out)
            {
                tracing::error!(task = %self.task, error, "a question cannot be encoded");
                return Err(Fault::Internal);
            }
            frames.close(opened, out);
        }
        Ok(())
    }

    /// On the live endpoint and in the REST API a stream shows a whole prompt, whichever client answers the questions
    /// meanwhile; on the live endpoint also the task until nothing can happen to it any more.
    fn is_ended_by(&self, entry: &TailEntry) -> bool {
        if !self.shape.dialect.streams_whole_prompts() {
            return entry.closes();
        }
        match &entry.event.fact {
            Fact::PersonAsked { .. } => false,
            // Older logs have no `PromptSettled`.
            Fact::PromptSettled { .. } | Fact::PromptTaken { .. } => {
                self.prompt.as_ref().is_some_and(|prompt| entry.stage().turn.number >= prompt.turn)
            }
            Fact::TurnEnded { outcome, .. } => self.prompt.is_some() || outcome.state().is_terminal(),
            _ => entry.closes(),
        }
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
        let dialect = self.shape.dialect;
        if !is_shown(dialect, entry) {
            return Ok(());
        }
        out.reserve(TYPICAL_FRAME_BYTES);
        if dialect == Dialect::RestApi {
            self.write_last_words(entry, frames, out);
        }
        let start = out.len();
        let opened = frames.open(self.encoder.epoch.as_deref(), entry.event.seq, out);
        let payload = out.len();
        self.encode_entry(entry, others, out);
        // An event that cannot be encoded must not look as if nothing had happened.
        if out.len() == payload {
            out.truncate(start);
            return Err(Fault::Internal);
        }
        frames.close(opened, out);
        Ok(())
    }

    fn write_last_words(&self, entry: &TailEntry, frames: &impl Framer, out: &mut Vec<u8>) {
        let Some(event) = entry.devtool_event() else { return };
        let start = out.len();
        let opened = frames.open_unnumbered(out);
        match self.encoder.write_last_words(&self.frame(entry, entry.event.seq, event), out) {
            true => frames.close(opened, out),
            false => out.truncate(start),
        }
    }

    /// Writes the event, or nothing when it cannot be encoded. With `others` reading too, the bytes are kept for them.
    fn encode_entry(&self, entry: &TailEntry, others: bool, out: &mut Vec<u8>) {
        let dialect = self.shape.dialect;
        entry.write_encoded(self.encoder.index(dialect), others, out, |entry, out| {
            let seq = entry.event.seq;
            if dialect == Dialect::Plain {
                if let Some(update) = entry.update() {
                    self.encoder.write_update((&self.task, &self.context), seq, &update, out);
                }
            } else if let Some(event) = entry.devtool_event()
                && let Err(error) =
                    self.encoder.write_devtool_frame(dialect, &self.frame(entry, seq, event), out)
            {
                tracing::error!(task = %self.task, seq = seq.0, error, "an event cannot be encoded");
            }
        });
    }

    fn frame<'a>(&'a self, entry: &'a TailEntry, seq: Seq, event: DevtoolEvent<'a>) -> DevtoolFrame<'a> {
        DevtoolFrame {
            task: &self.task,
            context: &self.context,
            seq,
            at: entry.event.at,
            stage: entry.stage(),
            call_records: entry.call_records(),
            event,
        }
    }
}

fn opening_event(message: &Message) -> DevtoolEvent<'_> {
    DevtoolEvent::Prompt { id: &message.id, message: Some(message), change: PromptChange::Received }
}

fn is_shown(dialect: Dialect, entry: &TailEntry) -> bool {
    match dialect {
        Dialect::Plain => entry.is_visible(),
        Dialect::Developer | Dialect::Gemini | Dialect::Live | Dialect::RestApi => {
            entry.devtool_event().is_some_and(|event| dialect.shows(&event))
        }
    }
}
