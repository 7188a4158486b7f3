#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod custom_files;
mod custom_runs;
mod documents;
mod fake_context;
mod registry;
mod standard;
mod standard_agents;
mod standard_memory;
