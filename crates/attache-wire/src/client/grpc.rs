//! What a gRPC client needs: the names of methods and messages, and statuses.

use attache_domain::OperationKind;
use attache_proto::rpc;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bytes::Bytes;
use prost::Message;
use serde_json::Value;

use super::error::{DecodeError, RemoteError, prefix, reason_of_code, reason_of_name};
use crate::Version;
use crate::percent;
use crate::proto::{SERVICES, commands, transcode};

/// The path of an operation, such as `lf.a2a.v1.A2AService/GetTask`, and the name of its request.
pub(super) fn method(version: Version, kind: OperationKind) -> Option<(String, String)> {
    let (name, request) = match (version, kind) {
        (_, OperationKind::Send) => ("SendMessage", "SendMessageRequest"),
        (_, OperationKind::Stream) => ("SendStreamingMessage", "SendMessageRequest"),
        (_, OperationKind::Get) => ("GetTask", "GetTaskRequest"),
        (_, OperationKind::Cancel) => ("CancelTask", "CancelTaskRequest"),
        (Version::V0_3, OperationKind::Subscribe) => ("TaskSubscription", "TaskSubscriptionRequest"),
        (Version::V1_0, OperationKind::Subscribe) => ("SubscribeToTask", "SubscribeToTaskRequest"),
        (Version::V1_0, OperationKind::List) => ("ListTasks", "ListTasksRequest"),
        (Version::V0_3, OperationKind::PushCreate) => {
            ("CreateTaskPushNotificationConfig", "CreateTaskPushNotificationConfigRequest")
        }
        (Version::V1_0, OperationKind::PushCreate) => {
            ("CreateTaskPushNotificationConfig", "TaskPushNotificationConfig")
        }
        (_, OperationKind::PushGet) => {
            ("GetTaskPushNotificationConfig", "GetTaskPushNotificationConfigRequest")
        }
        (Version::V0_3, OperationKind::PushList) => {
            ("ListTaskPushNotificationConfig", "ListTaskPushNotificationConfigRequest")
        }
        (Version::V1_0, OperationKind::PushList) => {
            ("ListTaskPushNotificationConfigs", "ListTaskPushNotificationConfigsRequest")
        }
        (_, OperationKind::PushDelete) => {
            ("DeleteTaskPushNotificationConfig", "DeleteTaskPushNotificationConfigRequest")
        }
        (Version::V0_3, OperationKind::ExtendedCard) => ("GetAgentCard", "GetAgentCardRequest"),
        (Version::V1_0, OperationKind::ExtendedCard) => {
            ("GetExtendedAgentCard", "GetExtendedAgentCardRequest")
        }
        (_, OperationKind::Commands) => return Some(command_method("GetAllSlashCommands")),
        (_, OperationKind::Execute) => return Some(command_method("ExecuteSlashCommand")),
        (Version::V0_3, OperationKind::List) => return None,
    };
    let (_, service) = SERVICES.into_iter().find(|(of, _)| *of == version)?;
    Some((format!("{service}/{name}"), format!("{}.{request}", transcode::package_name(version))))
}

/// A method of the development-tool extension's service.
fn command_method(name: &str) -> (String, String) {
    (
        format!("{}{name}", commands::SERVICE.trim_start_matches('/')),
        format!("{COMMANDS_PACKAGE}.{name}Request"),
    )
}

const COMMANDS_PACKAGE: &str = "development_tool.v0";

/// Which message a response holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplyMessage {
    /// Also the response to send, which has the same fields.
    Event,
    Task,
    Tasks,
    PushConfig,
    PushConfigs,
    Card,
    /// Of the development-tool extension, as is the next.
    Commands,
    Execution,
}

/// A message as the JSON of its definition.
pub(super) fn open(version: Version, message: ReplyMessage, body: &[u8]) -> Result<Value, DecodeError> {
    let name = match (version, message) {
        (_, ReplyMessage::Event) => "StreamResponse",
        (_, ReplyMessage::Task) => "Task",
        (_, ReplyMessage::Tasks) => "ListTasksResponse",
        (_, ReplyMessage::PushConfig) => "TaskPushNotificationConfig",
        (Version::V0_3, ReplyMessage::PushConfigs) => "ListTaskPushNotificationConfigResponse",
        (Version::V1_0, ReplyMessage::PushConfigs) => "ListTaskPushNotificationConfigsResponse",
        (_, ReplyMessage::Card) => "AgentCard",
        (_, ReplyMessage::Commands) => "GetAllSlashCommandsResponse",
        (_, ReplyMessage::Execution) => "ExecuteSlashCommandResponse",
    };
    let package = match message {
        ReplyMessage::Commands | ReplyMessage::Execution => COMMANDS_PACKAGE,
        _ => transcode::package_name(version),
    };
    let name = format!("{package}.{name}");
    transcode::to_json(&name, Bytes::copy_from_slice(body))
        .map_err(|what| DecodeError::Malformed { what: prefix(&what, 400) })
}

