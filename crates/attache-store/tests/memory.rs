//! The memory store keeps every promise of the seams.

use std::sync::Arc;

use attache_store::memory::MemoryStore;

attache_store::conformance_tests!((Arc::new(MemoryStore::default()), ()));
