//! An error response of any binding.

use serde_json::Value;

use crate::check::{CheckResult, fail};
use crate::expected_error::ExpectedError;
use crate::http::{HttpResponse, ResponseHead};
use crate::protocol::{Binding, Version};
use crate::text::{shortened, shown};

#[derive(Debug, Clone)]
pub(crate) struct ErrorResponse {
    pub(crate) version: Version,
    pub(crate) binding: Binding,
    pub(crate) head: ResponseHead,
    /// The code of a JSON-RPC error, also in a REST body.
    pub(crate) code: Option<i64>,
    /// The name of a gRPC status, also in a REST body.
    pub(crate) status: Option<String>,
    /// The name of an error type in 0.3.
    pub(crate) name: Option<String>,
    pub(crate) message: String,
    /// `details` or `data`, if it is a list.
    pub(crate) details: Vec<Value>,
    /// The whole body, or a description of the gRPC status.
    pub(crate) body: Value,
}

impl ErrorResponse {
    /// From a JSON-RPC response with an `error`.
    pub(crate) fn of_json_rpc(version: Version, head: ResponseHead, body: Value) -> Self {
        let error = &body["error"];
        Self {
            version,
            binding: Binding::JsonRpc,
            code: error["code"].as_i64(),
            status: None,
            name: None,
            message: error["message"].as_str().unwrap_or_default().to_owned(),
            details: error["data"].as_array().cloned().unwrap_or_default(),
            head,
            body,
        }
    }

    pub(crate) fn of_rest(version: Version, answer: &HttpResponse) -> Self {
        let body = answer.json().unwrap_or_else(|_| Value::from(answer.text()));
        let error = if body["error"].is_object() { &body["error"] } else { &body };
        let text = |member: &str| error[member].as_str().map(str::to_owned);
        Self {
            version,
            binding: Binding::Rest,
            head: answer.head.clone(),
            // A positive number is the HTTP status again.
            code: error["code"].as_i64().filter(|code| *code < 0),
            status: text("status"),
            name: text("type").or_else(|| text("name")),
            message: text("message").unwrap_or_default(),
            details: error["details"].as_array().cloned().unwrap_or_default(),
            body,
        }
    }

    /// The reason in the `ErrorInfo`.
    pub(crate) fn reason(&self) -> Option<&str> {
        self.error_info()?["reason"].as_str()
    }

    pub(crate) fn error_info(&self) -> Option<&Value> {
        let is_info = |detail: &&Value| {
            detail["@type"].as_str().is_some_and(|kind| kind.ends_with("google.rpc.ErrorInfo"))
        };
        self.details.iter().find(is_info)
    }

    /// Whether it means `expected`, in any form of its binding. Other checks cover the form.
    pub(crate) fn is(&self, expected: ExpectedError) -> bool {
        let names = expected.names();
        if self.binding == Binding::JsonRpc {
            return self.code == Some(names.code);
        }
        if expected.is_of_a2a()
            && let Some(reason) = self.reason()
        {
            return reason == names.reason;
        }
        if let Some(code) = self.code {
            return code == names.code;
        }
        if let Some(name) = &self.name {
            return name == names.name
                || (expected == ExpectedError::ExtendedCardNotConfigured && name.contains("ExtendedCard"));
        }
        if let Some(prefix) = self.message.split(':').next().filter(|prefix| prefix.ends_with("Error")) {
            return prefix == names.name;
        }
        match self.binding {
            Binding::Grpc => self.status.as_deref() == Some(names.grpc),
            // Validation of frameworks returns 422.
            _ => {
                self.head.status == names.http
                    || (expected == ExpectedError::InvalidParams && self.head.status == 422)
            }
        }
    }

    pub(crate) fn expect(&self, expected: ExpectedError) -> CheckResult {
        if self.is(expected) {
            return Ok(());
        }
        fail(format!("expected {}, got {}", expected.on(self.version, self.binding), self.shown()))
    }

    pub(crate) fn shown(&self) -> String {
        match self.binding {
            Binding::Grpc => {
                let status = self.status.as_deref().unwrap_or("no status");
                let reason = self.reason().map(|reason| format!(" ({reason})")).unwrap_or_default();
                format!("{status}{reason}: {}", shortened(&self.message))
            }
            _ => format!("HTTP {} {}", self.head.status, shown(&self.body)),
        }
    }
}

/// The outcome of a call.
#[derive(Debug)]
pub(crate) enum Reply<T> {
    Done(T, ResponseHead),
    Refused(ErrorResponse),
}

impl<T> Reply<T> {
    pub(crate) fn done(self) -> CheckResult<T> {
        self.done_with_head().map(|(value, _)| value)
    }

    pub(crate) fn done_with_head(self) -> CheckResult<(T, ResponseHead)> {
        match self {
            Self::Done(value, head) => Ok((value, head)),
            Self::Refused(refusal) => fail(format!("the call was refused: {}", refusal.shown())),
        }
    }

    /// The expected error, of any kind.
    pub(crate) fn refused(self) -> CheckResult<ErrorResponse> {
        match self {
            Self::Done(..) => fail("the call was served"),
            Self::Refused(refusal) => Ok(refusal),
        }
    }

    pub(crate) fn expect(self, expected: ExpectedError) -> CheckResult {
        match self {
            Self::Done(..) => fail(format!("expected {}, but the call was served", expected.names().name)),
            Self::Refused(refusal) => refusal.expect(expected),
        }
    }

    pub(crate) fn map<U>(self, read: impl FnOnce(T) -> CheckResult<U>) -> CheckResult<Reply<U>> {
        Ok(match self {
            Self::Done(value, head) => Reply::Done(read(value)?, head),
            Self::Refused(refusal) => Reply::Refused(refusal),
        })
    }
}
