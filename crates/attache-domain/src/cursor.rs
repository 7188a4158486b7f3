//! A place in a task's log as callers hold it, and what is said when there is no such place.

use std::sync::Arc;

use crate::Seq;

/// The place right after an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// Which log it is a place in; absent when the caller only knows a number.
    pub epoch: Option<Arc<str>>,
    pub seq: Seq,
}

/// A caller cannot be shown everything after its cursor; it is shown the task as it is, and told so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayGap {
    pub after: Cursor,
    pub reason: GapReason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GapReason {
    /// What came after the cursor is not kept any more.
    Trimmed,
    /// The cursor is of another log: this one was begun anew.
    OtherEpoch,
    /// The log ends before the cursor: it lost its end, most likely to an older copy.
    Ahead,
}

/// What to do when a caller's cursor leads nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GapPolicy {
    #[default]
    Refuse,
    /// Show the task as it is, with a [`Gap`].
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
