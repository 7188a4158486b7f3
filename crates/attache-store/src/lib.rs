//! The storage traits: a task log, a task listing and a small record store.
//!
//! [`memory`] is the implementation for tests and short-lived servers; others are crates of their own
//! (`attache-store-sql`) and pass the same conformance suite.

#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
mod index;
mod log;
pub mod memory;
mod records;
mod stores;

pub use error::StoreError;
pub use index::{IndexCounts, IndexPage, ListCursor, ListQuery, TaskIndex};
pub use log::{Append, EventLog, LogRead, Snapshot, StoreStatus};
pub use records::{Record, RecordChange, Records};
pub use stores::Stores;
