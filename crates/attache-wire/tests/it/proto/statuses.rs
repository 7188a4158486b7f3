//! Faults as gRPC tells them.

use attache_domain::{Fault, Right, TaskState, Violation};
use attache_proto::rpc;
use attache_wire::Version;
use attache_wire::proto::{GrpcCode, GrpcStatus, status};
use prost::Message;

fn task() -> attache_domain::TaskId {
    "t-1".into()
}

fn info(status: &GrpcStatus) -> rpc::ErrorInfo {
    let details = rpc::Status::decode(&*status.details).unwrap();
    assert_eq!((details.code, &details.message), (status.code as i32, &status.message));
    let info = &details.details[0];
    assert_eq!(info.type_url, "type.googleapis.com/google.rpc.ErrorInfo");
    rpc::ErrorInfo::decode(&*info.value).unwrap()
}

#[test]
fn every_error_of_the_table_has_its_code_and_reason() {
    let what = || "it is so".to_owned();
    let table = [
        (Fault::TaskNotFound { task: task() }, GrpcCode::NotFound, "TASK_NOT_FOUND", "TaskNotFoundError"),
        (
            Fault::TaskNotCancelable { task: task(), state: TaskState::Completed },
            GrpcCode::FailedPrecondition,
            "TASK_NOT_CANCELABLE",
            "TaskNotCancelableError",
        ),
        (
            Fault::PushNotSupported,
            GrpcCode::FailedPrecondition,
            "PUSH_NOTIFICATION_NOT_SUPPORTED",
            "PushNotificationNotSupportedError",
        ),
        (
            Fault::Unsupported { what: what() },
            GrpcCode::FailedPrecondition,
            "UNSUPPORTED_OPERATION",
            "UnsupportedOperationError",
        ),
        (
            Fault::ContentTypeNotSupported { what: what() },
            GrpcCode::InvalidArgument,
            "CONTENT_TYPE_NOT_SUPPORTED",
            "ContentTypeNotSupportedError",
        ),
        (
            Fault::InvalidAgentResponse { what: what() },
            GrpcCode::Internal,
            "INVALID_AGENT_RESPONSE",
            "InvalidAgentResponseError",
        ),
        (
            Fault::ExtendedCardNotConfigured,
            GrpcCode::FailedPrecondition,
            "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
            "AuthenticatedExtendedCardNotConfiguredError",
        ),
        (
            Fault::ExtensionRequired { uri: "urn:x".into() },
            GrpcCode::FailedPrecondition,
            "EXTENSION_SUPPORT_REQUIRED",
            "ExtensionSupportRequiredError",
        ),
        (
            Fault::VersionNotSupported { requested: "9.9".into(), supported: vec!["1.0".into()] },
            GrpcCode::FailedPrecondition,
            "VERSION_NOT_SUPPORTED",
            "VersionNotSupportedError",
        ),
        (
            Fault::InvalidRequest { what: what() },
            GrpcCode::InvalidArgument,
            "INVALID_REQUEST",
            "InvalidRequestError",
        ),
        (
            Fault::MethodNotFound { method: what() },
            GrpcCode::Unimplemented,
            "METHOD_NOT_FOUND",
            "MethodNotFoundError",
        ),
        (
            Fault::invalid("id", "is required"),
            GrpcCode::InvalidArgument,
            "INVALID_PARAMS",
            "InvalidParamsError",
        ),
        (Fault::Internal, GrpcCode::Internal, "INTERNAL_ERROR", "InternalError"),
        (Fault::Unavailable, GrpcCode::Unavailable, "UNAVAILABLE", "InternalError"),
        (
            Fault::StoreFull { what: String::new() },
            GrpcCode::ResourceExhausted,
            "STORE_FULL",
            "InternalError",
        ),
        (
            Fault::StoreUnavailable { what: String::new() },
            GrpcCode::Unavailable,
            "STORE_UNAVAILABLE",
            "InternalError",
        ),
        (Fault::Overloaded, GrpcCode::Unavailable, "OVERLOADED", "InternalError"),
        (Fault::Busy { what: "it is busy" }, GrpcCode::Unavailable, "OVERLOADED", "InternalError"),
        (Fault::LimitReached { what: what() }, GrpcCode::ResourceExhausted, "LIMIT_REACHED", "InternalError"),
        (Fault::Unauthenticated, GrpcCode::Unauthenticated, "UNAUTHENTICATED", "AuthenticationError"),
        (Fault::TokenNeeded, GrpcCode::Unauthenticated, "UNAUTHENTICATED", "AuthenticationError"),
        (
            Fault::BadHead { what: what() },
            GrpcCode::InvalidArgument,
            "INVALID_REQUEST",
            "InvalidRequestError",
        ),
        (
            Fault::Forbidden { what: what() },
            GrpcCode::PermissionDenied,
            "PERMISSION_DENIED",
            "InvalidRequestError",
        ),
        (
            Fault::RightMissing { right: Right::Prompt },
            GrpcCode::PermissionDenied,
            "PERMISSION_DENIED",
            "InvalidRequestError",
        ),
        (
            Fault::BodyTooLarge { limit: 9 },
            GrpcCode::ResourceExhausted,
            "INVALID_REQUEST",
            "InvalidRequestError",
        ),
    ];
    for (fault, code, reason, name) in table {
        let v1_0 = status(Version::V1_0, &fault);
        assert_eq!((v1_0.code, &v1_0.message), (code, &fault.to_string()));
        let v0_3 = status(Version::V0_3, &fault);
        assert_eq!((v0_3.code, v0_3.message.clone()), (code, format!("{name}: {fault}")));
        for status in [v0_3, v1_0] {
            let info = info(&status);
            assert_eq!((info.reason.as_str(), info.domain.as_str()), (reason, "a2a-protocol.org"));
        }
    }
}

