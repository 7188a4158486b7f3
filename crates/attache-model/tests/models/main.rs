//! The built-in models, seen from outside.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod offline;
mod offline_documentation;
mod offline_phrases;
mod offline_rounds;
mod script_any_text;
mod script_calls;
mod script_examples;
mod script_matching;
mod script_mistakes;
mod script_resumption;
mod script_steps;
mod script_time;
mod world;
