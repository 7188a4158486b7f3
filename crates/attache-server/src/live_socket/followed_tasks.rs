//! The tasks that a socket shows, each read by a stream of its own.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use attache_domain::{Cursor, Fault, Scope, Seq, TaskId};

use super::text_frame::TextFrame;
use crate::app::App;
use crate::live_routes::{encoder, follow_task};
use crate::task_stream::TaskStream;

/// Tasks that are shown at a time.
pub(super) const MAX_FOLLOWED: usize = 1024;

pub(super) struct FollowedTasks {
    app: Arc<App>,
    scope: Scope,
    tasks: Vec<FollowedTask>,
    /// The task that is read first, so that a busy one does not hold up the others.
    turn: usize,
    between_turns: BetweenTurns,
}

/// What happens to a task that waits for its next prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BetweenTurns {
    /// The socket shows this one only.
    Keep,
    /// It is added again when it is announced. So that idle tasks leave memory.
    Drop,
}

struct FollowedTask {
    task: TaskId,
    stream: TaskStream,
    /// Something happens after this event, so the task is not dropped before.
    announced: Seq,
}

impl FollowedTasks {
    pub(super) fn new(app: &Arc<App>, scope: &Scope, between_turns: BetweenTurns) -> Self {
        Self { app: app.clone(), scope: scope.clone(), tasks: Vec::new(), turn: 0, between_turns }
    }

    /// Follows the task after an event, or shows its state and its open questions first. Does nothing but remember the event
    /// if the task is followed already.
    pub(super) async fn add(&mut self, task: &TaskId, after: Option<Seq>) -> Result<(), Fault> {
        if let Some(known) = self.tasks.iter_mut().find(|known| known.task == *task) {
            known.announced = known.announced.max(after.unwrap_or_default());
            return Ok(());
        }
        self.check_room(task)?;
        let cursor = after.map(|seq| Cursor { epoch: None, seq });
        let stream = open(&self.app, &self.scope, task, cursor.as_ref()).await?;
        self.tasks.push(FollowedTask { task: task.clone(), stream, announced: after.unwrap_or_default() });
        Ok(())
    }

    /// Follows the task from where the client asks, also if it is followed already.
    pub(super) async fn restart(&mut self, task: &TaskId, after: Option<&Cursor>) -> Result<(), Fault> {
        let known = self.tasks.iter().position(|known| known.task == *task);
        if known.is_none() {
            self.check_room(task)?;
        }
        let stream = open(&self.app, &self.scope, task, after).await?;
        match known.and_then(|known| self.tasks.get_mut(known)) {
            Some(known) => known.stream = stream,
            None => {
                self.tasks.push(FollowedTask { task: task.clone(), stream, announced: Seq::default() });
            }
        }
        Ok(())
    }

    fn check_room(&self, task: &TaskId) -> Result<(), Fault> {
        if self.tasks.len() < MAX_FOLLOWED {
            return Ok(());
        }
        let what = format!("{MAX_FOLLOWED} tasks are shown already; connect to {task} alone to see it");
        Err(Fault::LimitReached { what })
    }

    /// Waits for events and adds each as a frame to `out`. Returns the task that cannot be shown any more, and why. Can be
    /// dropped and called again.
    pub(super) async fn next(&mut self, out: &mut Vec<u8>) -> Option<(TaskId, Fault)> {
        let (index, read) = poll_fn(|context| self.poll(context, out)).await;
        let followed = self.tasks.get(index)?;
        let (task, stream) = (followed.task.clone(), &followed.stream);
        // The next prompt may come before the end of this one was read.
        let is_idle = stream.is_between_turns() && followed.announced < stream.last_seq();
        match read {
            Err(fault) => {
                self.tasks.swap_remove(index);
                return Some((task, fault));
            }
            Ok(()) if stream.is_over() => {
                let (announced, last) = (followed.announced, stream.last_seq());
                self.tasks.swap_remove(index);
                if announced >= last
                    && let Err(fault) = self.add(&task, Some(last)).await
                {
                    return Some((task, fault));
                }
            }
            Ok(()) if is_idle && self.between_turns == BetweenTurns::Drop => {
                self.tasks.swap_remove(index);
            }
            Ok(()) => {}
        }
        None
    }

    /// Ready with the task that has been read.
    fn poll(&mut self, context: &mut Context<'_>, out: &mut Vec<u8>) -> Poll<(usize, Result<(), Fault>)> {
        let count = self.tasks.len();
        for step in 0..count {
            let index = (self.turn + step) % count;
            if let Poll::Ready(read) = self.tasks[index].stream.poll(context, &TextFrame, out) {
                self.turn = index + 1;
                return Poll::Ready((index, read));
            }
        }
        Poll::Pending
    }
}

async fn open(app: &App, scope: &Scope, task: &TaskId, after: Option<&Cursor>) -> Result<TaskStream, Fault> {
    let start = follow_task(app, scope, task, after).await?;
    Ok(TaskStream::new(app, encoder(app), start))
}
