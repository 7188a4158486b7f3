//! The errors of A2A, with their names and codes on each binding.

use crate::protocol::{Binding, Version};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExpectedError {
    TaskNotFound,
    TaskNotCancelable,
    PushNotSupported,
    Unsupported,
    ContentType,
    ExtendedCardNotConfigured,
    ExtensionRequired,
    VersionNotSupported,
    MethodNotFound,
    InvalidParams,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ErrorNames {
    pub(crate) code: i64,
    pub(crate) http: u16,
    pub(crate) grpc: &'static str,
    pub(crate) reason: &'static str,
    pub(crate) name: &'static str,
}

impl ExpectedError {
    pub(crate) fn names(self) -> ErrorNames {
        let (code, http, grpc, reason, name) = match self {
            Self::TaskNotFound => (-32001, 404, "NOT_FOUND", "TASK_NOT_FOUND", "TaskNotFoundError"),
            Self::TaskNotCancelable => {
                (-32002, 400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE", "TaskNotCancelableError")
            }
            Self::PushNotSupported => (
                -32003,
                400,
                "FAILED_PRECONDITION",
                "PUSH_NOTIFICATION_NOT_SUPPORTED",
                "PushNotificationNotSupportedError",
            ),
            Self::Unsupported => {
                (-32004, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION", "UnsupportedOperationError")
            }
            Self::ContentType => (
                -32005,
                400,
                "INVALID_ARGUMENT",
                "CONTENT_TYPE_NOT_SUPPORTED",
                "ContentTypeNotSupportedError",
            ),
            Self::ExtendedCardNotConfigured => (
                -32007,
                400,
                "FAILED_PRECONDITION",
                "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
                "ExtendedAgentCardNotConfiguredError",
            ),
            Self::ExtensionRequired => (
                -32008,
                400,
                "FAILED_PRECONDITION",
                "EXTENSION_SUPPORT_REQUIRED",
                "ExtensionSupportRequiredError",
            ),
            Self::VersionNotSupported => {
                (-32009, 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED", "VersionNotSupportedError")
            }
            Self::MethodNotFound => (-32601, 404, "UNIMPLEMENTED", "METHOD_NOT_FOUND", "MethodNotFoundError"),
            Self::InvalidParams => (-32602, 400, "INVALID_ARGUMENT", "INVALID_PARAMS", "InvalidParamsError"),
        };
        ErrorNames { code, http, grpc, reason, name }
    }

    /// An error of A2A, which 1.0 identifies with an `ErrorInfo`.
    pub(crate) fn is_of_a2a(self) -> bool {
        !matches!(self, Self::MethodNotFound | Self::InvalidParams)
    }

    /// The name for the reason of a failed check on this pair.
    pub(crate) fn on(self, version: Version, binding: Binding) -> String {
        let names = self.names();
        match (binding, version) {
            (Binding::JsonRpc, _) => format!("{} ({})", names.name, names.code),
            (Binding::Rest, Version::V1_0) => format!("{} ({}, {})", names.name, names.http, names.reason),
            (Binding::Rest, Version::V0_3) => names.name.to_owned(),
            (Binding::Grpc, _) => format!("{} ({})", names.name, names.grpc),
        }
    }
}
