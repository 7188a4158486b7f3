//! The service that owns tasks: submit, follow, run, recover.
//!
//! Promises: a fact is appended only after `decide` accepted it, visible only after it is durable, and read by
//! everyone (replay, live stream, blocking send) through one [`Follower`]. A caller that disconnects stops nothing. A
//! restart folds the log and runs the same loop.
//!
//! Not here: wire formats, and how a turn runs (that is the [`Agent`]).

mod abandoned_calls;
mod activity;
mod agent;
mod answer_message;
mod cancel;
mod check_message;
mod commands;
mod context_answers;
mod context_queues;
mod conversation;
mod counters;
mod duplicate_sends;
mod encoded_events;
mod finished_tasks;
mod flush_timer;
mod follow;
mod follow_events;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod history;
mod identity;
mod journal;
mod listing;
mod live_task;
mod media;
mod open_task;
mod options;
mod outbox;
mod prompt_stream;
mod push;
mod quarantine;
mod receive_message;
mod replay;
mod reservation;
mod reserved_tasks;
mod resume;
mod runner;
mod service;
mod stop_turn;
mod store_health;
mod store_notice;
mod store_retry;
mod subscription;
mod tail;
mod task_cache;
mod watcher;
mod weight;

pub use activity::{ActivityFeed, ActivityReader, TaskActivity};
pub use agent::{
    AbandonedPeers, Agent, AvailableServer, AvailableTool, AvailableTools, CommandRefusal, CurrentTask,
    ToolsGuard, TurnRequest, TurnStopped,
};
pub use commands::{CommandOutcome, CommandStatus};
pub use conversation::OtherTasks;
pub use counters::{Counters, CountersSnapshot};
pub use finished_tasks::RenderedTask;
pub use follow::Follower;
pub use history::HistoryLimits;
pub use journal::Journal;
pub use listing::TaskPage;
pub use options::SessionOptions;
pub use outbox::{
    DeliveryResult, OutboxStats, PushConfigError, PushDelivery, PushEvents, PushOptions, PushPayload,
    PushSender, PushSetup,
};
pub use prompt_stream::PromptStream;
pub use reservation::Reservation;
pub use service::{SendReply, SessionService, StartError, StartedTask};
pub use store_health::{StoreFault, store_fault};
pub use subscription::{FinishedTaskRule, FutureFollower, Subscription};
pub use tail::TailEntry;
pub use weight::weight_of_view;
