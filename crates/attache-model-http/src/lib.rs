//! Model providers reached over HTTP.
//!
//! [`gemini`] speaks to Google's Gemini, by its Developer API and by Vertex; [`openai`] to OpenAI and to all that
//! speak like it; [`anthropic`] to Anthropic's Claude. [`retry`]
//! is what providers share. Not here: which model is asked for what, and where keys come from.

mod answer_builder;
mod answer_request;
#[cfg(test)]
mod any_json;
mod endpoint;
mod failed_attempt;
mod history;
mod media;
mod request_error;
mod retry_class;
mod token;
mod tool_names;

pub mod anthropic;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod gemini;
pub mod openai;
pub mod retry;

pub use endpoint::BadOptions;
pub use token::{TokenRenewal, TokenSource};
