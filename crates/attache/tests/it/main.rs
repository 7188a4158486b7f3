//! The whole product over real sockets: the real binary, a scripted model, every byte looked at.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod card;
mod coding;
mod crash;
mod errors;
mod list;
mod operations;
mod pairs;
mod safety;
mod send;
mod stream;
mod support;
mod versions;