#[test]
fn what_a_program_can_use_is_in_the_metadata() {
    let fault =
        Fault::VersionNotSupported { requested: "9".into(), supported: vec!["0.3".into(), "1.0".into()] };
    assert_eq!(info(&status(Version::V1_0, &fault)).metadata["supportedVersions"], "0.3,1.0");
    assert_eq!(info(&status(Version::V1_0, &Fault::TaskNotFound { task: task() })).metadata["taskId"], "t-1");
}

#[test]
fn wrong_fields_are_listed() {
    let fault = Fault::InvalidParams {
        violations: vec![
            Violation { field: "message.role".into(), description: "is required".into() },
            Violation { field: "message.parts".into(), description: "must hold at least one part".into() },
        ],
    };
    let details = rpc::Status::decode(&*status(Version::V1_0, &fault).details).unwrap();
    assert_eq!(details.details[1].type_url, "type.googleapis.com/google.rpc.BadRequest");
    let bad = rpc::BadRequest::decode(&*details.details[1].value).unwrap();
    let fields: Vec<_> = bad.field_violations.iter().map(|found| found.field.as_str()).collect();
    assert_eq!(fields, ["message.role", "message.parts"]);
}

#[test]
fn whatever_was_sent_the_status_fits_into_headers() {
    for letter in ["x", "é", "\u{1f600}"] {
        let long = letter.repeat(100_000);
        let violation = Violation { field: long.clone(), description: long.clone() };
        for fault in [
            Fault::TaskNotFound { task: long.clone().into() },
            Fault::InvalidParams { violations: vec![violation; 16] },
            Fault::InvalidRequest { what: long },
        ] {
            let status = status(Version::V0_3, &fault);
            // In percent form and in base64, with some of the 8 KiB left to others.
            let length = 3 * status.message.len() + status.details.len().div_ceil(3) * 4;
            assert!(length < 7 << 10, "{length}");
            assert!(rpc::Status::decode(&*status.details).unwrap().details.len() < 3);
        }
    }
}

#[test]
fn violations_are_listed_as_far_as_there_is_room() {
    let violation = |number: usize| Violation {
        field: format!("message.parts[{number}].metadata"),
        description: "must be an object, not a string".into(),
    };
    let fault = Fault::InvalidParams { violations: (0..16).map(violation).collect() };
    let details = rpc::Status::decode(&*status(Version::V1_0, &fault).details).unwrap();
    let bad = rpc::BadRequest::decode(&*details.details[1].value).unwrap();
    assert_eq!(bad.field_violations.len(), 16);
}

#[test]
fn where_trying_again_may_help_it_says_when() {
    for version in Version::ALL {
        let details = rpc::Status::decode(&*status(version, &Fault::Overloaded).details).unwrap();
        assert_eq!(details.details[1].type_url, "type.googleapis.com/google.rpc.RetryInfo");
        let retry = rpc::RetryInfo::decode(&*details.details[1].value).unwrap();
        assert_eq!(retry.retry_delay.map(|delay| (delay.seconds, delay.nanos)), Some((2, 0)));
        let details = rpc::Status::decode(&*status(version, &Fault::Unavailable).details).unwrap();
        assert_eq!(details.details.len(), 1);
    }
}
