//! OpenAI and compatible servers.

mod answers;
mod dialects;
mod failures;
mod requests;
mod retries;
pub(crate) mod world;
