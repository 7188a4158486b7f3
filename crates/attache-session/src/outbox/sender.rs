//! The interface that encodes and sends notifications, and its options.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use attache_domain::{ContextId, PushConfig, PushShape, Seq, TaskEnding, TaskId, TaskView};
use bytes::Bytes;

use crate::TailEntry;

/// Encodes and sends notifications.
#[async_trait]
pub trait PushSender: Send + Sync + 'static {
    /// Whether anything could be sent there. Called before a configuration is stored. The address is checked again for
    /// every attempt.
    async fn check(&self, config: &PushConfig) -> Result<(), PushConfigError>;

    /// The body of a notification: the same for all receivers of the same shape.
    fn encode(&self, notice: &PushPayload<'_>) -> Bytes;

    /// One try. Can be dropped at any time: nothing is sent any more then.
    async fn deliver(&self, delivery: &PushDelivery) -> DeliveryResult;
}

/// Why a configuration is not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushConfigError {
    /// The member that is wrong.
    pub field: &'static str,
    pub why: String,
}

/// The content of a notification.
pub enum PushPayload<'a> {
    /// The task after the event.
    Task(&'a TaskView),
    Update {
        task: &'a TaskId,
        context: &'a ContextId,
        ending: TaskEnding,
        entry: &'a TailEntry,
    },
}

/// A notification for one receiver.
#[derive(Debug, Clone)]
pub struct PushDelivery {
    pub task: TaskId,
    pub config: Arc<PushConfig>,
    pub seq: Seq,
    pub shape: PushShape,
    pub body: Bytes,
}

/// The result of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveryResult {
    Accepted,
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
pub struct PushSetup {
    pub sender: Arc<dyn PushSender>,
    pub options: PushOptions,
}

#[derive(Debug, Clone)]
pub struct PushOptions {
    pub events: PushEvents,
    /// So many tries in a row may fail before the configuration is given up.
    pub attempts: u32,
    /// The pause after the first failure; each further one doubles it.
    pub first_delay: Duration,
    pub max_delay: Duration,
    /// A receiver that asks for more than this is tried again after this.
    pub max_retry_after: Duration,
    /// Notifications under way at once, over all configurations.
    pub max_concurrent: usize,
    /// Configurations of one task.
    pub max_per_task: usize,
}

/// Which events are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushEvents {
    Statuses,
    StatusesAndArtifacts,
}

impl Default for PushOptions {
    fn default() -> Self {
        Self {
            events: PushEvents::Statuses,
            // With these pauses a receiver may be away for about two hours.
            attempts: 20,
            first_delay: Duration::from_secs(1),
            max_delay: Duration::from_secs(600),
            max_retry_after: Duration::from_secs(3600),
            max_concurrent: 128,
            max_per_task: 64,
        }
    }
}

impl fmt::Debug for PushSetup {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PushSetup").field("options", &self.options).finish_non_exhaustive()
    }
}
