//! The replay extension as clients read it: where an event stands in the agent's log, and what was missed.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{RemoteTask, StreamEvent};
use crate::replay::URI;

/// Events were missed: the event that carries this is the current task.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RemoteGap {
    /// The cursor after which nothing more could be shown.
    pub after: String,
    /// `trimmed`, `other-epoch` or `ahead`.
    pub reason: String,
}

impl RemoteTask {
    /// Where in the agent's log the task stands as it is shown here; send it to resume there.
    pub fn cursor(&self) -> Option<&str> {
        self.metadata.as_ref()?.get(URI)?.get("cursor")?.as_str()
    }
}

impl StreamEvent {
    /// Where in the agent's log this event stands; send it to resume there.
    pub fn cursor(&self) -> Option<&str> {
        self.mark()?.get("cursor")?.as_str()
    }

    /// What was missed before this event.
    pub fn gap(&self) -> Option<RemoteGap> {
        serde_json::from_value(self.mark()?.get("gap")?.clone()).ok()
    }

    fn mark(&self) -> Option<&Map<String, Value>> {
        self.metadata()?.get(URI)?.as_object()
    }
}

#[cfg(test)]
mod tests {
    use attache_domain::Binding;
    use serde_json::json;

    use super::*;
    use crate::Version;
    use crate::client::Protocol;

    #[test]
    fn a_gap_is_read_from_the_task_that_comes_after_it() {
        let protocol = Protocol::new(Version::V1_0, Binding::HttpJson);
        let event = json!({ "task": {
            "id": "t", "status": { "state": "TASK_STATE_WORKING" },
            "metadata": { URI: { "cursor": "b.9", "gap": { "after": "a.3", "reason": "other-epoch" } } },
        } });
        let event = protocol.decode_event(200, event.to_string().as_bytes()).unwrap();
        assert_eq!(event.cursor(), Some("b.9"));
        assert_eq!(event.gap(), Some(RemoteGap { after: "a.3".into(), reason: "other-epoch".into() }));
    }
}
