//! Whole commands, from the command line to what they print.

mod agents;
mod call;
mod call_commands;
mod call_limits;
mod card;
mod config;
mod mcp;
mod trust;
mod world;
