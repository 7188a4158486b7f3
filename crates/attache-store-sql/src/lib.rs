//! The task log, the task listing and the records in one SQLite file.
//!
//! One thread writes and commits the appends of many tasks together; a few threads read. An append
//! returns once its commit is as durable as [`Synchronous`] says, and nothing is read before that.
//! One process at a time: a lock file beside the database keeps a second one out.
//!
//! Not here: what events mean. The store keeps them as JSON and looks only at their numbers.

mod connection;
mod error;
mod lock;
mod options;
mod queue;
mod reader;
mod readers;
mod recent;
mod schema;
mod scopes;
mod store;
mod stored;
mod tally;
mod writer;

pub use error::OpenError;
pub use options::{SqliteOptions, Synchronous};
pub use store::SqliteStore;
