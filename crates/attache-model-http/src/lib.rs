//! Model providers reached over HTTP.
//!
//! [`gemini`] is Google's Gemini, through the Developer API or Vertex; [`openai`] is OpenAI and compatible servers;
//! [`anthropic`] is Anthropic's Claude. Providers share [`retry`]. The choice of the model and the source of its key
//! are the caller's.

mod answer_builder;
mod answer_request;
#[cfg(test)]
mod any_json;
mod connection;
mod endpoint;
mod failed_attempt;
mod history;
mod http_model;
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

pub use connection::ModelOptions;
pub use endpoint::BadOptions;
pub use http_model::HttpModel;
pub use token::{TokenRenewal, TokenSource};
