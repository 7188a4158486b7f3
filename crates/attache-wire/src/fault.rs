//! The names and codes of every fault, for all bindings.

use std::borrow::Cow;
use std::time::Duration;

use attache_domain::Fault;
use serde_json::{Map, Value, json};

use crate::{JsonForm, enum_names};

/// The names and numbers of one fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FaultNames {
    /// JSON-RPC error code.
    pub(crate) code: i32,
    pub(crate) http_status: u16,
    /// gRPC status name.
    pub(crate) status: &'static str,
    /// Reason in the `ErrorInfo` of 1.0.
    pub(crate) reason: &'static str,
    /// Name of the error type in 0.3.
    pub(crate) name: &'static str,
}

pub(crate) fn names(fault: &Fault) -> FaultNames {
    let (code, http_status, status, reason, name) = match fault {
        Fault::TaskNotFound { .. } | Fault::PushConfigNotFound { .. } => {
            (-32001, 404, "NOT_FOUND", "TASK_NOT_FOUND", "TaskNotFoundError")
        }
        Fault::TaskNotCancelable { .. } => {
            (-32002, 400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE", "TaskNotCancelableError")
        }
        Fault::PushNotSupported => (
            -32003,
            400,
            "FAILED_PRECONDITION",
            "PUSH_NOTIFICATION_NOT_SUPPORTED",
            "PushNotificationNotSupportedError",
        ),
        Fault::Unsupported { .. } | Fault::TaskFinished { .. } => {
            (-32004, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION", "UnsupportedOperationError")
        }
        Fault::ContentTypeNotSupported { .. } | Fault::MediaTypeNotAccepted { .. } => {
            (-32005, 400, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED", "ContentTypeNotSupportedError")
        }
        Fault::InvalidAgentResponse { .. } => {
            (-32006, 500, "INTERNAL", "INVALID_AGENT_RESPONSE", "InvalidAgentResponseError")
        }
        Fault::ExtendedCardNotConfigured => (
            -32007,
            400,
            "FAILED_PRECONDITION",
            "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
            "AuthenticatedExtendedCardNotConfiguredError",
        ),
        Fault::ExtensionRequired { .. } => (
            -32008,
            400,
            "FAILED_PRECONDITION",
            "EXTENSION_SUPPORT_REQUIRED",
            "ExtensionSupportRequiredError",
        ),
        Fault::VersionNotSupported { .. } => {
            (-32009, 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED", "VersionNotSupportedError")
        }
        Fault::Unparsable { .. } => (-32700, 400, "INVALID_ARGUMENT", "INVALID_REQUEST", "JSONParseError"),
        Fault::InvalidRequest { .. } | Fault::BadHead { .. } => {
            (-32600, 400, "INVALID_ARGUMENT", "INVALID_REQUEST", "InvalidRequestError")
        }
        Fault::BodyTooLarge { .. } => {
            (-32600, 413, "INVALID_ARGUMENT", "INVALID_REQUEST", "InvalidRequestError")
        }
        Fault::MethodNotFound { .. } | Fault::RouteNotFound { .. } => {
            (-32601, 404, "UNIMPLEMENTED", "METHOD_NOT_FOUND", "MethodNotFoundError")
        }
        Fault::HttpMethodNotAllowed { .. } => {
            (-32601, 405, "UNIMPLEMENTED", "METHOD_NOT_FOUND", "MethodNotFoundError")
        }
        Fault::InvalidParams { .. }
        | Fault::SettingRefused { .. }
        | Fault::NothingToAnswer { .. }
        | Fault::AlreadyAnswered { .. }
        | Fault::NotAChoice { .. }
        | Fault::ConfirmationOpen { .. }
        | Fault::ContextMismatch { .. }
        | Fault::BadPageToken
        | Fault::BadCursor { .. } => {
            (-32602, 400, "INVALID_ARGUMENT", "INVALID_PARAMS", "InvalidParamsError")
        }
        Fault::MessageIdTaken { .. } => {
            (-32602, 400, "INVALID_ARGUMENT", "MESSAGE_ID_TAKEN", "InvalidParamsError")
        }
        Fault::TenantNotFound { .. } => (-32602, 404, "NOT_FOUND", "TENANT_NOT_FOUND", "InvalidParamsError"),
        Fault::Internal => (-32603, 500, "INTERNAL", "INTERNAL_ERROR", "InternalError"),
        Fault::Unavailable => (-32603, 503, "UNAVAILABLE", "UNAVAILABLE", "InternalError"),
        Fault::StoreFull { .. } => (-32603, 503, "RESOURCE_EXHAUSTED", "STORE_FULL", "InternalError"),
        Fault::StoreUnavailable { .. } => (-32603, 503, "UNAVAILABLE", "STORE_UNAVAILABLE", "InternalError"),
        Fault::Overloaded | Fault::Busy { .. } => (-32603, 503, "UNAVAILABLE", "OVERLOADED", "InternalError"),
        Fault::LimitReached { .. } => (-32603, 429, "RESOURCE_EXHAUSTED", "LIMIT_REACHED", "InternalError"),
        Fault::Unauthenticated | Fault::TokenNeeded => {
            // A2A has no code for this, so it gets one of JSON-RPC's free server errors.
            (-32000, 401, "UNAUTHENTICATED", "UNAUTHENTICATED", "AuthenticationError")
        }
        Fault::Forbidden { .. } | Fault::RightMissing { .. } => {
            (-32600, 403, "PERMISSION_DENIED", "PERMISSION_DENIED", "InvalidRequestError")
        }
    };
    FaultNames { code, http_status, status, reason, name }
}

/// Details of the fault for programs.
pub(crate) fn metadata(fault: &Fault) -> Vec<(&'static str, Cow<'_, str>)> {
    match fault {
        Fault::TaskNotFound { task } => vec![("taskId", task.as_str().into())],
        Fault::PushConfigNotFound { task, config } => {
            let config = config.as_ref().map(|config| ("configId", config.as_str().into()));
            [("taskId", task.as_str().into())].into_iter().chain(config).collect()
        }
        Fault::TaskNotCancelable { task, state } | Fault::TaskFinished { task, state } => {
            let state = enum_names::state_name(JsonForm::V1_0, *state);
            vec![("taskId", task.as_str().into()), ("state", state.into())]
        }
        Fault::ExtensionRequired { uri } => vec![("extension", uri.into())],
        Fault::VersionNotSupported { supported, .. } => {
            vec![("supportedVersions", supported.join(",").into())]
        }
        Fault::NothingToAnswer { call, open } => vec![("call", call.into()), ("open", open.join(",").into())],
        Fault::AlreadyAnswered { call, choice, by, at } => {
            let by = by.as_deref().unwrap_or_default();
            let at = at.to_string();
            vec![("call", call.into()), ("choice", choice.into()), ("by", by.into()), ("at", at.into())]
        }
        Fault::NotAChoice { call, choices, .. } => {
            vec![("call", call.into()), ("choices", choices.join(",").into())]
        }
        Fault::TenantNotFound { tenant } => vec![("tenant", tenant.into())],
        Fault::MessageIdTaken { message } => vec![("messageId", message.as_str().into())],
        Fault::MethodNotFound { method } => vec![("method", method.into())],
        Fault::RouteNotFound { path } => vec![("path", path.into())],
        Fault::HttpMethodNotAllowed { path, method, allowed } => {
            vec![("path", path.into()), ("method", method.into()), ("allowed", (*allowed).into())]
        }
        Fault::BodyTooLarge { limit } => vec![("limit", limit.to_string().into())],
        Fault::MediaTypeNotAccepted { found } => vec![("contentType", found.into())],
        Fault::RightMissing { right } => vec![("right", right.name().into())],
        Fault::StoreFull { .. } => vec![("store", "full".into())],
        Fault::StoreUnavailable { .. } => vec![("store", "unavailable".into())],
        Fault::PushNotSupported
        | Fault::Unsupported { .. }
        | Fault::ContentTypeNotSupported { .. }
        | Fault::InvalidAgentResponse { .. }
        | Fault::ExtendedCardNotConfigured
        | Fault::Unparsable { .. }
        | Fault::InvalidRequest { .. }
        | Fault::InvalidParams { .. }
        | Fault::SettingRefused { .. }
        | Fault::ConfirmationOpen { .. }
        | Fault::ContextMismatch { .. }
        | Fault::BadPageToken
        | Fault::BadCursor { .. }
        | Fault::Internal
        | Fault::Unauthenticated
        | Fault::TokenNeeded
        | Fault::BadHead { .. }
        | Fault::Forbidden { .. }
        | Fault::Unavailable
        | Fault::Overloaded
        | Fault::Busy { .. }
        | Fault::LimitReached { .. } => Vec::new(),
    }
}

/// How long to wait before a retry, if one may help: bodies and connections end within seconds, and the server
/// retries its store at least every five.
pub fn retry_after(fault: &Fault) -> Option<Duration> {
    match fault {
        Fault::Overloaded | Fault::Busy { .. } | Fault::LimitReached { .. } => Some(Duration::from_secs(2)),
        Fault::StoreFull { .. } | Fault::StoreUnavailable { .. } => Some(Duration::from_secs(5)),
        _ => None,
    }
}

/// The error details of 1.0: an `ErrorInfo`, a `BadRequest` for invalid members, and a `RetryInfo` if a retry may
/// help.
pub(crate) fn details(fault: &Fault) -> Value {
    let mut details = vec![json!({
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": names(fault).reason,
        "domain": "a2a-protocol.org",
        "metadata": metadata_object(fault),
    })];
    let violations = violations(fault);
    if !violations.is_empty() {
        details.push(json!({
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            "fieldViolations": violations,
        }));
    }
    if let Some(pause) = retry_after(fault) {
        details.push(json!({
            "@type": "type.googleapis.com/google.rpc.RetryInfo",
            "retryDelay": format!("{}s", pause.as_secs()),
        }));
    }
    details.into()
}

/// The error data of 0.3: an object, or `None` without details.
pub(crate) fn data(fault: &Fault) -> Option<Value> {
    let violations = violations(fault);
    if !violations.is_empty() {
        return Some(json!({ "violations": violations }));
    }
    let metadata = metadata_object(fault);
    (!metadata.is_empty()).then(|| metadata.into())
}

fn metadata_object(fault: &Fault) -> Map<String, Value> {
    metadata(fault).into_iter().map(|(name, value)| (name.to_owned(), value.into_owned().into())).collect()
}

/// The invalid members. Faults of the session name none, so they get one here.
fn violations(fault: &Fault) -> Vec<Value> {
    let violation = |field: &str, description: &str| json!({ "field": field, "description": description });
    match fault {
        Fault::InvalidParams { violations } => {
            violations.iter().map(|it| violation(&it.field, &it.description)).collect()
        }
        Fault::ConfirmationOpen { .. } => vec![violation("message", &fault.to_string())],
        Fault::ContextMismatch { .. } => vec![violation("message.contextId", &fault.to_string())],
        Fault::TenantNotFound { .. } => vec![violation("tenant", &fault.to_string())],
        Fault::MessageIdTaken { .. } => vec![violation("message.messageId", &fault.to_string())],
        Fault::BadPageToken => vec![violation("pageToken", &fault.to_string())],
        Fault::BadCursor { .. } => vec![violation("Last-Event-ID", &fault.to_string())],
        _ => Vec::new(),
    }
}
