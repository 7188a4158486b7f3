//! Sockets: JSON-RPC, HTTP+JSON, gRPC, the agent card, health and metrics.
//!
//! Maps bytes to operations and updates to bytes, and decides nothing: what may happen to a task is
//! decided behind `attache-session`, how things are spelled in `attache-wire`. Holds nothing but connections.

mod activation;
mod admission;
mod answer_room;
mod app;
mod arriving;
mod auth;
mod body;
mod card;
mod cors;
mod counts;
mod courier;
mod execute;
mod framing;
mod front_page;
pub mod fuzz;
mod gemini_routes;
mod grpc;
mod guard;
mod health;
mod heavy;
mod http;
mod jsonrpc;
mod listen;
mod log_limit;
mod metrics;
mod open_calls;
mod operate;
mod options;
mod peer;
mod perform;
mod push_state;
mod reading;
mod rest;
mod speech;
mod sse;

pub use courier::{CourierOptions, HttpCourier};
pub use listen::{Server, ServerHandle};
pub use options::{BodyRoom, Limits, ServerOptions, SignedCard, SignedDocuments};
pub use peer::can_tell_local_users;
