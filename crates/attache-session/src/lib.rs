//! The one door to tasks: submit, follow, run, recover.
//!
//! Promises: a fact is appended only after `decide` agreed, shown only after the store said it is
//! durable, and read by everyone (replay, live stream, blocking send) through one [`Follower`]. A caller
//! who leaves stops nothing; a restart folds the log and runs the same loop.
//!
//! Not here: how anything is spelled on a wire, and how a turn is performed (that is the [`Agent`]).

mod agent;
mod answer_message;
mod cancelling;
mod commands;
mod context_answers;
mod contexts;
mod conversation;
mod counters;
mod finished;
mod follow;
pub mod fuzz;
mod history;
mod hot;
mod identity;
mod journal;
mod listing;
mod media;
mod outbox;
mod pacing;
mod push;
mod quarantine;
mod replay;
mod reserved;
mod resume;
mod runner;
mod service;
mod shelf;
mod spellings;
mod store_health;
mod store_retry;
mod tail;
mod watcher;
mod weight;

pub use agent::{
    Agent, CommandRefusal, Equipment, EquippedServer, EquippedTool, Latest, Stopped, TurnRequest,
};
pub use commands::{Execution, Standing};
pub use counters::{Counters, CountersNow};
pub use finished::Seen;
pub use follow::Follower;
pub use history::HistoryLimits;
pub use journal::Journal;
pub use listing::TaskPage;
pub use outbox::{Courier, Delivered, Notice, OutboxNow, Parcel, PushOptions, PushSettings, Told, Unfit};
pub use reserved::Reservation;
pub use service::{Reply, SessionOptions, SessionService, StartError, Started, Subscription, WhenFinished};
pub use store_health::{StoreFault, store_fault};
pub use tail::Entry;
pub use weight::weight_of_view;
