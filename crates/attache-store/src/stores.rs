//! The stores of one server, handed around together.

use std::sync::Arc;

use crate::{EventLog, Records, TaskIndex};

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
