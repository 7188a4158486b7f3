//! Worlds for whole-product tests: a real server process and a client that sees every byte.
//!
//! The client is deliberately not an A2A client: it sends what it is told, right or wrong, and shows what
//! came back, frame by frame, so that tests are about the wire and nothing else.

pub mod extension;
pub mod gemini_extension;
mod http;
pub mod model_server;
mod process;
mod push_receiver;
mod sse;

pub use http::{Answer, Client};
pub use process::{Launch, ServerProcess};
pub use push_receiver::{PushReceiver, Reaction};
pub use sse::{Frame, SseStream};

use std::time::Duration;

/// Longer than anything in a healthy test takes, on a busy machine too.
pub const PATIENCE: Duration = Duration::from_secs(30);
