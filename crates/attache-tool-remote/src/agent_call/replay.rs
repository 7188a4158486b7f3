//! What of the agent's events an earlier run has shown.

use attache_client::StreamEvent;

/// How the run reads the events of a task that began before it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Replay {
    /// Every event is new.
    None,
    /// The events come again from the beginning. Those up to this cursor were shown.
    Until(String),
    /// The first event holds the whole task. Events between may be missing, and the agent does not send them again.
    Snapshot,
    /// The events after that one.
    Partial,
}

impl Replay {
    /// Whether the text of this event was not shown before.
    pub(super) fn is_new(&mut self, event: &StreamEvent, cursor: Option<&str>) -> bool {
        match self {
            Self::None | Self::Partial => true,
            Self::Until(until) => {
                if cursor == Some(until) || event.gap().is_some() {
                    *self = Self::None;
                }
                false
            }
            Self::Snapshot => {
                *self = Self::Partial;
                !matches!(event, StreamEvent::Task(_))
            }
        }
    }

    /// Events may be missing, so the task has to be fetched at its end.
    pub(super) fn is_partial(&self) -> bool {
        matches!(self, Self::Snapshot | Self::Partial)
    }
}
