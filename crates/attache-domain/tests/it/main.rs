//! The pure rules of a task.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod calls;
mod log;
mod properties;
mod rules;
