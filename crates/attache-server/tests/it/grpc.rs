//! The gRPC binding, with a client that shares nothing with the server but the definitions.

mod errors;
mod limits;
mod operations;
mod pairs;
mod services;
mod streams;
pub(crate) mod world;
