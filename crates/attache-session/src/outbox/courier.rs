//! The seam to whoever carries notifications out, and the terms on which that is done.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use attache_domain::{ContextId, Ending, PushConfig, PushShape, Seq, TaskId, TaskView};
use bytes::Bytes;

use crate::Entry;

/// Knows how notifications are spelled and sent.
#[async_trait]
pub trait Courier: Send + Sync + 'static {
    /// Whether anything could be sent there. Asked before a configuration is kept; what may be dialled is to be looked
    /// at again whenever something is sent.
    async fn check(&self, config: &PushConfig) -> Result<(), Unfit>;

    /// The body of a notification: the same for everybody who wants it in the same shape.
    fn spell(&self, notice: &Notice<'_>) -> Bytes;

    /// One try. Can be dropped at any time: nothing is sent any more then.
    async fn deliver(&self, parcel: &Parcel) -> Delivered;
}

/// Why a configuration is not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfit {
    /// The member that is wrong.
    pub field: &'static str,
    pub why: String,
}

/// What somebody is told.
pub enum Notice<'a> {
    /// The task as it is after the event.
    Task(&'a TaskView),
    Update {
        task: &'a TaskId,
        context: &'a ContextId,
        ending: Ending,
        entry: &'a Entry,
    },
}

/// A notification for one receiver.
#[derive(Debug, Clone)]
pub struct Parcel {
    pub task: TaskId,
    pub config: Arc<PushConfig>,
    pub seq: Seq,
    pub shape: PushShape,
    pub body: Bytes,
}

/// What became of a try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivered {
    Taken,
    Failed {
        /// For the owner of the configuration; holds nothing secret.
        why: String,
        /// The receiver asks to be left alone for that long.
        retry_after: Option<Duration>,
    },
    /// There is no use in trying again.
    Refused {
        why: String,
    },
}

/// Whether and how notifications are sent.
#[derive(Clone)]
pub struct PushSettings {
    pub courier: Arc<dyn Courier>,
    pub options: PushOptions,
}

#[derive(Debug, Clone)]
pub struct PushOptions {
    pub told: Told,
    /// So many tries in a row may fail before the configuration is given up.
    pub attempts: u32,
    /// The pause after the first failure; each further one doubles it.
    pub first_pause: Duration,
    pub longest_pause: Duration,
    /// A receiver that asks for more than this is tried again after this.
    pub longest_retry_after: Duration,
    /// Notifications under way at once, over all configurations.
    pub at_once: usize,
    /// Configurations of one task.
    pub per_task: usize,
}

/// Which events are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    Statuses,
    StatusesAndArtifacts,
}

impl Default for PushOptions {
    fn default() -> Self {
        Self {
            told: Told::Statuses,
            // With these pauses a receiver may be away for about two hours.
            attempts: 20,
            first_pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(600),
            longest_retry_after: Duration::from_secs(3600),
            at_once: 128,
            per_task: 64,
        }
    }
}

impl fmt::Debug for PushSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PushSettings").field("options", &self.options).finish_non_exhaustive()
    }
}
