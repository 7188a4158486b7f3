//! The gRPC binding: the real binary over real sockets, with a client that shares nothing with it but the definitions.

mod answering;
mod commands;
mod errors;
mod limits;
mod operations;
mod pairs;
mod pushes;
mod services;
mod streams;
mod unspeakable;
pub(crate) mod world;
