//! What Gemini says when something is wrong, and what can be done about it.

use std::time::Duration;

use attache_model::LanguageError;
use serde_json::Value;

use crate::failed_attempt::{
    FailedAttempt, MAX_RETRY_DELAY, NOT_SERVED, RetryDecision, delay_in, duration, readable, shortened,
};

/// An answer with an error status.
pub(super) fn of_status(status: u16, retry_after: Option<&str>, body: &[u8], model: &str) -> FailedAttempt {
    let text = String::from_utf8_lossy(body);
    let mut trouble = GeminiError::read(&text);
    trouble.status = if status == 200 { trouble.status } else { Some(status) };
    let seconds = retry_after.and_then(|text| text.trim().parse::<u32>().ok());
    trouble.delay = trouble.delay.or(seconds.map(|seconds| Duration::from_secs(seconds.into())));
    trouble.failed_attempt(model)
}

/// An error in the middle of an answer.
pub(super) fn of_event(error: &Value, model: &str) -> FailedAttempt {
    let mut trouble = GeminiError::default();
    trouble.take_error(error, 0);
    trouble.failed_attempt(model)
}

/// All that is known about an error.
#[derive(Debug, Default, PartialEq)]
struct GeminiError {
    status: Option<u16>,
    name: String,
    message: String,
    /// Why, in one word.
    reason: String,
    delay: Option<Duration>,
    per_day: bool,
    per_minute: bool,
    /// It was said the way Gemini says it.
    genuine: bool,
}

impl GeminiError {
    fn read(body: &str) -> Self {
        let mut trouble = Self { message: readable(body), ..Self::default() };
        if let Ok(value) = serde_json::from_str(body) {
            trouble.take_body(&value, 0);
        }
        trouble
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
        // Some count in another system; then the name has to do.
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
        // Gateways put the whole body of the one behind them into the message.
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
        let what = self.text();
        let passing = |wanted: Option<Duration>| {
            (Some(RetryDecision::After(wanted)), LanguageError::Unavailable { what: what.clone() })
        };
        let refused = || LanguageError::Request { what: what.clone() };
        let (again, end) = match self.status_or_name() {
            429 if self.is_final() => (None, self.exhausted(&what)),
            429 | 503 if self.reason == "MODEL_CAPACITY_EXHAUSTED" => {
                (Some(RetryDecision::NoCapacity), LanguageError::Unavailable { what: what.clone() })
            }
            429 => {
                let minute = self.per_minute.then_some(Duration::from_secs(60));
                let wanted = self.delay.or(minute);
                let (again, end) = passing(wanted);
                let too_long = wanted.is_some_and(|wanted| wanted > MAX_RETRY_DELAY);
                (again, if too_long { self.exhausted(&what) } else { end })
            }
            400 | 401 | 403 if self.reason == "API_KEY_INVALID" => {
                (None, LanguageError::Credential { what: what.clone() })
            }
            401 => (Some(RetryDecision::WithNewCredential), LanguageError::Credential { what: what.clone() }),
            403 => (None, LanguageError::Credential { what: what.clone() }),
            404 if !self.genuine => (None, LanguageError::Request { what: format!("{what}; {NOT_SERVED}") }),
            404 => (None, LanguageError::NoSuchModel { model: model.to_owned(), what: what.clone() }),
            413 => (None, LanguageError::TooLong { what: what.clone() }),
            400 if is_too_long(&self.message) => (None, LanguageError::TooLong { what: what.clone() }),
            402 => (None, self.exhausted(&what)),
            408 | 499 | 500.. => passing(self.delay),
            300..400 => (
                None,
                LanguageError::Request {
                    what: format!("{what}; the address leads elsewhere: set the one it leads to"),
                },
            ),
            _ => (None, refused()),
        };
        FailedAttempt { why: what, retry: again, error: end }
    }

    /// The status, also where only its name was given.
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

    fn exhausted(&self, what: &str) -> LanguageError {
        LanguageError::QuotaExhausted { what: what.to_owned(), retry_after: self.delay }
    }

    fn text(&self) -> String {
        let status = self.status.map(|status| status.to_string()).unwrap_or_default();
        let label = format!("{status} {}", self.name);
        match (label.trim(), self.message.as_str()) {
            ("", "") => "an error without a word".into(),
            ("", message) => message.to_owned(),
            (label, "") => label.to_owned(),
            (label, message) => format!("{message} ({label})"),
        }
    }
}

fn is_too_long(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    message.contains("token") && (message.contains("exceed") || message.contains("too long"))
        || message.contains("payload size exceeds")
}

#[cfg(test)]
#[path = "retry_class_tests.rs"]
mod tests;
