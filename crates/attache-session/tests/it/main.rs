//! The session with a scripted agent and stores that can be held back, broken and shared.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod durability;
mod following;
mod pacing;
mod prompt_streams;
mod pushing;
mod quarantine;
mod reserving;
mod resuming;
mod running;
mod stopping;
mod world;
