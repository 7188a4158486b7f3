//! OpenAI, and those who speak like it.

mod answers;
mod dialects;
mod failures;
mod requests;
mod retries;
pub(crate) mod world;
