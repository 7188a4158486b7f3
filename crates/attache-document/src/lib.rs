//! Documents that people write by hand, as one tree in which every value knows its line.
//!
//! Reads JSON with comments, YAML and TOML, and edits JSON in place. The meaning of a document belongs to its reader, for example
//! `attache-workspace` for settings.

mod json;
mod json_edit;
mod node;
mod toml;
mod yaml;

pub use json_edit::{EditError, JsonDocument};
pub use node::{Node, NodeKind, ParseError};
