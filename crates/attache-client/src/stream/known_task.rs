//! Tells what is new in a task from what is known of it.

use super::EventStream;
use crate::{RemoteStatus, RemoteTask, StreamEvent};

impl EventStream {
    /// An event without an id tells nothing but a new time.
    pub(super) fn is_known(&self, event: &StreamEvent) -> bool {
        match event {
            StreamEvent::Task(task) => self.known.as_ref().is_some_and(|known| is_same_task(known, task)),
            StreamEvent::StatusUpdate(update) => {
                let same = |known: &RemoteStatus| is_same_status(known, &update.status);
                self.known_status.as_deref().is_some_and(same) && update.development().is_none()
            }
            StreamEvent::Message(_) | StreamEvent::ArtifactUpdate(_) => false,
        }
    }
}

/// Whether two looks at a task show the same, but for the time.
pub(super) fn is_same_task(one: &RemoteTask, other: &RemoteTask) -> bool {
    is_same_status(&one.status, &other.status)
        && (&one.artifacts, &one.history, &one.metadata)
            == (&other.artifacts, &other.history, &other.metadata)
}

fn is_same_status(one: &RemoteStatus, other: &RemoteStatus) -> bool {
    (one.state, &one.message) == (other.state, &other.message)
}
