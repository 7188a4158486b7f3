//! Commands that are really confined, by the kernel of this machine.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod canary;
mod egress;
mod git;
mod isolation;
mod limits;
mod ready;
mod speed;
mod watcher;
mod world;
