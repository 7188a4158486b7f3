//! The server over a loopback socket: real bytes, a built-in model, no other process.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod errors;
mod front_page;
mod grpc;
mod idempotent;
mod list;
mod pairs;
mod refused_streams;
mod replay;
mod send;
mod stream;
mod tenants;
mod versions;
mod world;
