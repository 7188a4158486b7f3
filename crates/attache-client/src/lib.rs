//! An A2A client: versions 0.3 and 1.0, over JSON-RPC, HTTP+JSON and gRPC.
//!
//! [`Client::connect`] reads the agent's card, in whichever form it is, and picks an interface; after that every
//! operation is a method. Until an interface has answered, one that is not there is left for the next of the card. Streams
//! reconnect after a cut and continue where they were, so a reader sees every event once. A card that names another origin
//! than it comes from is not followed, and a credential goes only to origins that the caller named. `attache-wire` encodes
//! requests and decodes responses, `attache-net` connects.
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
//! The types that options and events are made of are all exported here. `examples/ask.rs` is a small program that needs
//! this crate and tokio only; `examples/clients/rust/develop.rs` at the top of the repository shows an agent's work and
//! answers its questions.

mod authentication;
mod body_budget;
mod card_cache;
mod choice;
mod client;
mod commands;
mod discovery;
mod endpoint;
mod error;
mod exchange;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod grpc;
mod options;
mod origin;
mod outgoing;
mod route;
mod sent_secrets;
mod stream;

pub use attache_card::KeySet;
pub use attache_credentials::{
    CardSecurity, Credential, CredentialError, CredentialRequest, CredentialSource, FixedCredential,
};
pub use attache_domain::{
    Artifact, ArtifactId, Base64, Binding, ContextId, ListTasks, Message, MessageId, Metadata, Part,
    PartContent, PushAuthentication, PushConfig, Role, TaskId, TaskState,
};
pub use attache_net::{
    AddressRules, HttpClientOptions, NetError, NetworkSettings, ProxySettings, Resolver, Secret, TlsSettings,
};
pub use attache_wire::Version;
pub use attache_wire::client::{
    ArtifactUpdate, AskedCall, CallError, CallNews, CallOutput, CallStatus, CommandExecution, CommandStatus,
    DevelopmentEvent, DevelopmentToolOffer, FileDiff, OfferedExtension, OpenCall, Protocol,
    RemoteCapabilities, RemoteCard, RemoteCommand, RemoteCommandArgument, RemoteError, RemoteGap,
    RemoteInterface, RemotePushConfig, RemotePushConfigPage, RemoteSkill, RemoteStatus, RemoteTask,
    RemoteTaskPage, StatusUpdate, StreamEvent, ToolCall, UnsupportedOperation, approval_in, artifact_text,
    state_name,
};
pub use attache_wire::devtool::URI as DEVELOPMENT_TOOL;
pub use attache_wire::replay::URI as REPLAY;
pub use card_cache::CardCache;
pub use client::Client;
pub use discovery::CardSource;
pub use error::ClientError;
pub use jiff::Timestamp;
pub use options::{ClientOptions, InterfaceHost, SignatureCheck, SignaturePolicy};
pub use origin::Origin;
pub use outgoing::OutgoingMessage;
pub use sent_secrets::SentSecrets;
pub use stream::EventStream;
