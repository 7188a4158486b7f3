//! Decodes an error of Gemini. `retry_class` decides how it is handled.

use std::time::Duration;

use serde_json::Value;

use crate::failed_attempt::{FailedAttempt, delay_in, duration, error_text, readable, shortened};
use crate::retry_class::{ErrorFacts, ErrorMeaning, classify};

/// A response with an error status.
pub(super) fn of_status(status: u16, retry_after: Option<&str>, body: &[u8], model: &str) -> FailedAttempt {
    let text = String::from_utf8_lossy(body);
    let mut error = GeminiError::read(&text);
    error.status = if status == 200 { error.status } else { Some(status) };
    let seconds = retry_after.and_then(|text| text.trim().parse::<u32>().ok());
    error.delay = error.delay.or(seconds.map(|seconds| Duration::from_secs(seconds.into())));
    error.failed_attempt(model)
}

/// An error event in the middle of an answer.
pub(super) fn of_event(event: &Value, model: &str) -> FailedAttempt {
    let mut error = GeminiError::default();
    error.take_error(event, 0);
    error.failed_attempt(model)
}

/// The facts about an error.
#[derive(Debug, Default, PartialEq)]
struct GeminiError {
    status: Option<u16>,
    name: String,
    message: String,
    /// The reason code.
    reason: String,
    delay: Option<Duration>,
    per_day: bool,
    per_minute: bool,
    /// Whether the error has Gemini's format.
    genuine: bool,
}

impl GeminiError {
    fn read(body: &str) -> Self {
        let mut error = Self { message: readable(body), ..Self::default() };
        if let Ok(value) = serde_json::from_str(body) {
            error.take_body(&value, 0);
        }
        error
    }

    fn take_body(&mut self, body: &Value, depth: usize) {
        match body {
            Value::Array(list) => list.first().into_iter().for_each(|body| self.take_body(body, depth)),
            body => body.get("error").into_iter().for_each(|error| self.take_error(error, depth)),
        }
    }

    fn take_error(&mut self, error: &Value, depth: usize) {
        self.genuine |= error.is_object();
        let code = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
        // Some servers use other codes; then the name decides.
        self.status = code.filter(|code| (300..600).contains(code)).or(self.status);
        if let Some(name) = error.get("status").and_then(Value::as_str) {
            self.name = name.to_owned();
        }
        let message = error.get("message").or(Some(error)).and_then(Value::as_str).unwrap_or_default();
        if !message.is_empty() {
            self.message = shortened(message);
            self.delay = self.delay.or_else(|| delay_in(message));
        }
        for detail in error.get("details").and_then(Value::as_array).into_iter().flatten() {
            self.take_detail(detail);
        }
        // Gateways put the whole body of the upstream error into the message.
        if depth < 3
            && let Ok(inner) = serde_json::from_str::<Value>(message)
        {
            self.take_body(&inner, depth + 1);
        }
    }

    fn take_detail(&mut self, detail: &Value) {
        if let Some(delay) = detail.get("retryDelay").and_then(Value::as_str) {
            self.delay = duration(delay).or(self.delay);
        }
        if let Some(reason) = detail.get("reason").and_then(Value::as_str) {
            self.reason = reason.to_owned();
        }
        for violation in detail.get("violations").and_then(Value::as_array).into_iter().flatten() {
            let id = violation.get("quotaId").and_then(Value::as_str).unwrap_or_default();
            self.per_day |= id.contains("PerDay") || id.contains("Daily");
            self.per_minute |= id.contains("PerMinute");
        }
    }

    fn failed_attempt(self, model: &str) -> FailedAttempt {
        let status = self.status_or_name();
        let facts = ErrorFacts {
            status,
            text: error_text(self.status, &self.name, &self.message),
            meaning: self.meaning(status),
            delay: self.delay,
            is_minute_limit: self.per_minute,
            is_permanent: false,
            has_new_credential: true,
        };
        classify(facts, model)
    }

    fn meaning(&self, status: u16) -> Option<ErrorMeaning> {
        match status {
            429 if self.is_final() => Some(ErrorMeaning::QuotaExhausted),
            429 | 503 if self.reason == "MODEL_CAPACITY_EXHAUSTED" => Some(ErrorMeaning::NoCapacity),
            400 | 401 | 403 if self.reason == "API_KEY_INVALID" => Some(ErrorMeaning::InvalidKey),
            404 if self.genuine => Some(ErrorMeaning::UnknownModel),
            400 if is_too_long(&self.message) => Some(ErrorMeaning::TooLong),
            _ => None,
        }
    }

    /// The status; derived from its name if only the name is given.
    fn status_or_name(&self) -> u16 {
        let by_name = match self.name.as_str() {
            "RESOURCE_EXHAUSTED" => Some(429),
            "UNAVAILABLE" => Some(503),
            "INTERNAL" => Some(500),
            "DEADLINE_EXCEEDED" => Some(504),
            "CANCELLED" => Some(499),
            "UNAUTHENTICATED" => Some(401),
            "PERMISSION_DENIED" => Some(403),
            "NOT_FOUND" => Some(404),
            _ => None,
        };
        self.status.or(by_name).unwrap_or(500)
    }

    fn is_final(&self) -> bool {
        let never = self.message.match_indices("limit: 0").any(|(at, found)| {
            let after = self.message[at + found.len()..].trim_start_matches('.');
            !after.starts_with(|next: char| next.is_ascii_digit())
        });
        self.per_day
            || never
            || matches!(self.reason.as_str(), "QUOTA_EXHAUSTED" | "INSUFFICIENT_G1_CREDITS_BALANCE")
    }
}

fn is_too_long(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    message.contains("token") && (message.contains("exceed") || message.contains("too long"))
        || message.contains("payload size exceeds")
}

#[cfg(test)]
#[path = "request_error_tests.rs"]
mod tests;
