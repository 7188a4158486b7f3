//! The live endpoint of the real binary.

/// Shared with the tests of the server alone.
#[path = "../../../attache-server/tests/it/live_pairs/door.rs"]
pub(crate) mod door;

pub(crate) use attache_testkit::live_session::{is_question, message};
pub(crate) use door::read_until;
