//! The coding agent in a real session, with a model that plays a script and tools that remember what they did.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod asking;
mod built_in;
mod commands;
mod compaction;
mod conversations;
mod failing_writes;
mod loops;
mod policy;
mod recording_log;
mod recording_tools;
mod remote_tool;
mod restarts;
mod resuming;
mod rounds;
mod world;
