//! Cursors into a task's log as clients hold them, and rules for messages that are sent twice.

use std::sync::Arc;

use crate::Seq;

/// The position right after an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// The name of the log; absent when the caller only knows a number.
    pub epoch: Option<Arc<str>>,
    pub seq: Seq,
}

/// Events after the cursor are missing. The client gets the current task instead, with this notice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayGap {
    pub after: Cursor,
    pub reason: GapReason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GapReason {
    /// The events after the cursor were deleted.
    Trimmed,
    /// The cursor is of another log: this one was begun anew.
    OtherEpoch,
    /// The log ends before the cursor: it lost its end, most likely to an older copy.
    Ahead,
}

/// What to do when a cursor points to events that are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GapPolicy {
    #[default]
    Refuse,
    /// Show the current task, with a [`ReplayGap`].
    Report,
}

/// What makes two messages of one sender the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DuplicateRule {
    /// Their ids and all they say: another text under the same id is another message.
    #[default]
    IdAndContent,
    /// Their ids alone: another text under the same id is refused.
    Id,
}

/// How long a message that is sent again counts as the one that came before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DuplicateWindow {
    /// Until the turn that took it has ended. After that it is a new message.
    #[default]
    InFlight,
    Always,
}
