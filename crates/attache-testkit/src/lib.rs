//! Worlds for whole-product tests: a real server process and a client that sees every byte.
//!
//! The client is deliberately not an A2A client: it sends what it is told, right or wrong, and shows what
//! came back, frame by frame, so that tests are about the wire and nothing else.

pub mod extension;
pub mod gemini_extension;
pub mod model_server;
pub mod pairs;
mod process;
mod push_receiver;
mod sse;
mod test_client;

pub use process::{ServerLaunch, ServerProcess};
pub use push_receiver::{PushReaction, PushReceiver};
pub use sse::{SseFrame, SseStream};
pub use test_client::{HttpResponse, TestClient};

use std::time::Duration;

/// Longer than anything in a healthy test takes, on a busy machine too.
pub const WAIT_TIMEOUT: Duration = Duration::from_secs(30);
