//! The gRPC binding, with a client that shares nothing with the server but the definitions.

mod answering;
mod commands;
mod errors;
mod limits;
mod operations;
mod pairs;
mod pushes;
mod services;
mod streams;
pub(crate) mod world;
