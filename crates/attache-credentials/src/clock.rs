//! What time it is.

use std::sync::Arc;
use std::time::SystemTime;

/// Tells the time; tests have one of their own.
pub type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;
