//! Anthropic.

mod answers;
mod failures;
mod requests;
mod retries;
pub(crate) mod world;
