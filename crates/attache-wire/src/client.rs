//! The client's side of A2A: writes requests and reads responses.
//!
//! A [`Protocol`] is one version over one binding. It encodes an [`Operation`] as an HTTP request, and decodes what
//! comes back into domain words and the `Remote…` types, which hold only what an agent said. Decoding is lenient:
//! unknown members are ignored, and most members may be missing. Messages of gRPC are converted to and from the JSON of
//! their definitions. Not here: sockets, headers, frames, and retries.
//!
//! ```
//! use attache_domain::{Binding, GetTask, Operation};
//! use attache_wire::Version;
//! use attache_wire::client::Protocol;
//!
//! let protocol = Protocol::new(Version::V1_0, Binding::HttpJson);
//! let get = Operation::Get(GetTask { task: "t-1".into(), history_length: None, at: None });
//! assert_eq!(protocol.encode(None, &get).unwrap().path, "tasks/t-1");
//! let body = br#"{"id":"t-1","status":{"state":"TASK_STATE_WORKING"}}"#;
//! assert_eq!(protocol.decode_task(200, body).unwrap().id.as_str(), "t-1");
//! ```

mod approval;
mod asked_call;
mod card;
mod commands;
mod decode;
mod devtool;
mod encode;
mod error;
mod explanation;
mod grpc;
mod push;
mod remote;
mod replay;
mod request;
mod surrogates;

use attache_domain::{Binding, Operation, PushConfig, TaskId};
use serde_json::Value;

use crate::{JsonForm, Version, jsonrpc, proto};

pub use approval::{OpenCall, approval_in};
pub use asked_call::{AskedCall, CallNews};
pub use card::{
    CARD_PATH, DevelopmentToolOffer, OfferedExtension, RemoteCapabilities, RemoteCard, RemoteInterface,
    RemoteSkill,
};
pub use commands::{CommandExecution, CommandStatus, RemoteCommand, RemoteCommandArgument};
pub use devtool::{CallError, CallOutput, CallStatus, DevelopmentEvent, FileDiff, ToolCall};
pub use error::{DecodeError, RemoteError, UnsupportedOperation};
pub use push::{RemotePushConfig, RemotePushConfigPage};
pub use remote::{
    ArtifactUpdate, RemoteStatus, RemoteTask, RemoteTaskPage, StatusUpdate, StreamEvent, artifact_text,
    state_name,
};
pub use replay::RemoteGap;
pub use request::{EncodedRequest, Verb};

/// One protocol version over one binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protocol {
    version: Version,
    binding: Binding,
}

impl Protocol {
    pub fn new(version: Version, binding: Binding) -> Self {
        Self { version, binding }
    }

    pub fn version(self) -> Version {
        self.version
    }

    pub fn binding(self) -> Binding {
        self.binding
    }

    /// For people, such as `HTTP+JSON 1.0`.
    pub fn name(self) -> String {
        format!("{} {}", card::binding_name(self.binding), self.version.as_str())
    }

    fn json_form(self) -> JsonForm {
        match (self.version, self.binding) {
            (Version::V0_3, Binding::HttpJson) => JsonForm::V0_3Rest,
            (version, Binding::Grpc) => proto::json_form(version),
            (version, _) => jsonrpc::json_form(version),
        }
    }

    /// Encodes a request to `tenant`. Cursors travel in headers, which the caller sets.
    pub fn encode(
        self,
        tenant: Option<&str>,
        operation: &Operation,
    ) -> Result<EncodedRequest, UnsupportedOperation> {
        request::encode(self, tenant, operation)
    }

    /// The other form in which agents of 0.3 take a push configuration over HTTP+JSON: the resource itself, without the
    /// request around it. `None` for other protocols.
    pub fn encode_push_resource(self, task: &TaskId, config: &PushConfig) -> Option<EncodedRequest> {
        let has_two_forms = (self.version, self.binding) == (Version::V0_3, Binding::HttpJson);
        has_two_forms.then(|| request::push_resource(task, config))
    }

    /// The other form of a subscription over HTTP+JSON: the prose of A2A names POST, its protobuf definition GET. `None` for
    /// other bindings.
    pub fn encode_get_subscription(self, tenant: Option<&str>, task: &TaskId) -> Option<EncodedRequest> {
        (self.binding == Binding::HttpJson).then(|| request::get_subscription(self, tenant, task))
    }

    /// Decodes the response to get and cancel. For gRPC, `status` is 200, and `body` a message without its frame.
    pub fn decode_task(self, status: u16, body: &[u8]) -> Result<RemoteTask, DecodeError> {
        decode::task(self, status, body)
    }

    /// Decodes the response to list.
    pub fn decode_page(self, status: u16, body: &[u8]) -> Result<RemoteTaskPage, DecodeError> {
        decode::page(self, status, body)
    }

    /// Decodes the response to send, or one event of a stream.
    pub fn decode_event(self, status: u16, body: &[u8]) -> Result<StreamEvent, DecodeError> {
        decode::event(self, status, body)
    }

    /// Decodes the response to creating or getting a push configuration.
    pub fn decode_push_config(self, status: u16, body: &[u8]) -> Result<RemotePushConfig, DecodeError> {
        decode::push_config(self, status, body)
    }

    pub fn decode_push_configs(self, status: u16, body: &[u8]) -> Result<RemotePushConfigPage, DecodeError> {
        decode::push_configs(self, status, body)
    }

    /// Decodes the response to an operation that gives nothing back.
    pub fn decode_nothing(self, status: u16, body: &[u8]) -> Result<(), DecodeError> {
        decode::nothing(self, status, body)
    }

    /// Takes a card out of its envelope, in the form that the agent gave it.
    pub fn decode_card(self, status: u16, body: &[u8]) -> Result<Value, DecodeError> {
        decode::open(self, grpc::ReplyMessage::Card, status, body)
    }

    /// Decodes the commands that the agent takes.
    pub fn decode_commands(self, status: u16, body: &[u8]) -> Result<Vec<RemoteCommand>, DecodeError> {
        commands::list(self, status, body)
    }

    /// Decodes the outcome of a command.
    pub fn decode_execution(self, status: u16, body: &[u8]) -> Result<CommandExecution, DecodeError> {
        commands::execution(self, status, body)
    }

    /// Decodes the status that ends a failed gRPC call, from the values of `grpc-status`, `grpc-message` and
    /// `grpc-status-details-bin`.
    pub fn decode_grpc_status(self, code: &str, message: &str, details: &str) -> DecodeError {
        grpc::error(code, message, details)
    }
}
