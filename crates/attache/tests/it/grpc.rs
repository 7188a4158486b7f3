//! The gRPC binding of the real binary, where more than the server takes part.

mod unspeakable;
/// Shared with the tests of the server alone, which use all of it.
#[allow(dead_code, reason = "the tests here use a part")]
#[path = "../../../attache-server/tests/it/grpc/world.rs"]
pub(crate) mod world;
