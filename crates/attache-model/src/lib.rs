//! The seam to language models, and the two built-in ones that need no key.
//!
//! [`offline`] answers a small set of plain-English requests; [`script`] plays a YAML file, which makes
//! attache a stand-in agent for people who develop A2A clients. Providers reached over HTTP live in
//! a crate of their own.

mod conversation;
mod fallback;
mod language;
pub mod offline;
mod provider;
pub mod script;

pub use fallback::FallbackModel;
pub use language::{
    LanguageError, LanguageModel, LanguageStream, Piece, Prompt, Stop, Streamed, Thinking, ToolDeclaration,
};
pub use provider::{Finish, ModelChunk, ModelError, ModelProvider, ModelRequest, ModelStream, StreamItem};
