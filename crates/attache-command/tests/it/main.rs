#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod custom_files;
mod custom_runs;
mod documents;
mod fake_desk;
mod registry;
mod standard;
mod standard_memory;
