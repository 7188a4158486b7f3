//! Faults as gRPC statuses: a code, a text, and details for programs.

use attache_domain::{Fault, Violation, excerpt_in_bytes};
use attache_proto::rpc;
use prost::Message;

use crate::Version;
use crate::devtool::setting_names::name_setting;
use crate::fault::{metadata, names, retry_after};

/// The gRPC codes in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrpcCode {
    InvalidArgument = 3,
    DeadlineExceeded = 4,
    NotFound = 5,
    PermissionDenied = 7,
    ResourceExhausted = 8,
    FailedPrecondition = 9,
    Unimplemented = 12,
    Internal = 13,
    Unavailable = 14,
    Unauthenticated = 16,
}

/// The status that ends a failed call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrpcStatus {
    pub code: GrpcCode,
    pub message: String,
    /// An encoded `google.rpc.Status`.
    pub details: Vec<u8>,
}

/// Longer texts are truncated. A status travels in headers, percent-encoded or in base64, and many clients accept no
/// more than 8 KiB of headers.
const MAX_MESSAGE_BYTES: usize = 480;
const MAX_VIOLATION_BYTES: usize = 160;
/// For all violations together; those that do not fit are left out.
const MAX_VIOLATIONS_BYTES: usize = 2048;

pub fn status(version: Version, fault: &Fault) -> GrpcStatus {
    let fault = &*name_setting(fault);
    let code = code(fault);
    let text = excerpt_in_bytes(&fault.to_string(), MAX_MESSAGE_BYTES);
    // Clients of 0.3 recognise errors by the beginning of the text.
    let message = match version {
        Version::V0_3 => format!("{}: {text}", names(fault).name),
        Version::V1_0 => text,
    };
    let number = code as i32;
    let details = rpc::Status { code: number, message: message.clone(), details: details(fault) };
    GrpcStatus { code, message, details: details.encode_to_vec() }
}

fn code(fault: &Fault) -> GrpcCode {
    match (fault, names(fault).status) {
        (Fault::BodyTooLarge { .. }, _) => GrpcCode::ResourceExhausted,
        (_, "INVALID_ARGUMENT") => GrpcCode::InvalidArgument,
        (_, "NOT_FOUND") => GrpcCode::NotFound,
        (_, "PERMISSION_DENIED") => GrpcCode::PermissionDenied,
        (_, "FAILED_PRECONDITION") => GrpcCode::FailedPrecondition,
        (_, "UNIMPLEMENTED") => GrpcCode::Unimplemented,
        (_, "RESOURCE_EXHAUSTED") => GrpcCode::ResourceExhausted,
        (_, "UNAVAILABLE") => GrpcCode::Unavailable,
        (_, "UNAUTHENTICATED") => GrpcCode::Unauthenticated,
        _ => GrpcCode::Internal,
    }
}

fn details(fault: &Fault) -> Vec<prost_types::Any> {
    let info = rpc::ErrorInfo {
        reason: names(fault).reason.to_owned(),
        domain: "a2a-protocol.org".to_owned(),
        metadata: metadata(fault)
            .into_iter()
            .map(|(name, value)| (name.to_owned(), excerpt_in_bytes(&value, MAX_VIOLATION_BYTES)))
            .collect(),
    };
    let mut details = vec![any("google.rpc.ErrorInfo", &info)];
    let field_violations = violations(fault);
    if !field_violations.is_empty() {
        details.push(any("google.rpc.BadRequest", &rpc::BadRequest { field_violations }));
    }
    if let Some(pause) = retry_after(fault) {
        let retry_delay = prost_types::Duration::try_from(pause).ok();
        details.push(any("google.rpc.RetryInfo", &rpc::RetryInfo { retry_delay }));
    }
    details
}

/// The invalid fields. Faults of the session name none, so they get one here.
fn violations(fault: &Fault) -> Vec<rpc::bad_request::FieldViolation> {
    let violation = |field: &str, description: &str| rpc::bad_request::FieldViolation {
        field: excerpt_in_bytes(field, MAX_VIOLATION_BYTES),
        description: excerpt_in_bytes(description, MAX_VIOLATION_BYTES),
    };
    match fault {
        Fault::InvalidParams { violations } => {
            let all = violations.iter().map(|Violation { field, description }| violation(field, description));
            let mut length = 0;
            all.take_while(|violation| {
                length += violation.encoded_len();
                length <= MAX_VIOLATIONS_BYTES
            })
            .collect()
        }
        Fault::ContextMismatch { .. } => vec![violation("message.context_id", &fault.to_string())],
        Fault::BadPageToken => vec![violation("page_token", &fault.to_string())],
        Fault::BadCursor { .. } => vec![violation("last-event-id", &fault.to_string())],
        _ => Vec::new(),
    }
}

fn any(name: &str, message: &impl Message) -> prost_types::Any {
    prost_types::Any { type_url: format!("type.googleapis.com/{name}"), value: message.encode_to_vec() }
}
