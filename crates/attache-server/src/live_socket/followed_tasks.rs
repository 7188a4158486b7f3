//! The tasks that a socket shows, each read by a stream of its own.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use attache_domain::{Cursor, Fault, GapPolicy, Scope, Seq, SubscribeTask, TaskId};
use attache_session::WhenFinished;
use attache_wire::devtool::Profile;

use crate::app::App;
use crate::live_routes::encoder;
use crate::operations::shape;
use crate::task_stream::{Framer, StreamOpening, StreamStart, TaskStream};

/// Tasks that are shown at a time.
const MAX_FOLLOWED: usize = 1024;

pub(super) struct FollowedTasks {
    app: Arc<App>,
    scope: Scope,
    tasks: Vec<FollowedTask>,
    /// The task that is read first, so that a busy one does not hold up the others.
    turn: usize,
}

struct FollowedTask {
    task: TaskId,
    stream: TaskStream,
    /// Something happens after this event, so the stream does not end before.
    announced: Seq,
}

impl FollowedTasks {
    pub(super) fn new(app: &Arc<App>, scope: &Scope) -> Self {
        Self { app: app.clone(), scope: scope.clone(), tasks: Vec::new(), turn: 0 }
    }

    /// Follows the task after an event, or shows its state and its open questions first. Does nothing but remember the event
    /// if the task is followed already.
    pub(super) async fn add(&mut self, task: &TaskId, after: Option<Seq>) -> Result<(), Fault> {
        if let Some(known) = self.tasks.iter_mut().find(|known| known.task == *task) {
            known.announced = known.announced.max(after.unwrap_or_default());
            return Ok(());
        }
        if self.tasks.len() >= MAX_FOLLOWED {
            let what = format!("{MAX_FOLLOWED} tasks are shown already; connect to {task} alone to see it");
            return Err(Fault::LimitReached { what });
        }
        let stream = open(&self.app, &self.scope, task, after).await?;
        let announced = after.unwrap_or_default();
        self.tasks.push(FollowedTask { task: task.clone(), stream, announced });
        Ok(())
    }

    /// Waits for events and adds each as a line to `out`. Returns the task that cannot be shown any more, and why. Can be
    /// dropped and called again.
    pub(super) async fn next(&mut self, out: &mut Vec<u8>) -> Option<(TaskId, Fault)> {
        let (index, read) = poll_fn(|context| self.poll(context, out)).await;
        let followed = self.tasks.get(index)?;
        let (task, last) = (followed.task.clone(), followed.stream.last_seq());
        let again = match read {
            Err(fault) => Err(fault),
            Ok(()) if !followed.stream.is_over() => return None,
            // The next prompt came before the end of this one was read.
            Ok(()) if followed.announced > last => open(&self.app, &self.scope, &task, Some(last)).await,
            Ok(()) => {
                self.tasks.swap_remove(index);
                return None;
            }
        };
        match again {
            Ok(stream) => {
                if let Some(followed) = self.tasks.get_mut(index) {
                    followed.stream = stream;
                }
                None
            }
            Err(fault) => {
                self.tasks.swap_remove(index);
                Some((task, fault))
            }
        }
    }

    /// Ready with the task that has been read.
    fn poll(&mut self, context: &mut Context<'_>, out: &mut Vec<u8>) -> Poll<(usize, Result<(), Fault>)> {
        let count = self.tasks.len();
        for step in 0..count {
            let index = (self.turn + step) % count;
            if let Poll::Ready(read) = self.tasks[index].stream.poll(context, &LineFramer, out) {
                self.turn = index + 1;
                return Poll::Ready((index, read));
            }
        }
        Poll::Pending
    }
}

async fn open(app: &App, scope: &Scope, task: &TaskId, after: Option<Seq>) -> Result<TaskStream, Fault> {
    let cursor = after.map(|seq| Cursor { epoch: None, seq });
    let subscribe = SubscribeTask { task: task.clone(), after: cursor, gap_policy: GapPolicy::Refuse };
    let subscription = app.session.subscribe(scope, &subscribe, WhenFinished::Show).await?;
    let first = if after.is_some() { StreamOpening::Events } else { StreamOpening::Task };
    let shape = shape(None, Profile::Live);
    let start = StreamStart { open_call: None, subscription, shape, first, resumes: false };
    Ok(TaskStream::new(app, encoder(), start))
}

/// One line for each event. JSON has no line breaks inside.
struct LineFramer;

impl Framer for LineFramer {
    fn open(&self, _: Option<&str>, _: Seq, out: &mut Vec<u8>) -> usize {
        out.len()
    }

    fn open_unnumbered(&self, out: &mut Vec<u8>) -> usize {
        out.len()
    }

    fn close(&self, _: usize, out: &mut Vec<u8>) {
        out.push(b'\n');
    }
}
