//! The seams to storage: what a task log, a task listing and a small record store must promise.
//!
//! [`memory`] is the implementation for tests and short lives; others live in crates of their own
//! (`attache-store-sql`) and prove themselves with the same conformance suite.

#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
mod index;
mod log;
pub mod memory;
mod records;

pub use error::StoreError;
pub use index::{IndexCounts, ListCursor, ListQuery, ListedTasks, TaskIndex};
pub use log::{Append, EventLog, Snapshot};
pub use records::Records;

use std::sync::Arc;

/// The stores of one server, usually three faces of one thing.
#[derive(Clone)]
pub struct Stores {
    pub log: Arc<dyn EventLog>,
    pub index: Arc<dyn TaskIndex>,
    pub records: Arc<dyn Records>,
}

impl Stores {
    /// All three faces of one store.
    pub fn of<S: EventLog + TaskIndex + Records>(store: Arc<S>) -> Self {
        Self { log: store.clone(), index: store.clone(), records: store }
    }
}
