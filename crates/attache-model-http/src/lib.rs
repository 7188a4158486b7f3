//! Model providers reached over HTTP.
//!
//! [`gemini`] speaks to Google's Gemini, by its Developer API and by Vertex. [`sse`] and [`retry`] are what
//! providers share. Not here: which model is asked for what, and where credentials come from.

pub mod gemini;
pub mod retry;
pub mod sse;
