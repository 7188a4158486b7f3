//! Helpers for tests over real sockets: a server process, clients that show every byte, and what tests say and read.
//!
//! The client is deliberately not an A2A client: it sends any bytes, valid or not, and shows the response frame by frame, so
//! that tests are about the wire format only.

pub mod agent_client;
pub mod answer_words;
pub mod canceled_tasks;
mod certificates;
mod command_events;
pub mod editor;
pub mod extension;
mod forward_proxy;
pub mod fuzzing;
pub mod gemini_extension;
pub mod gemini_stream;
pub mod http2_frames;
pub mod live_session;
pub mod model_requests;
pub mod model_server;
pub mod pairs;
mod process;
mod push_receiver;
mod raw_connection;
pub mod rest_tasks;
mod sse;
mod test_client;
mod tls_front;
pub mod waiting;

pub use certificates::{TestAuthority, TestCertificate};
pub use command_events::{CommandEvents, check_command_response};
pub use forward_proxy::{ForwardProxy, ProxyRequest};
pub use process::{ServerLaunch, ServerProcess};
pub use push_receiver::{PushReaction, PushReceiver};
pub use raw_connection::{RawConnection, check_refused, raw_request};
pub use sse::{SseFrame, SseStream};
pub use test_client::{HttpResponse, TestClient};
pub use tls_front::TlsFront;

use std::time::Duration;

/// Longer than any step of a passing test, also on a busy machine.
pub const WAIT_TIMEOUT: Duration = Duration::from_secs(30);
