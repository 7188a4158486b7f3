//! The stores of one server.

use std::sync::Arc;

use crate::{EventLog, Records, TaskIndex};

/// The stores of one server, usually the same object three times.
#[derive(Clone)]
pub struct Stores {
    pub log: Arc<dyn EventLog>,
    pub index: Arc<dyn TaskIndex>,
    pub records: Arc<dyn Records>,
}

impl Stores {
    /// One store as all three.
    pub fn of<S: EventLog + TaskIndex + Records>(store: Arc<S>) -> Self {
        Self { log: store.clone(), index: store.clone(), records: store }
    }
}
