//! Every row of the error tables, on both bindings and in both versions.

use attache_domain::{Fault, Right, TaskId, TaskState, Violation};
use attache_wire::{Version, jsonrpc, rest};
use serde_json::{Value, json};

use crate::golden;

struct Row {
    fault: Fault,
    code: i64,
    http: u16,
    status: &'static str,
    reason: &'static str,
    name: &'static str,
}

fn row(
    fault: Fault,
    code: i64,
    http: u16,
    status: &'static str,
    reason: &'static str,
    name: &'static str,
) -> Row {
    Row { fault, code, http, status, reason, name }
}

fn table() -> Vec<Row> {
    let task = || TaskId::from("t-9");
    let what = || "because".to_owned();
    let state = TaskState::Canceled;
    let precondition = "FAILED_PRECONDITION";
    let argument = "INVALID_ARGUMENT";
    let operation = "UNSUPPORTED_OPERATION";
    let path = || "/x".to_owned();
    vec![
        row(
            Fault::TaskNotFound { task: task() },
            -32001,
            404,
            "NOT_FOUND",
            "TASK_NOT_FOUND",
            "TaskNotFoundError",
        ),
        row(
            Fault::TaskNotCancelable { task: task(), state },
            -32002,
            400,
            precondition,
            "TASK_NOT_CANCELABLE",
            "TaskNotCancelableError",
        ),
        row(
            Fault::PushNotSupported,
            -32003,
            400,
            precondition,
            "PUSH_NOTIFICATION_NOT_SUPPORTED",
            "PushNotificationNotSupportedError",
        ),
        row(
            Fault::Unsupported { what: what() },
            -32004,
            400,
            precondition,
            operation,
            "UnsupportedOperationError",
        ),
        row(
            Fault::TaskFinished { task: task(), state },
            -32004,
            400,
            precondition,
            operation,
            "UnsupportedOperationError",
        ),
        row(
            Fault::ContentTypeNotSupported { what: what() },
            -32005,
            400,
            argument,
            "CONTENT_TYPE_NOT_SUPPORTED",
            "ContentTypeNotSupportedError",
        ),
        row(
            Fault::InvalidAgentResponse { what: what() },
            -32006,
            500,
            "INTERNAL",
            "INVALID_AGENT_RESPONSE",
            "InvalidAgentResponseError",
        ),
        row(
            Fault::ExtendedCardNotConfigured,
            -32007,
            400,
            precondition,
            "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
            "AuthenticatedExtendedCardNotConfiguredError",
        ),
        row(
            Fault::ExtensionRequired { uri: "https://x".into() },
            -32008,
            400,
            precondition,
            "EXTENSION_SUPPORT_REQUIRED",
            "ExtensionSupportRequiredError",
        ),
        row(version_fault(), -32009, 400, precondition, "VERSION_NOT_SUPPORTED", "VersionNotSupportedError"),
        row(Fault::Unparsable { what: what() }, -32700, 400, argument, "INVALID_REQUEST", "JSONParseError"),
        row(
            Fault::InvalidRequest { what: what() },
            -32600,
            400,
            argument,
            "INVALID_REQUEST",
            "InvalidRequestError",
        ),
        row(
            Fault::MethodNotFound { method: "m".into() },
            -32601,
            404,
            "UNIMPLEMENTED",
            "METHOD_NOT_FOUND",
            "MethodNotFoundError",
        ),
        row(Fault::invalid("a", "is b"), -32602, 400, argument, "INVALID_PARAMS", "InvalidParamsError"),
        row(Fault::Internal, -32603, 500, "INTERNAL", "INTERNAL_ERROR", "InternalError"),
        row(
            Fault::RouteNotFound { path: path() },
            -32601,
            404,
            "UNIMPLEMENTED",
            "METHOD_NOT_FOUND",
            "MethodNotFoundError",
        ),
        row(
            Fault::HttpMethodNotAllowed { path: path(), method: "PUT".into(), allowed: "GET" },
            -32601,
            405,
            "UNIMPLEMENTED",
            "METHOD_NOT_FOUND",
            "MethodNotFoundError",
        ),
        row(
            Fault::BodyTooLarge { limit: 9 },
            -32600,
            413,
            argument,
            "INVALID_REQUEST",
            "InvalidRequestError",
        ),
        row(
            Fault::MediaTypeNotAccepted { found: "text/html".into() },
            -32005,
            400,
            argument,
            "CONTENT_TYPE_NOT_SUPPORTED",
            "ContentTypeNotSupportedError",
        ),
        row(Fault::Unauthenticated, -32000, 401, "UNAUTHENTICATED", "UNAUTHENTICATED", "AuthenticationError"),
        row(Fault::TokenNeeded, -32000, 401, "UNAUTHENTICATED", "UNAUTHENTICATED", "AuthenticationError"),
        row(Fault::BadHead { what: what() }, -32600, 400, argument, "INVALID_REQUEST", "InvalidRequestError"),
        row(
            Fault::Forbidden { what: what() },
            -32600,
            403,
            "PERMISSION_DENIED",
            "PERMISSION_DENIED",
            "InvalidRequestError",
        ),
        row(
            Fault::RightMissing { right: Right::Approve },
            -32600,
            403,
            "PERMISSION_DENIED",
            "PERMISSION_DENIED",
            "InvalidRequestError",
        ),
        row(Fault::Unavailable, -32603, 503, "UNAVAILABLE", "UNAVAILABLE", "InternalError"),
        row(
            Fault::StoreFull { what: String::new() },
            -32603,
            503,
            "RESOURCE_EXHAUSTED",
            "STORE_FULL",
            "InternalError",
        ),
        row(
            Fault::StoreUnavailable { what: String::new() },
            -32603,
            503,
            "UNAVAILABLE",
            "STORE_UNAVAILABLE",
            "InternalError",
        ),
        row(Fault::Overloaded, -32603, 503, "UNAVAILABLE", "OVERLOADED", "InternalError"),
        row(Fault::Busy { what: "it is busy" }, -32603, 503, "UNAVAILABLE", "OVERLOADED", "InternalError"),
        row(
            Fault::LimitReached { what: what() },
            -32603,
            429,
            "RESOURCE_EXHAUSTED",
            "LIMIT_REACHED",
            "InternalError",
        ),
    ]
}