const UNKNOWN: i32 = 2;
const UNAUTHENTICATED: i32 = 16;

/// Clients of 0.3 learn which error it is from the beginning of the text, those of 1.0 from the details.
pub(super) fn error(code: &str, message: &str, details: &str) -> DecodeError {
    let code = code.trim().parse().unwrap_or(UNKNOWN);
    let message = percent::decode_lossy(message);
    let silent = || format!("it gave no reason (gRPC status {})", code_name(code));
    let text = prefix(&if message.trim().is_empty() { silent() } else { message.into_owned() }, 4096);
    if code == UNAUTHENTICATED {
        return DecodeError::Unauthenticated { message: text };
    }
    let details = STANDARD_NO_PAD.decode(details.trim_end_matches('=')).unwrap_or_default();
    let details = rpc::Status::decode(&*details).map(|status| status.details).unwrap_or_default();
    let info = details.iter().find(|detail| detail.type_url.ends_with("/google.rpc.ErrorInfo"));
    let info = info.and_then(|info| rpc::ErrorInfo::decode(&*info.value).ok());
    let named = text.split_once(": ").and_then(|(name, _)| reason_of_name(name));
    let reason = info.map(|info| prefix(&info.reason, 80)).filter(|reason| !reason.is_empty());
    let reason = reason.or_else(|| named.map(str::to_owned)).or_else(|| status_name(code).map(str::to_owned));
    let faults: Vec<String> = details.iter().flat_map(violations).take(3).collect();
    let message =
        if faults.is_empty() { text } else { prefix(&format!("{text}: {}", faults.join("; ")), 4096) };
    let number = reason.as_deref().and_then(|reason| {
        (-32009..=-32001).chain([-32601, -32602]).find(|code| reason_of_code(*code) == Some(reason))
    });
    DecodeError::Remote(RemoteError { code: number.unwrap_or(i64::from(code)), reason, message })
}

/// What a `BadRequest` among the details says.
fn violations(detail: &prost_types::Any) -> Vec<String> {
    let bad_request = detail.type_url.ends_with("/google.rpc.BadRequest");
    let bad_request = bad_request.then(|| rpc::BadRequest::decode(&*detail.value).ok()).flatten();
    let violations = bad_request.map(|it| it.field_violations).unwrap_or_default();
    violations.iter().map(|it| format!("{} {}", it.field, it.description)).collect()
}

/// gRPC's name of a status.
fn code_name(code: i32) -> String {
    const NAMES: [&str; 17] = [
        "OK",
        "CANCELLED",
        "UNKNOWN",
        "INVALID_ARGUMENT",
        "DEADLINE_EXCEEDED",
        "NOT_FOUND",
        "ALREADY_EXISTS",
        "PERMISSION_DENIED",
        "RESOURCE_EXHAUSTED",
        "FAILED_PRECONDITION",
        "ABORTED",
        "OUT_OF_RANGE",
        "UNIMPLEMENTED",
        "INTERNAL",
        "UNAVAILABLE",
        "DATA_LOSS",
        "UNAUTHENTICATED",
    ];
    let name = usize::try_from(code).ok().and_then(|code| NAMES.get(code));
    name.map_or_else(|| code.to_string(), |name| (*name).to_owned())
}

/// What a bare code says as clearly as a reason.
fn status_name(code: i32) -> Option<&'static str> {
    match code {
        4 => Some("DEADLINE_EXCEEDED"),
        5 => Some("TASK_NOT_FOUND"),
        7 => Some("PERMISSION_DENIED"),
        8 => Some("RESOURCE_EXHAUSTED"),
        12 => Some("METHOD_NOT_FOUND"),
        14 => Some("UNAVAILABLE"),
        _ => None,
    }
}
