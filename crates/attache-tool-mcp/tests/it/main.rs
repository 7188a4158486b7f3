//! Servers that behave, servers that do not, and servers of other people.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod behaving;
mod ending;
mod hostile;
mod http;
mod peers;
mod world;
