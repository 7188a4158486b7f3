//! Gemini.

mod answers;
mod credentials;
mod failures;
mod fallback;
mod requests;
mod retries;
pub(crate) mod world;
