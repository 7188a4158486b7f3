//! Sockets: JSON-RPC, HTTP+JSON, gRPC, the live endpoint, the REST API, the agent card, health and metrics.
//!
//! Maps bytes to operations and updates to bytes. `attache-session` decides what happens to a task, `attache-wire` knows
//! the formats; this crate holds only connections.

mod app;
mod auth;
mod bind;
mod body;
mod card;
mod command_response;
mod commands;
mod connection_origin;
mod console_log;
mod cors;
mod extension_selection;
mod framing;
mod front_page;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod gemini_routes;
mod grpc;
mod handler;
mod health;
mod http;
mod jsonrpc;
mod keyed_counts;
mod large_bodies;
mod last_event_id;
mod listen;
mod live_answers;
mod live_routes;
mod live_socket;
mod live_tools;
mod live_updates;
mod log_limit;
mod metrics;
mod open_requests;
mod operation_call;
mod operations;
mod options;
mod peer;
mod push_sender;
mod push_state;
mod request_body;
mod response_budget;
mod rest;
mod rest_api;
mod service;
mod sse;
mod streamed_prompt;
mod task_stream;

pub use bind::{BindError, bind};
pub use console_log::{ConsoleLevel, ConsoleLine, ConsoleLog};
pub use listen::{Server, ServerHandle};
pub use options::{BodyBudget, ClientToken, Limits, ServerOptions, SignedCard, SignedDocuments};
pub use peer::can_identify_local_users;
pub use push_sender::{HttpPushSender, PushSenderOptions};