fn version_fault() -> Fault {
    Fault::VersionNotSupported { requested: "2.0".into(), supported: vec!["0.3".into(), "1.0".into()] }
}

fn rpc_error(version: Version, id: &jsonrpc::RequestId, fault: &Fault) -> Value {
    let mut out = Vec::new();
    jsonrpc::write_error(version, id, fault, &mut out);
    serde_json::from_slice(&out).unwrap()
}

fn rest_error(version: Version, fault: &Fault) -> (u16, Value) {
    let reply = rest::error(version, fault);
    (reply.status, serde_json::from_slice(&reply.body).unwrap())
}

#[track_caller]
fn check_error_info(info: &Value, reason: &str) {
    assert_eq!(info["@type"], "type.googleapis.com/google.rpc.ErrorInfo");
    assert_eq!(info["reason"], reason);
    assert_eq!(info["domain"], "a2a-protocol.org");
    let metadata = info["metadata"].as_object().unwrap();
    assert!(metadata.values().all(Value::is_string), "{metadata:?}");
}

#[test]
fn every_fault_has_its_code_on_json_rpc() {
    for row in table() {
        for version in Version::ALL {
            let response = rpc_error(version, &jsonrpc::RequestId::Number(3), &row.fault);
            assert_eq!(response["jsonrpc"], "2.0");
            assert_eq!(response["id"], 3);
            assert_eq!(response["error"]["code"], row.code, "{:?}", row.fault);
            assert_eq!(response["error"]["message"], row.fault.to_string());
            let data = &response["error"]["data"];
            match version {
                Version::V1_0 => check_error_info(&data[0], row.reason),
                Version::V0_3 => assert!(data.is_object() || data.is_null(), "{data}"),
            }
        }
        let at_http_level =
            matches!(row.http, 401 | 403 | 413 | 429 | 503) || matches!(row.fault, Fault::BadHead { .. });
        let expected = match row.fault {
            Fault::MediaTypeNotAccepted { .. } => 415,
            _ if at_http_level => row.http,
            _ => 200,
        };
        assert_eq!(jsonrpc::http_status(&row.fault), expected);
    }
}

