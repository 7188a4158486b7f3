//! The whole product over real sockets: the real binary, a scripted model, every byte looked at.

mod card;
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
