//! How tasks and events are put: in the words of one dialect, and with their places for those who want to know them.
//!
//! All bindings show the same things in the same order, so that is written once, here and in `reading`; a language only
//! knows the words. Not here: what stands around a payload, which is each binding's own.

use std::sync::Arc;

use attache_domain::{
    CallChange, CallRecord, ContextId, DevtoolEvent, ReplayGap, Seq, TaskId, TaskView, Update,
};
use attache_session::{RenderedTask, TailEntry};
use attache_wire::devtool::{DevtoolFrame, Profile};
use attache_wire::encode::{self, TaskShape};
use attache_wire::replay::{self, ReplayMark};
use attache_wire::{Dialect, Version, proto};

/// The words for what is shown: JSON in one of its dialects, or protobuf in one of its versions.
pub(crate) trait Encoding: Copy {
    /// The spelling's place in a table of all of them, without marks.
    fn index(self, profile: Profile) -> usize;
    fn write_task(self, view: &TaskView, shape: TaskShape, out: &mut Vec<u8>);
    fn write_task_item(self, view: &TaskView, shape: TaskShape, out: &mut Vec<u8>);
    fn write_update(self, task: &TaskId, context: &ContextId, update: &Update<'_>, out: &mut Vec<u8>);
    /// Writes nothing at all when it says what went wrong.
    fn write_occasion(
        self,
        profile: Profile,
        occasion: &DevtoolFrame<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), String>;
    /// Adds to what begins at `start` where it stands.
    fn mark_task(self, mark: &ReplayMark<'_>, out: &mut Vec<u8>, start: usize);
    fn mark_item(self, mark: &ReplayMark<'_>, out: &mut Vec<u8>, start: usize);
}

impl Encoding for Dialect {
    fn index(self, profile: Profile) -> usize {
        profile.index(self)
    }

    fn write_task(self, view: &TaskView, shape: TaskShape, out: &mut Vec<u8>) {
        encode::write_task(self, view, shape, out);
    }

    fn write_task_item(self, view: &TaskView, shape: TaskShape, out: &mut Vec<u8>) {
        encode::write_task_item(self, view, shape, out);
    }

    fn write_update(self, task: &TaskId, context: &ContextId, update: &Update<'_>, out: &mut Vec<u8>) {
        encode::write_update(self, task, context, update, out);
    }

    fn write_occasion(
        self,
        profile: Profile,
        occasion: &DevtoolFrame<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        profile.write(self, occasion, out);
        Ok(())
    }

    fn mark_task(self, mark: &ReplayMark<'_>, out: &mut Vec<u8>, start: usize) {
        replay::add_mark_to_task(mark, out, start);
    }

    fn mark_item(self, mark: &ReplayMark<'_>, out: &mut Vec<u8>, start: usize) {
        replay::add_mark_to_item(self, mark, out, start);
    }
}

impl Encoding for Version {
    fn index(self, profile: Profile) -> usize {
        proto::index(profile, self)
    }

    fn write_task(self, view: &TaskView, shape: TaskShape, out: &mut Vec<u8>) {
        proto::write_task(self, view, shape, out);
    }

    fn write_task_item(self, view: &TaskView, shape: TaskShape, out: &mut Vec<u8>) {
        proto::write_task_item(self, view, shape, out);
    }

    fn write_update(self, task: &TaskId, context: &ContextId, update: &Update<'_>, out: &mut Vec<u8>) {
        proto::write_update(self, task, context, update, out);
    }

    fn write_occasion(
        self,
        profile: Profile,
        occasion: &DevtoolFrame<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        proto::write_devtool_frame(profile, self, occasion, out)
    }

    fn mark_task(self, mark: &ReplayMark<'_>, out: &mut Vec<u8>, start: usize) {
        proto::add_mark_to_task(self, mark, out, start);
    }

    fn mark_item(self, mark: &ReplayMark<'_>, out: &mut Vec<u8>, start: usize) {
        proto::add_mark_to_item(self, mark, out, start);
    }
}

/// A language, and how much is said about places.
pub(crate) struct Encoder<L> {
    pub(crate) encoding: L,
    /// The log's name, for those who want to know where in it they are.
    pub(crate) epoch: Option<Arc<str>>,
}

impl<L: Encoding> Encoder<L> {
    pub(crate) fn write_task(&self, view: &TaskView, shape: TaskShape, out: &mut Vec<u8>) {
        let start = out.len();
        self.encoding.write_task(view, shape, out);
        if let Some(mark) = self.mark(view.progress.head, None) {
            self.encoding.mark_task(&mark, out, start);
        }
    }

    /// `gap` is what the task leaves out of what its reader has missed.
    pub(crate) fn write_task_item(
        &self,
        view: &TaskView,
        shape: TaskShape,
        gap: Option<&ReplayGap>,
        out: &mut Vec<u8>,
    ) {
        let start = out.len();
        self.encoding.write_task_item(view, shape, out);
        if let Some(mark) = self.mark(view.progress.head, gap) {
            self.encoding.mark_item(&mark, out, start);
        }
    }

    /// As it was spelled for whoever asked before, where that can be.
    pub(crate) fn write_rendered(&self, seen: &RenderedTask, shape: TaskShape, out: &mut Vec<u8>) {
        let write = |view: &TaskView, out: &mut Vec<u8>| self.write_task(view, shape, out);
        match (shape.history_length, &self.epoch) {
            (None, None) => seen.write_whole(self.encoding.index(shape.profile), out, write),
            _ => write(&seen.view, out),
        }
    }

    /// One event that is shown in `profile`; kept for `others` who want the same. Nothing at all is written when it
    /// cannot be put into these words.
    pub(crate) fn write_entry(
        &self,
        profile: Profile,
        (task, context): (&TaskId, &ContextId),
        entry: &TailEntry,
        others: bool,
        out: &mut Vec<u8>,
    ) {
        let plain = self.encoding.index(profile);
        let number = if self.epoch.is_some() { replay::marked_index(plain) } else { plain };
        entry.write_encoded(number, others, out, |entry, out| {
            let start = out.len();
            if let Err(error) = self.encode(profile, (task, context), entry, out) {
                tracing::error!(%task, seq = entry.event.seq.0, error, "an event cannot be spelled");
                return;
            }
            if let Some(mark) = self.mark(entry.event.seq, None) {
                self.encoding.mark_item(&mark, out, start);
            }
        });
    }

    /// Shows again that people are asked about `call`, before `entry`, which says that nothing goes on until they answer. It
    /// has the place of the event before, so that a client that comes back after it is shown `entry`.
    pub(crate) fn write_question(
        &self,
        profile: Profile,
        (task, context): (&TaskId, &ContextId),
        entry: &TailEntry,
        call: &CallRecord,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let start = out.len();
        let (seq, at) = (seq_before(entry), entry.event.at);
        let happening = DevtoolEvent::Call { call, moved: CallChange::StillAsked };
        let occasion = DevtoolFrame {
            task,
            context,
            seq,
            at,
            stage: entry.stage(),
            call_records: entry.call_records(),
            happening,
        };
        self.encoding.write_occasion(profile, &occasion, out)?;
        if let Some(mark) = self.mark(seq, None) {
            self.encoding.mark_item(&mark, out, start);
        }
        Ok(())
    }

    fn encode(
        &self,
        profile: Profile,
        (task, context): (&TaskId, &ContextId),
        entry: &TailEntry,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        if profile == Profile::Plain {
            if let Some(update) = entry.update() {
                self.encoding.write_update(task, context, &update, out);
            }
            return Ok(());
        }
        let Some(happening) = entry.devtool_event() else { return Ok(()) };
        let occasion = DevtoolFrame {
            task,
            context,
            seq: entry.event.seq,
            at: entry.event.at,
            stage: entry.stage(),
            call_records: entry.call_records(),
            happening,
        };
        self.encoding.write_occasion(profile, &occasion, out)
    }

    fn mark<'a>(&'a self, seq: Seq, gap: Option<&'a ReplayGap>) -> Option<ReplayMark<'a>> {
        self.epoch.as_ref().map(|epoch| ReplayMark { epoch, seq, gap })
    }
}

/// The place in the log before an entry's.
pub(crate) fn seq_before(entry: &TailEntry) -> Seq {
    Seq(entry.event.seq.0.saturating_sub(1))
}
