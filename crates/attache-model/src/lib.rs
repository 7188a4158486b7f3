//! The traits for language models and built-in models, and the two built-in models that need no key.
//!
//! [`offline`] answers a small set of plain-English requests; [`script`] plays a YAML file, which makes
//! attache a test agent for developers of A2A clients. Providers reached over HTTP live in
//! `attache-model-http`.

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
    ToolDeclaration,
};
