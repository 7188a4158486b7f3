//! Tells whether a task or a status has changed.

use crate::{RemoteStatus, RemoteTask};

/// Whether two looks at a task show the same, but for the time.
pub(super) fn is_same_task(one: &RemoteTask, other: &RemoteTask) -> bool {
    is_same_status(&one.status, &other.status)
        && (&one.artifacts, &one.history, &one.metadata)
            == (&other.artifacts, &other.history, &other.metadata)
}

pub(super) fn is_same_status(one: &RemoteStatus, other: &RemoteStatus) -> bool {
    (one.state, &one.message) == (other.state, &other.message)
}
