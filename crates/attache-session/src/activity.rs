//! Announces the tasks on which something begins, for readers of many tasks.
//!
//! The queue holds the places of tasks, never events: a reader follows an announced task like any other reader does. The
//! queue is bounded. A reader that falls behind gets a notice and lists the tasks again.

use attache_domain::{Scope, Seq, TaskId, TaskKey};
use tokio::sync::broadcast::{Receiver, Sender, channel, error::RecvError};

use crate::SessionService;
use crate::reserved_tasks::ReservedTasksReader;

/// Announcements that a slow reader may leave unread.
const MAX_UNREAD: usize = 256;

#[derive(Clone)]
struct Announcement {
    key: TaskKey,
    /// None when the id was reserved and nothing happens yet.
    after: Option<Seq>,
}

/// The announcements of all tasks.
pub(crate) struct Activity {
    sender: Sender<Announcement>,
}

/// The announcements of the tasks of one caller.
pub struct ActivityFeed {
    receiver: Receiver<Announcement>,
    scope: Scope,
    /// Keeps the caller's reservations from expiring.
    _reserved: Option<ReservedTasksReader>,
}

/// For which tasks a client reads the announcements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActivityReader {
    /// While it reads, no id that its caller has reserved expires.
    AllTasks,
    OneTask,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskActivity {
    /// Something happens to the task after this event.
    After { task: TaskId, seq: Seq },
    /// The id was reserved. The task waits for its first message.
    Reserved(TaskId),
    /// The reader was too slow, so tasks may be missing.
    Missed,
    /// The session has ended.
    Over,
}

impl Default for Activity {
    fn default() -> Self {
        Self { sender: channel(MAX_UNREAD).0 }
    }
}

impl Activity {
    /// Without a reader it is dropped.
    pub(crate) fn announce(&self, key: &TaskKey, after: Seq) {
        self.send(key, Some(after));
    }

    pub(crate) fn announce_reserved(&self, key: &TaskKey) {
        self.send(key, None);
    }

    fn send(&self, key: &TaskKey, after: Option<Seq>) {
        if self.sender.receiver_count() > 0 {
            // Fails only if the last reader has just left.
            let _ = self.sender.send(Announcement { key: key.clone(), after });
        }
    }
}

impl SessionService {
    /// Every message and cancel of this caller's tasks from now on, and every id that it reserves.
    pub fn activity(&self, scope: &Scope, reader: ActivityReader) -> ActivityFeed {
        let reads_all = reader == ActivityReader::AllTasks;
        let _reserved = reads_all.then(|| self.reserved_tasks.read_all(scope));
        ActivityFeed { receiver: self.activity.sender.subscribe(), scope: scope.clone(), _reserved }
    }
}

impl ActivityFeed {
    /// Waits for the next one. Can be dropped and called again without losing any.
    pub async fn next(&mut self) -> TaskActivity {
        loop {
            match self.receiver.recv().await {
                Ok(Announcement { key, after }) if key.scope == self.scope => {
                    return match after {
                        Some(seq) => TaskActivity::After { task: key.task, seq },
                        None => TaskActivity::Reserved(key.task),
                    };
                }
                Ok(_) => {}
                Err(RecvError::Lagged(_)) => return TaskActivity::Missed,
                Err(RecvError::Closed) => return TaskActivity::Over,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(owner: &str, task: &str) -> TaskKey {
        TaskKey { scope: Scope::new(String::new(), owner), task: TaskId::from(task) }
    }

    #[tokio::test]
    async fn a_reader_hears_of_its_own_tasks_and_of_what_it_missed() {
        let activity = Activity::default();
        activity.announce(&key("ann", "before"), Seq(1));
        let scope = Scope::new(String::new(), "ann");
        let mut feed = ActivityFeed { receiver: activity.sender.subscribe(), scope, _reserved: None };
        activity.announce(&key("bob", "b"), Seq(1));
        activity.announce(&key("ann", "a"), Seq(2));
        assert_eq!(feed.next().await, TaskActivity::After { task: TaskId::from("a"), seq: Seq(2) });
        for _ in 0..=MAX_UNREAD {
            activity.announce(&key("ann", "a"), Seq(3));
        }
        assert_eq!(feed.next().await, TaskActivity::Missed);
        drop(activity);
        for _ in 0..MAX_UNREAD {
            assert!(matches!(feed.next().await, TaskActivity::After { .. }));
        }
        assert_eq!(feed.next().await, TaskActivity::Over);
    }
}
