//! The replay extension, from the side of whoever comes back: where an event stands, and what was missed.
//!
//! Spoken by itself with every agent whose card offers it; see `docs/extensions/replay.md`.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{Event, Task};

/// What the agent's card lists.
pub const REPLAY: &str = "urn:attache:extension:replay:v1";

/// Something was missed: the event that says so is the task as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Gap {
    /// The cursor after which nothing more could be shown.
    pub after: String,
    /// `trimmed`, `other-epoch` or `ahead`.
    pub reason: String,
}

impl Task {
    /// Where in the agent's log the task stands as it is shown here, to be presented when coming back.
    pub fn cursor(&self) -> Option<&str> {
        self.metadata.as_ref()?.get(REPLAY)?.get("cursor")?.as_str()
    }
}

impl Event {
    /// Where in the agent's log this event stands, to be presented when coming back.
    pub fn cursor(&self) -> Option<&str> {
        self.mark()?.get("cursor")?.as_str()
    }

    /// What was missed before this event.
    pub fn gap(&self) -> Option<Gap> {
        serde_json::from_value(self.mark()?.get("gap")?.clone()).ok()
    }

    fn mark(&self) -> Option<&Map<String, Value>> {
        let metadata = match self {
            Self::Task(task) => task.metadata.as_ref(),
            Self::StatusUpdate(update) => update.metadata.as_ref(),
            Self::ArtifactUpdate(update) => update.metadata.as_ref(),
            Self::Message(message) => message.metadata.as_ref(),
        };
        metadata?.get(REPLAY)?.as_object()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_read_from_the_task_that_comes_after_it() {
        let event: Event = serde_json::from_value(serde_json::json!({ "task": {
            "id": "t", "status": { "state": "TASK_STATE_WORKING" },
            "metadata": { REPLAY: { "cursor": "b.9", "gap": { "after": "a.3", "reason": "other-epoch" } } },
        } }))
        .unwrap();
        assert_eq!(event.cursor(), Some("b.9"));
        assert_eq!(event.gap(), Some(Gap { after: "a.3".into(), reason: "other-epoch".into() }));
    }
}
