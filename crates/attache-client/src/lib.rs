//! The A2A client: what a program needs to use a running attache, or any other A2A 1.0 agent.
//!
//! [`Client::connect`] reads the agent's card and picks a binding; after that every call is a method. Streams come
//! back by themselves after a cut and go on where they were, so a reader sees every event once. Everything stays
//! at the address that was named, whatever the card says, and so does the token.
//!
//! ```no_run
//! # async fn example() -> Result<(), attache_client::ClientError> {
//! use attache_client::{Client, ClientOptions, Event, Message, SendMessage};
//!
//! let client = Client::connect("http://127.0.0.1:41242", ClientOptions::default()).await?;
//! let mut events = client.stream(SendMessage::new(Message::from_user("m-1", "help"))).await?;
//! while let Some(event) = events.next().await {
//!     if let Event::ArtifactUpdate(update) = event? {
//!         assert!(!update.artifact.id().is_empty());
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A whole client, which shows an agent's work and answers what it asks, is `examples/clients/rust/develop.rs`.
//!
//! Not here: showing anything to anyone, and any thought about what an answer means.

mod approval;
mod binding;
mod card;
mod client;
mod devtool;
mod error;
mod event;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod message;
mod replay;
mod request;
mod spelling;
mod sse;
mod stream;
mod task;

pub use approval::OpenCall;
pub use card::{AgentCapabilities, AgentCard, AgentExtension, AgentInterface};
pub use client::{Client, ClientOptions};
pub use devtool::{
    CallError, CallOutput, CallStatus, DEVELOPMENT_TOOL, DevelopmentEvent, FileDiff, ToolCall,
};
pub use error::ClientError;
pub use event::{ArtifactUpdate, Event, StatusUpdate};
pub use message::{Message, Part, PartContent, Role};
pub use replay::{Gap, REPLAY};
pub use request::{ListTasks, SendConfiguration, SendMessage};
pub use stream::EventStream;
pub use task::{Artifact, Task, TaskPage, TaskState, TaskStatus};
