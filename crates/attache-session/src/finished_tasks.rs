//! Finished tasks that were looked at lately. A finished task never changes, so a copy is as good as the log.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use attache_domain::{IgnorePoison, TaskKey, TaskView};

use crate::encoded_events::EncodedEvents;
use crate::weight::weight_of_view;

/// A task as somebody saw it, and how it was spelled for those who wanted to see all of it.
#[derive(Debug)]
pub struct RenderedTask {
    pub view: Arc<TaskView>,
    whole: EncodedEvents,
}

impl RenderedTask {
    pub(crate) fn new(view: Arc<TaskView>) -> Arc<Self> {
        Arc::new(Self { view, whole: EncodedEvents::default() })
    }

    /// Writes the whole task in dialect number `dialect`, as `spell` does unless that was done before.
    pub fn write_whole(
        &self,
        dialect: usize,
        out: &mut Vec<u8>,
        spell: impl FnOnce(&TaskView, &mut Vec<u8>),
    ) {
        if self.view.progress.is_final() {
            self.whole.write(dialect, out, |out| spell(&self.view, out));
        } else {
            spell(&self.view, out);
        }
    }
}

/// How much is kept, by number and by weight. Most tasks weigh little beside the first bound.
const MAX_TASKS: usize = 4096;
const MAX_BYTES: usize = 8 << 20;

#[derive(Default)]
pub(crate) struct FinishedTasks {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    tasks: HashMap<TaskKey, Arc<RenderedTask>>,
    /// Oldest first, with what each weighs.
    order: VecDeque<(TaskKey, usize)>,
    bytes: usize,
}

impl FinishedTasks {
    pub(crate) fn find(&self, key: &TaskKey) -> Option<Arc<RenderedTask>> {
        self.state.lock().ignore_poison().tasks.get(key).cloned()
    }

    /// Keeps `seen` for the next who asks, if it is finished.
    pub(crate) fn insert(&self, seen: &Arc<RenderedTask>) {
        if !seen.view.progress.is_final() {
            return;
        }
        let (key, weight) = (seen.view.key(), weight_of_view(&seen.view));
        let mut guard = self.state.lock().ignore_poison();
        let State { tasks, order, bytes } = &mut *guard;
        if tasks.insert(key.clone(), seen.clone()).is_some() {
            return;
        }
        order.push_back((key, weight));
        *bytes += weight;
        while order.len() > MAX_TASKS || *bytes > MAX_BYTES {
            let Some((key, weight)) = order.pop_front() else { break };
            tasks.remove(&key);
            *bytes -= weight;
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
        assert_eq!(tasks.find(&finished.view.key()).unwrap().view, finished.view);
    }

    #[test]
    fn the_oldest_goes_when_there_are_too_many_or_they_are_too_large() {
        let tasks = FinishedTasks::default();
        let first = seen("first", "", true);
        tasks.insert(&first);
        for number in 0..MAX_TASKS {
            tasks.insert(&seen(&number.to_string(), "", true));
        }
        assert!(tasks.find(&first.view.key()).is_none());
        let last = seen(&(MAX_TASKS - 1).to_string(), "", true);
        assert!(tasks.find(&last.view.key()).is_some());

        tasks.insert(&seen("huge", &"x".repeat(MAX_BYTES), true));
        let state = tasks.state.lock().unwrap();
        assert!(state.tasks.is_empty() && state.order.is_empty() && state.bytes == 0);
    }
}
