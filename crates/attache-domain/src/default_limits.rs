//! The limits that hold unless the operator sets others. The settings and the crates that obey them share these.

use std::time::Duration;

/// The body of one request.
pub const MAX_BODY_BYTES: usize = 20 << 20;
/// All request bodies together that are being received.
pub const MAX_BODY_BUDGET_BYTES: usize = 256 << 20;
/// All large answers together that are being sent.
pub const MAX_RESPONSE_BUDGET_BYTES: usize = 256 << 20;
/// All headers of a request together.
pub const MAX_HEADER_BYTES: usize = 64 << 10;
/// Levels of nesting in a JSON body.
pub const MAX_JSON_DEPTH: usize = 64;
pub const MAX_CONNECTIONS: usize = 16_384;
pub const MAX_CONNECTIONS_PER_ADDRESS: usize = 1024;
pub const MAX_STREAMS_PER_ADDRESS: usize = 1024;
pub const MAX_STREAMS_PER_CALLER: usize = 12_288;
/// Calls at once on one HTTP/2 connection.
pub const MAX_STREAMS_PER_CONNECTION: u32 = 256;
pub const DEFAULT_HEADER_TIMEOUT: Duration = Duration::from_secs(20);
pub const DEFAULT_BODY_TIMEOUT: Duration = Duration::from_secs(60);
pub const DEFAULT_IDLE_TIMEOUT: Duration = Duration::from_secs(120);
pub const DEFAULT_STALL_TIMEOUT: Duration = Duration::from_secs(60);
pub const DEFAULT_HEARTBEAT_INTERVAL: Duration = Duration::from_secs(15);
pub const DEFAULT_SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);
/// Events in the history of one task.
pub const MAX_TASK_EVENTS: usize = 51_200;
/// Megabytes that the history of one task takes in the log.
pub const MAX_TASK_MEGABYTES: usize = 50;
/// One call of a tool of an MCP server.
pub const DEFAULT_MCP_CALL_TIMEOUT: Duration = Duration::from_mins(10);
