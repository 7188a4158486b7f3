//! An A2A client for attache and other A2A 1.0 agents.
//!
//! [`Client::connect`] reads the agent's card and picks an interface; after that every operation is a method.
//! Streams reconnect after a cut and continue where they were, so a reader sees every event once. All requests go
//! to the address that was given, whatever the card says, and so does the token. `attache-wire` encodes requests
//! and decodes responses.
//!
//! ```no_run
//! # async fn example() -> Result<(), attache_client::ClientError> {
//! use attache_client::{Client, ClientOptions, OutgoingMessage, StreamEvent};
//!
//! let client = Client::connect("http://127.0.0.1:41242", ClientOptions::default()).await?;
//! let mut events = client.stream(OutgoingMessage::text("m-1", "help")).await?;
//! while let Some(event) = events.next().await {
//!     if let StreamEvent::ArtifactUpdate(update) = event? {
//!         assert!(!update.artifact.parts.is_empty());
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! `examples/clients/rust/develop.rs` is a whole client: it shows an agent's work and answers its questions.

mod client;
mod endpoint;
mod error;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod outgoing;
mod stream;

pub use attache_domain::{Artifact, ListTasks, Message, Metadata, Part, PartContent, Role, TaskState};
pub use attache_wire::client::{
    ArtifactUpdate, CallError, CallOutput, CallStatus, DevelopmentEvent, FileDiff, OfferedExtension,
    OpenCall, RemoteCapabilities, RemoteCard, RemoteGap, RemoteInterface, RemoteStatus, RemoteTask,
    RemoteTaskPage, StatusUpdate, StreamEvent, ToolCall, approval_in, artifact_text, state_name,
};
pub use attache_wire::devtool::URI as DEVELOPMENT_TOOL;
pub use attache_wire::replay::URI as REPLAY;
pub use client::{Client, ClientOptions};
pub use error::ClientError;
pub use outgoing::OutgoingMessage;
pub use stream::EventStream;
