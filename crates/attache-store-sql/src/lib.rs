//! The task log, the task listing and the records in one SQLite file.
//!
//! One thread writes and commits the appends of many tasks together; a few threads read. An append
//! returns once its commit is as durable as [`Synchronous`] says, and nothing is read before that.
//! One process at a time: a lock on the database file keeps a second one out. Rows carry checksums, a mark beside the
//! database tells whether its past has changed, and files that are deleted or replaced are noticed before the next
//! acknowledgement.
//!
//! The store does not interpret events: it keeps them as JSON and reads only their numbers.

mod checksum;
mod connection;
mod error;
mod file_identity;
mod file_watch;
mod lock;
mod maintenance;
mod mark_file;
mod options;
mod queue;
mod reader;
mod readers;
mod salvage;
mod schema;
mod scopes;
mod store;
mod stored;
mod unreadable;
mod writer;

pub use error::OpenError;
pub use maintenance::{
    CheckReport, CompactReport, MaintenanceError, RestoreReport, backup, check, compact, restore,
};
pub use options::{SqliteOptions, Synchronous};
pub use store::SqliteStore;
