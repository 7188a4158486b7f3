//! Errors of decoding a response.

use attache_domain::OperationKind;
use serde_json::Value;

use super::explanation::{message_of, readable, with_details};
use crate::Version;

/// Texts come from the agent: bounded, and not to be trusted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    #[error("{message}")]
    Unauthenticated { message: String },
    #[error("{0}")]
    Remote(RemoteError),
    /// The body is no A2A error.
    #[error("the HTTP status {status}")]
    Status { status: u16, text: String },
    #[error("{what}")]
    Malformed { what: String },
    /// An event that this version of the client does not know.
    #[error("{what}")]
    UnknownEvent { what: String },
}

/// An error that the agent reported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RemoteError {
    /// Of JSON-RPC, or the HTTP status.
    pub code: i64,
    /// The protocol's name for it, such as `TASK_NOT_FOUND`.
    pub reason: Option<String>,
    pub message: String,
}

/// The version has no such operation, or this client does not send it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("A2A {} has no request for {}", version.as_str(), operation.name())]
pub struct UnsupportedOperation {
    pub version: Version,
    pub operation: OperationKind,
}

/// Characters of a text that an agent sent.
const MAX_TEXT: usize = 4096;
const MAX_REASON: usize = 80;

/// The errors of the protocol: JSON-RPC's code, the reason in details, and the name in bodies of 0.3.
const ERRORS: [(i64, &str, &str); 11] = [
    (-32001, "TASK_NOT_FOUND", "TaskNotFoundError"),
    (-32002, "TASK_NOT_CANCELABLE", "TaskNotCancelableError"),
    (-32003, "PUSH_NOTIFICATION_NOT_SUPPORTED", "PushNotificationNotSupportedError"),
    (-32004, "UNSUPPORTED_OPERATION", "UnsupportedOperationError"),
    (-32005, "CONTENT_TYPE_NOT_SUPPORTED", "ContentTypeNotSupportedError"),
    (-32006, "INVALID_AGENT_RESPONSE", "InvalidAgentResponseError"),
    (-32007, "EXTENDED_AGENT_CARD_NOT_CONFIGURED", "AuthenticatedExtendedCardNotConfiguredError"),
    (-32008, "EXTENSION_SUPPORT_REQUIRED", "ExtensionSupportRequiredError"),
    (-32009, "VERSION_NOT_SUPPORTED", "VersionNotSupportedError"),
    (-32601, "METHOD_NOT_FOUND", "MethodNotFoundError"),
    (-32602, "INVALID_PARAMS", "InvalidParamsError"),
];

pub(super) fn reason_of_code(code: i64) -> Option<&'static str> {
    ERRORS.iter().find(|(known, ..)| *known == code).map(|(_, reason, _)| *reason)
}

pub(super) fn reason_of_name(name: &str) -> Option<&'static str> {
    ERRORS.iter().find(|(_, _, known)| *known == name).map(|(_, reason, _)| *reason)
}

impl DecodeError {
    /// Reads the error object of any binding and version.
    pub(super) fn from_object(status: u16, error: &Value) -> Self {
        let text = message_of(error).unwrap_or("it gave no reason");
        let details = error.get("data").or_else(|| error.get("details"));
        let message = prefix(&with_details(text, details), MAX_TEXT);
        if status == 401 {
            return Self::Unauthenticated { message };
        }
        let code = error.get("code").and_then(Value::as_i64).unwrap_or_else(|| i64::from(status));
        // JSON-RPC has no code for it.
        let is_forbidden = status == 403 && reason_of_code(code).is_none();
        let code = if is_forbidden { 403 } else { code };
        let details = details.and_then(Value::as_array);
        let reason = details.into_iter().flatten().find_map(|detail| detail.get("reason")?.as_str());
        let reason = reason.map(|reason| prefix(reason, MAX_REASON));
        let named = || error.get("type").and_then(Value::as_str).and_then(reason_of_name);
        let reason = reason.or_else(|| reason_of_code(code).or_else(named).map(str::to_owned));
        Self::Remote(RemoteError { code, reason, message })
    }

    /// For a response without an A2A body.
    pub fn from_status(status: u16, body: &[u8]) -> Self {
        let said = serde_json::from_slice::<Value>(body).ok();
        let said = said.as_ref().and_then(message_of).map(str::to_owned);
        let text = said.unwrap_or_else(|| readable(&prefix(&String::from_utf8_lossy(body), MAX_TEXT)));
        match status {
            401 if text.trim().is_empty() => Self::from_object(status, &Value::Null),
            401 => Self::Unauthenticated { message: prefix(text.trim(), MAX_TEXT) },
            _ => Self::Status { status, text: prefix(&text, MAX_TEXT) },
        }
    }
}

pub(super) fn prefix(text: &str, characters: usize) -> String {
    text.chars().take(characters).collect()
}
