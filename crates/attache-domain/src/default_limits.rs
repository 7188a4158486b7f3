//! The limits that hold unless the operator sets others. The settings and the crates that obey them share these.

use std::time::Duration;

/// The body of one request.
pub const BODY_BYTES: usize = 20 << 20;
/// All request bodies together that are being received.
pub const BODY_BUDGET_BYTES: usize = 256 << 20;
/// All large answers together that are being sent.
pub const RESPONSE_BUDGET_BYTES: usize = 256 << 20;
/// All headers of a request together.
pub const HEADER_BYTES: usize = 64 << 10;
/// Levels of nesting in a JSON body.
pub const JSON_DEPTH: usize = 64;
pub const CONNECTIONS: usize = 16_384;
pub const CONNECTIONS_PER_ADDRESS: usize = 1024;
pub const STREAMS_PER_ADDRESS: usize = 1024;
pub const STREAMS_PER_CALLER: usize = 12_288;
/// Calls at once on one HTTP/2 connection.
pub const STREAMS_PER_CONNECTION: u32 = 256;
pub const HEADER_TIMEOUT: Duration = Duration::from_secs(20);
pub const BODY_TIMEOUT: Duration = Duration::from_secs(60);
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(120);
pub const STALL_TIMEOUT: Duration = Duration::from_secs(60);
pub const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(15);
pub const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);
/// Events in the history of one task.
pub const TASK_EVENTS: usize = 51_200;
/// Megabytes that the history of one task takes in the log.
pub const TASK_MEGABYTES: usize = 50;
