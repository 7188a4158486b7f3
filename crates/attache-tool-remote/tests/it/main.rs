//! The tool against scripted agents, right and wrong ones.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod asking;
mod chains;
mod continuing;
mod refusing;
mod resuming;
mod streaming;
mod testing;
mod world;
