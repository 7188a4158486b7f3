//! The dialect of Gemini CLI's server: what its clients are sent for what happens.
//!
//! Expectations are written by hand from what version 0.25.2 of that server sends, but for the differences that
//! docs/extension/gemini.md lists; and whatever is spelled in any test here is held against the schema beside it.

mod any_order;
mod bindings;
mod call_facts;
mod calls;
mod hidden;
mod order;
mod questions;
mod statuses;
mod world;
