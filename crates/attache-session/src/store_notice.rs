//! A notice for readers of a task whose work waits because the store cannot be written.
//!
//! The notice is not recorded, because recording is what fails: it is not in the log, and a later reader does not see
//! it.

use std::sync::Arc;

use attache_domain::{Event, Fact, Message, MessageId, TaskState, TaskView};
use serde_json::{Map, Value};

use crate::follow::Follower;
use crate::live_task::{LiveTask, now};
use crate::tail::TailEntry;

/// The value of `reason` in the metadata of the message.
const REASON: &str = "store_unavailable";

impl LiveTask {
    /// The recorded task. While its work cannot be recorded, its status says so.
    pub(crate) fn view_with_store_notice(&self) -> Arc<TaskView> {
        let mut view = self.view();
        if let Some(message) = self.store_notice() {
            Arc::make_mut(&mut view).status.message = Some(message);
        }
        view
    }

    fn store_notice(&self) -> Option<Arc<Message>> {
        let (context, head) = {
            let state = self.state();
            let progress = &state.view.progress;
            let is_at_work = matches!(progress.state, TaskState::Submitted | TaskState::Working);
            if !state.store_failed || !is_at_work {
                return None;
            }
            (progress.context.clone(), progress.head)
        };
        let why =
            self.store_fault().map_or_else(|| "the store cannot be written".into(), |it| it.to_string());
        let text = format!("This task waits: {why}. What happens now is shown when it is recorded.");
        let task = self.key.task.clone();
        let id = MessageId::from(format!("store-{head}-{task}"));
        let metadata = Map::from_iter([("reason".to_owned(), Value::from(REASON))]);
        let message = Message::from_agent(id, context, Some(task), text);
        Some(Arc::new(Message { metadata: Some(metadata), ..message }))
    }
}

impl Follower {
    /// A notice for the reader while the work of the task cannot be recorded. It has the place of the entry that was handed
    /// out last, so that a client that comes back after it misses nothing. The follower is woken when there is one.
    pub fn store_notice(&self) -> Option<TailEntry> {
        let message = self.task().store_notice()?;
        let event = Event { seq: self.cursor(), at: now(), fact: Fact::Noticed { message } };
        Some(self.entry_here(event))
    }
}
