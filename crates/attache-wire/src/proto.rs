//! A2A in protobuf, both versions, for gRPC.
//!
//! Decodes into the same operations and encodes the same views as JSON, with the same rules for invalid input,
//! through the generated types. Not here: frames, metadata and deadlines, which belong to the server.
//!
//! ```
//! use attache_domain::Operation;
//! use attache_proto::v1_0::GetTaskRequest;
//! use attache_wire::proto;
//! use prost::Message;
//!
//! let (version, kind) = proto::method("/lf.a2a.v1.A2AService/GetTask").unwrap();
//! let request = GetTaskRequest { id: "t-1".into(), ..Default::default() };
//! let decoded = proto::decode(version, kind, request.encode_to_vec().into()).unwrap();
//! assert!(matches!(decoded.operation, Operation::Get(get) if get.task.as_str() == "t-1"));
//! ```

use attache_domain::OperationKind;

use crate::devtool::Dialect;
use crate::{JsonForm, Version};

pub(crate) mod commands;
mod decode;
mod decoded_size;
mod encode;
mod replay;
mod status;
pub(crate) mod transcode;
mod value;

pub use commands::{write_commands, write_execution};
pub use decode::decode;
pub use decoded_size::check_decoded_size;
pub use encode::{
    write_list, write_message_item, write_push_config, write_push_configs, write_task, write_task_item,
    write_update,
};
pub use replay::{add_mark_to_item, add_mark_to_task};
pub use status::{GrpcCode, GrpcStatus, status};
pub use transcode::{encode_card, write_devtool_frame};

/// The full names of the services.
pub const SERVICES: [(Version, &str); 2] =
    [(Version::V0_3, "a2a.v1.A2AService"), (Version::V1_0, "lf.a2a.v1.A2AService")];

/// The version and the operation that a path such as `/lf.a2a.v1.A2AService/GetTask` names.
pub fn method(path: &str) -> Option<(Version, OperationKind)> {
    let (service, name) = path.strip_prefix('/')?.split_once('/')?;
    let (version, _) = SERVICES.into_iter().find(|(_, known)| *known == service)?;
    let kind = match (version, name) {
        (_, "SendMessage") => OperationKind::Send,
        (_, "SendStreamingMessage") => OperationKind::Stream,
        (_, "GetTask") => OperationKind::Get,
        (_, "CancelTask") => OperationKind::Cancel,
        (_, "CreateTaskPushNotificationConfig") => OperationKind::PushCreate,
        (_, "GetTaskPushNotificationConfig") => OperationKind::PushGet,
        (_, "DeleteTaskPushNotificationConfig") => OperationKind::PushDelete,
        (Version::V0_3, "TaskSubscription") => OperationKind::Subscribe,
        (Version::V0_3, "ListTaskPushNotificationConfig") => OperationKind::PushList,
        (Version::V0_3, "GetAgentCard") => OperationKind::ExtendedCard,
        (Version::V1_0, "SubscribeToTask") => OperationKind::Subscribe,
        (Version::V1_0, "ListTasks") => OperationKind::List,
        (Version::V1_0, "ListTaskPushNotificationConfigs") => OperationKind::PushList,
        (Version::V1_0, "GetExtendedAgentCard") => OperationKind::ExtendedCard,
        _ => return None,
    };
    Some((version, kind))
}

/// The operation that a path of the development-tool extension's service names, for both versions.
pub fn command_method(path: &str) -> Option<OperationKind> {
    match path.strip_prefix(commands::SERVICE)? {
        "GetAllSlashCommands" => Some(OperationKind::Commands),
        "ExecuteSlashCommand" => Some(OperationKind::Execute),
        _ => None,
    }
}

/// The version of a path, whether or not it names an operation; `None` for other services.
pub fn version_of_path(path: &str) -> Option<Version> {
    let service = path.strip_prefix('/')?.split('/').next()?;
    SERVICES.into_iter().find(|(_, known)| *known == service).map(|(version, _)| version)
}

/// Index in a table with one entry per encoding; JSON's encodings come before.
pub fn index(dialect: Dialect, version: Version) -> usize {
    Dialect::COUNT * JsonForm::COUNT + dialect.index(json_form(version))
}

/// The JSON form of the same definitions.
pub(crate) fn json_form(version: Version) -> JsonForm {
    match version {
        Version::V0_3 => JsonForm::V0_3Rest,
        Version::V1_0 => JsonForm::V1_0,
    }
}
