//! The whole product over real sockets: the real binary, a scripted model, every byte looked at.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod agent_world;
mod cancelling;
mod card;
mod card_command;
mod coding;
mod commands;
mod config_command;
mod crash;
mod crashing;
mod devtool;
mod disconnecting;
mod errors;
mod examples;
mod furnishing;
mod gemini_peer;
mod headless;
mod list;
mod mcp;
mod mcp_command;
mod operations;
mod pairs;
mod safety;
mod send;
mod stream;
mod support;
mod tasks_command;
mod transcripts;
mod versions;
mod watching;
