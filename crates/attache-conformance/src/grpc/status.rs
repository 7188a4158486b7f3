//! The status of a gRPC call: code, message and details.

use attache_proto::rpc::Status;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use http::HeaderMap;
use percent_encoding::percent_decode_str;
use prost_reflect::prost::Message;
use serde_json::Value;

use crate::grpc::message::detail;
use crate::http::ResponseHead;

/// In the order of their numbers.
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

#[derive(Debug, Clone)]
pub(crate) struct GrpcStatus {
    code: Option<usize>,
    http: u16,
    pub(crate) message: String,
    pub(crate) details: Vec<Value>,
}

impl GrpcStatus {
    /// From the trailers, or from the head of a response without a body.
    pub(super) fn of(head: &ResponseHead, trailers: &HeaderMap) -> Self {
        let find = |name: &str| {
            let value = trailers.get(name).or_else(|| head.headers.get(name));
            value.and_then(|value| value.to_str().ok())
        };
        Self {
            code: find("grpc-status").and_then(|code| code.parse().ok()),
            http: head.status,
            message: percent_decoded(find("grpc-message").unwrap_or_default()),
            details: find("grpc-status-details-bin").map(details).unwrap_or_default(),
        }
    }

    pub(crate) fn is_ok(&self) -> bool {
        self.code == Some(0)
    }

    pub(crate) fn name(&self) -> &'static str {
        self.code.and_then(|code| NAMES.get(code)).copied().unwrap_or("no status")
    }

    pub(crate) fn shown(&self) -> String {
        match self.code {
            Some(_) => format!("{}: {}", self.name(), self.message),
            None => format!("HTTP {} without a gRPC status", self.http),
        }
    }
}

fn details(header: &str) -> Vec<Value> {
    let decoded = STANDARD.decode(header).or_else(|_| STANDARD_NO_PAD.decode(header)).unwrap_or_default();
    let status = Status::decode(&*decoded).unwrap_or_default();
    status.details.iter().map(|any| detail(&any.type_url, &any.value)).collect()
}

fn percent_decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_percent_decoded() {
        assert_eq!(percent_decoded("a%20b%C3%A4 100%"), "a bä 100%");
    }
}