#[test]
fn every_fault_has_its_status_and_body_on_rest() {
    for row in table() {
        let (status, body) = rest_error(Version::V1_0, &row.fault);
        let error = &body["error"];
        assert_eq!(status, row.http, "{:?}", row.fault);
        assert_eq!(error["code"], row.http);
        assert_eq!(error["status"], row.status, "{:?}", row.fault);
        assert_eq!(error["message"], row.fault.to_string());
        check_error_info(&error["details"][0], row.reason);

        let (status, body) = rest_error(Version::V0_3, &row.fault);
        assert_eq!(status, row.http);
        assert_eq!(body["type"], row.name);
        assert_eq!(body["code"], row.code);
        assert_eq!(body["message"], row.fault.to_string());
        assert!(body.get("data").is_none_or(Value::is_object), "{body}");
    }
}

#[test]
fn errors_are_written_as_the_golden_files_have_them() {
    let violation =
        |field: &str, description: &str| Violation { field: field.into(), description: description.into() };
    let two = Fault::InvalidParams {
        violations: vec![
            violation("message.messageId", "is required"),
            violation("message.parts", "must hold at least one part"),
        ],
    };
    let missing = Fault::TaskNotFound { task: TaskId::from("t-9") };
    let id = jsonrpc::RequestId::Text("req-1".into());
    let number = jsonrpc::RequestId::Number(7);
    let null = jsonrpc::RequestId::Null;
    let page_size = Fault::invalid("pageSize", "must be between 1 and 100, but is 0");
    let content = Fault::invalid("message.content", "is required");
    for (written, name) in [
        (rpc_error(Version::V1_0, &id, &two), "v1_0/out/rpc_invalid_params.json"),
        (rpc_error(Version::V1_0, &number, &missing), "v1_0/out/rpc_task_not_found.json"),
        (rest_error(Version::V1_0, &version_fault()).1, "v1_0/out/rest_version_not_supported.json"),
        (rest_error(Version::V1_0, &page_size).1, "v1_0/out/rest_invalid_params.json"),
        (rpc_error(Version::V0_3, &id, &two), "v0_3_rpc/out/invalid_params.json"),
        (rpc_error(Version::V0_3, &null, &Fault::Internal), "v0_3_rpc/out/internal.json"),
        (rest_error(Version::V0_3, &missing).1, "v0_3_rest/out/task_not_found.json"),
        (rest_error(Version::V0_3, &content).1, "v0_3_rest/out/invalid_params.json"),
    ] {
        assert_eq!(written, golden::value(name), "{name}");
    }
}

#[test]
fn what_a_program_can_use_of_a_fault_stands_in_its_metadata() {
    for (fault, expected) in [
        (Fault::TaskNotFound { task: TaskId::from("t") }, json!({ "taskId": "t" })),
        (
            Fault::TaskFinished { task: TaskId::from("t"), state: TaskState::Failed },
            json!({ "taskId": "t", "state": "TASK_STATE_FAILED" }),
        ),
        (Fault::ExtensionRequired { uri: "https://x".into() }, json!({ "extension": "https://x" })),
        (version_fault(), json!({ "supportedVersions": "0.3,1.0" })),
        (Fault::MethodNotFound { method: "m".into() }, json!({ "method": "m" })),
        (Fault::BodyTooLarge { limit: 9 }, json!({ "limit": "9" })),
        (Fault::MediaTypeNotAccepted { found: "text/html".into() }, json!({ "contentType": "text/html" })),
    ] {
        let response = rpc_error(Version::V1_0, &jsonrpc::RequestId::Null, &fault);
        assert_eq!(response["error"]["data"][0]["metadata"], expected);
        let response = rpc_error(Version::V0_3, &jsonrpc::RequestId::Null, &fault);
        assert_eq!(response["error"]["data"], expected);
    }
}

#[test]
fn the_media_type_of_rest_depends_on_the_version() {
    assert_eq!(rest::content_type(Version::V0_3), "application/json");
    assert_eq!(rest::content_type(Version::V1_0), "application/a2a+json");
}

#[test]
fn where_trying_again_may_help_it_says_when() {
    let expected = json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "2s"});
    let id = jsonrpc::RequestId::Number(3);
    assert_eq!(rpc_error(Version::V1_0, &id, &Fault::Overloaded)["error"]["data"][1], expected);
    assert_eq!(rest_error(Version::V1_0, &Fault::Overloaded).1["error"]["details"][1], expected);
    assert_eq!(rest_error(Version::V1_0, &Fault::Unavailable).1["error"]["details"][1], Value::Null);
}
