//! A2A 0.3 and 1.0 on the wire: pure conversions to and from domain words.
//!
//! Requests become an [`attache_domain::Operation`], or a [`attache_domain::Fault`] that names every invalid member;
//! responses are written straight into bytes. [`client`] is the other side: it encodes requests and decodes
//! responses. Only this crate knows the versions' formats. Not here: sockets, a server's headers, and any decision
//! about a task.
//!
//! ```
//! use attache_domain::Operation;
//! use attache_wire::{decode, jsonrpc};
//!
//! let body = br#"{"jsonrpc":"2.0","id":7,"method":"GetTask","params":{"id":"t-1"}}"#;
//! let envelope = jsonrpc::parse(body, 64).unwrap();
//! let (version, kind) = jsonrpc::method(&envelope.method).unwrap();
//! let decoded = decode(jsonrpc::json_form(version), kind, envelope.params).unwrap();
//! assert!(matches!(decoded.operation, Operation::Get(get) if get.task.as_str() == "t-1"));
//! ```

mod approval_answers;
mod approval_data;
mod approval_words;
pub mod card;
pub mod client;
mod decode;
pub mod devtool;
pub mod encode;
mod encoder;
mod enum_names;
pub mod extensions;
mod fault;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod json;
mod json_form;
pub mod jsonrpc;
mod percent;
pub mod proto;
pub mod replay;
pub mod rest;
pub mod version;

pub use approval_answers::read_answers;
pub use approval_words::{meanings, words_for, yes_or_no};
pub use decode::{
    DecodeOptions, DecodedOperation, MessageTask, PartKinds, decode, decode_with, omits_part_kinds,
};
pub use encoder::{Encoder, Encoding};
pub use fault::retry_after;
pub use json_form::{JsonForm, Version};
