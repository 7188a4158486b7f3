//! The errors of A2A in the form of each pair.

use crate::TestClient;

use super::{Ask, Pair, REQUEST_ID, Refusal};

/// The form of one error on every pair.
#[derive(Debug, Clone, Copy)]
pub struct ErrorRow {
    code: i64,
    http: u16,
    status: &'static str,
    reason: &'static str,
    name: &'static str,
    /// An error of HTTP, for which JSON-RPC does not answer 200 either.
    at_http_level: bool,
}

const fn row(
    code: i64,
    http: u16,
    status: &'static str,
    reason: &'static str,
    name: &'static str,
) -> ErrorRow {
    ErrorRow { code, http, status, reason, name, at_http_level: false }
}

pub const TASK_NOT_FOUND: ErrorRow = row(-32001, 404, "NOT_FOUND", "TASK_NOT_FOUND", "TaskNotFoundError");
pub const NOT_CANCELABLE: ErrorRow =
    row(-32002, 400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE", "TaskNotCancelableError");
pub const NO_PUSH: ErrorRow = row(
    -32003,
    400,
    "FAILED_PRECONDITION",
    "PUSH_NOTIFICATION_NOT_SUPPORTED",
    "PushNotificationNotSupportedError",
);
pub const UNSUPPORTED: ErrorRow =
    row(-32004, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION", "UnsupportedOperationError");
pub const CONTENT_TYPE: ErrorRow =
    row(-32005, 400, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED", "ContentTypeNotSupportedError");
pub const EXTENSION_REQUIRED: ErrorRow =
    row(-32008, 400, "FAILED_PRECONDITION", "EXTENSION_SUPPORT_REQUIRED", "ExtensionSupportRequiredError");
pub const VERSION: ErrorRow =
    row(-32009, 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED", "VersionNotSupportedError");
pub const PARSE: ErrorRow = row(-32700, 400, "INVALID_ARGUMENT", "INVALID_REQUEST", "JSONParseError");
pub const INVALID_REQUEST: ErrorRow =
    row(-32600, 400, "INVALID_ARGUMENT", "INVALID_REQUEST", "InvalidRequestError");
pub const METHOD_NOT_FOUND: ErrorRow =
    row(-32601, 404, "UNIMPLEMENTED", "METHOD_NOT_FOUND", "MethodNotFoundError");
pub const VERB: ErrorRow = row(-32601, 405, "UNIMPLEMENTED", "METHOD_NOT_FOUND", "MethodNotFoundError");
pub const INVALID_PARAMS: ErrorRow =
    row(-32602, 400, "INVALID_ARGUMENT", "INVALID_PARAMS", "InvalidParamsError");
pub const MEDIA_TYPE: ErrorRow = ErrorRow {
    http: 415,
    at_http_level: true,
    ..row(-32005, 415, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED", "ContentTypeNotSupportedError")
};
pub const TOO_LARGE: ErrorRow = ErrorRow {
    at_http_level: true,
    ..row(-32600, 413, "INVALID_ARGUMENT", "INVALID_REQUEST", "InvalidRequestError")
};

impl ErrorRow {
    #[track_caller]
    pub fn check(&self, pair: Pair, refusal: &Refusal) {
        let Self { code, http, status, reason, name, at_http_level } = *self;
        let http = if pair.is_rest() || at_http_level { http } else { 200 };
        assert_eq!(refusal.http, http, "{pair:?}: {refusal:#?}");
        assert_eq!(refusal.code, (pair != Pair::Rest10).then_some(code), "{pair:?}: {refusal:#?}");
        assert_eq!(refusal.reason.as_deref(), pair.is_v1_0().then_some(reason), "{pair:?}: {refusal:#?}");
        assert_eq!(refusal.status.as_deref(), (pair == Pair::Rest10).then_some(status), "{pair:?}");
        assert_eq!(refusal.name.as_deref(), (pair == Pair::Rest03).then_some(name), "{pair:?}");
        assert!(!refusal.message.is_empty(), "{pair:?}");
    }

    /// Checks the error response to `ask`, the echo of its id, and that the message names `what`.
    pub async fn refuses(&self, pair: Pair, client: &TestClient, ask: &Ask, what: &str) -> Refusal {
        let refusal = pair.call(client, ask).await.refusal();
        self.check(pair, &refusal);
        if !pair.is_rest() {
            assert_eq!(refusal.id, REQUEST_ID, "{pair:?} {ask:?}");
        }
        assert!(refusal.message.contains(what), "{what:?} is not in {:?} ({pair:?})", refusal.message);
        refusal
    }
}
