//! The server over a loopback socket: real bytes, a built-in model, no other process.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod asking_agent;
mod card;
mod errors;
mod extended_card;
mod extensions;
mod front_page;
mod gemini_routes;
mod grpc;
mod heads;
mod hostile;
mod idempotent;
mod keys;
mod list;
mod live;
mod live_answers;
mod live_following;
mod live_limits;
mod live_reserved;
mod live_socket;
mod monitoring;
mod pairs;
mod pushes;
mod refused_streams;
mod repeating;
mod replay;
mod rest_api;
mod rights;
mod safety;
mod send;
mod stopping;
mod stream;
mod stream_load;
mod tenants;
mod versions;
mod world;
