//! Finished tasks that were read lately. A task that has ended by itself never changes, so a copy stays true; a canceled one may
//! still get a notice.

use std::sync::{Arc, Mutex};

use attache_domain::{BoundedCache, IgnorePoison, TaskKey, TaskState, TaskView};

use crate::encoded_events::EncodedEvents;
use crate::weight::weight_of_view;

/// A task and its encodings.
#[derive(Debug)]
pub struct RenderedTask {
    pub view: Arc<TaskView>,
    whole: EncodedEvents,
}

impl RenderedTask {
    pub(crate) fn new(view: Arc<TaskView>) -> Arc<Self> {
        Arc::new(Self { view, whole: EncodedEvents::default() })
    }

    /// Writes the whole task in dialect number `dialect`. Of a finished task the encoding is kept.
    pub fn write_whole(
        &self,
        dialect: usize,
        out: &mut Vec<u8>,
        encode: impl FnOnce(&TaskView, &mut Vec<u8>),
    ) {
        if self.view.progress.is_final() {
            self.whole.write(dialect, out, |out| encode(&self.view, out));
        } else {
            encode(&self.view, out);
        }
    }
}

const MAX_TASKS: usize = 4096;
const MAX_BYTES: usize = 8 << 20;

pub(crate) struct FinishedTasks {
    tasks: Mutex<BoundedCache<TaskKey, Arc<RenderedTask>>>,
}

impl Default for FinishedTasks {
    fn default() -> Self {
        Self { tasks: Mutex::new(BoundedCache::new(MAX_TASKS, MAX_BYTES)) }
    }
}

impl FinishedTasks {
    pub(crate) fn find(&self, key: &TaskKey) -> Option<Arc<RenderedTask>> {
        self.tasks.lock().ignore_poison().get(key).cloned()
    }

    /// Keeps the task if it is finished and does not change any more.
    pub(crate) fn insert(&self, task: &Arc<RenderedTask>) {
        let progress = &task.view.progress;
        if progress.is_final() && progress.state != TaskState::Canceled {
            let (key, weight) = (task.view.key(), weight_of_view(&task.view));
            self.tasks.lock().ignore_poison().insert(key, task.clone(), weight);
        }
    }
}

#[cfg(test)]
mod tests {
    use attache_domain::{
        ContextId, Digest, Event, Fact, Message, MessageId, OpenTask, Presentation, ReplyShape, Scope, Seq,
        TaskEnding, TaskId, Timestamp, TurnOutcome,
    };

    use super::*;

    fn seen(task: &str, text: &str, ended: bool) -> Arc<RenderedTask> {
        let context = ContextId::from("c");
        let opening = OpenTask {
            task: TaskId::from(task),
            scope: Scope::new("", "me"),
            context: context.clone(),
            message: Message::from_agent(MessageId::from("m"), context, None, text),
            digest: Digest("00".into()),
            reply: ReplyShape::Task,
            metadata: None,
            ending: TaskEnding::Completes,
            presentation: Presentation::default(),
        };
        let mut view = TaskView::open(&event(1, opening.decide())).unwrap();
        view.apply(&event(2, Fact::TurnStarted { turn: 1, model: None }));
        if ended {
            view.apply(&event(
                3,
                Fact::TurnEnded { outcome: TurnOutcome::Completed, message: None, usage: None },
            ));
        }
        RenderedTask::new(Arc::new(view))
    }

    fn event(seq: u64, fact: Fact) -> Event {
        Event { seq: Seq(seq), at: Timestamp::UNIX_EPOCH, fact }
    }

    #[test]
    fn only_what_cannot_change_any_more_is_kept() {
        let tasks = FinishedTasks::default();
        let (working, finished) = (seen("working", "", false), seen("finished", "", true));
        tasks.insert(&working);
        tasks.insert(&finished);
        assert!(tasks.find(&working.view.key()).is_none());
        let mut canceled = TaskView::clone(&seen("canceled", "", false).view);
        canceled.apply(&event(3, Fact::TaskCanceled));
        let canceled = RenderedTask::new(Arc::new(canceled));
        tasks.insert(&canceled);
        assert!(tasks.find(&canceled.view.key()).is_none(), "it may get a notice");
        assert_eq!(tasks.find(&finished.view.key()).unwrap().view, finished.view);
    }
}
