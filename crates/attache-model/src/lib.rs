//! The seam to language models, and the two built-in ones that need no key.
//!
//! [`offline`] answers a small set of plain-English requests; [`script`] plays a YAML file, which makes
//! attache a stand-in agent for people who develop A2A clients. Providers reached over HTTP live in
//! a crate of their own.

mod built_in;
mod fallback;
mod language_model;
pub mod offline;
pub mod script;
mod task_messages;

pub use built_in::{
    BuiltInModel, ModelChunk, ModelError, ModelRequest, ModelStream, ModelStreamItem, TurnFinish,
};
pub use fallback::FallbackModel;
pub use language_model::{
    AnswerEvent, AnswerPiece, LanguageError, LanguageModel, LanguageStream, Prompt, PromptKey, StopReason,
    Thinking, ToolDeclaration,
};
