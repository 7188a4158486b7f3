//! Decodes an error of OpenAI, Anthropic or a compatible server.
//!
//! Their formats differ, but the meanings do not conflict, so one decoder is sufficient. `retry_class` decides how an
//! error is handled.

use std::time::Duration;

use serde_json::Value;

use crate::answer_request::ResponseHead;
use crate::failed_attempt::{FailedAttempt, delay_in, error_text, readable, shortened};
use crate::retry_class::{ErrorFacts, ErrorMeaning, classify};

/// An error as the provider describes it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct RequestError {
    status: Option<u16>,
    /// The provider's type and code of the error.
    kind: String,
    code: String,
    message: String,
    delay: Option<Duration>,
    /// Whether the provider says that a retry is useless.
    permanent: bool,
    /// Whether the body is a web page, so it is not from the provider.
    page: bool,
}

impl RequestError {
    /// A response with an error status.
    pub(crate) fn of_answer(head: &ResponseHead, body: &str) -> Self {
        let mut trouble = Self { message: readable(body), ..Self::default() };
        if let Ok(body) = serde_json::from_str::<Value>(body) {
            trouble.take(&body);
        }
        trouble.status = Some(head.status);
        trouble.page = body.trim_start().starts_with('<');
        trouble.delay = wanted(head).or(trouble.delay);
        trouble.permanent = head.should_retry.as_deref() == Some("false");
        trouble
    }

    /// An error event in the middle of an answer, without a status.
    pub(crate) fn of_event(error: &Value) -> Self {
        let mut trouble = Self::default();
        trouble.take(error);
        if trouble.message.is_empty() && !error.is_string() {
            trouble.message = shortened(&error.to_string());
        }
        trouble
    }

    fn take(&mut self, body: &Value) {
        let error = match body {
            Value::Array(list) => return list.first().into_iter().for_each(|first| self.take(first)),
            body => body.get("error").filter(|error| !error.is_null()).unwrap_or(body),
        };
        let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        self.kind = text("type");
        self.code = text("code");
        if let Some(exact) = error.pointer("/details/error_code").and_then(Value::as_str) {
            self.code = exact.to_owned();
        }
        let number = error.get("code").or_else(|| error.get("status")).and_then(Value::as_u64);
        let status = number.and_then(|number| u16::try_from(number).ok());
        self.status = status.filter(|status| (300..600).contains(status));
        let message = match ["message", "detail"].iter().find_map(|key| error.get(key)).unwrap_or(error) {
            Value::String(message) => message.clone(),
            Value::Array(details) => Value::from(details.clone()).to_string(),
            _ => String::new(),
        };
        if !message.is_empty() {
            self.delay = delay_in(&message);
            self.message = shortened(&message);
        }
    }

    pub(crate) fn failed_attempt(self, model: &str) -> FailedAttempt {
        let status = self.status_or_kind();
        let name = if self.code.is_empty() { &self.kind } else { &self.code };
        let facts = ErrorFacts {
            status,
            text: error_text(self.status, name, &self.message),
            meaning: self.meaning(status),
            delay: self.delay,
            is_minute_limit: false,
            is_permanent: self.permanent,
            has_new_credential: false,
        };
        classify(facts, model)
    }

    fn meaning(&self, status: u16) -> Option<ErrorMeaning> {
        if self.is_too_long(status) {
            Some(ErrorMeaning::TooLong)
        } else if self.is_exhausted(status) {
            Some(ErrorMeaning::QuotaExhausted)
        } else if self.is_unknown_model(status) {
            Some(ErrorMeaning::UnknownModel)
        } else {
            None
        }
    }

    /// The status; derived from the error type if only that is given.
    fn status_or_kind(&self) -> u16 {
        let by_word = |word: &str| {
            Some(match word {
                "invalid_request_error" | "BadRequestError" => 400,
                "authentication_error" | "invalid_api_key" => 401,
                "billing_error" => 402,
                "permission_error" => 403,
                "not_found_error" | "NotFoundError" => 404,
                "conflict_error" => 409,
                "request_too_large" => 413,
                "rate_limit_error" | "rate_limit_exceeded" | "tokens" | "requests" => 429,
                "timeout_error" => 504,
                "overloaded_error" => 529,
                _ => return None,
            })
        };
        self.status.or_else(|| by_word(&self.kind)).or_else(|| by_word(&self.code)).unwrap_or(500)
    }

    fn is(&self, words: &[&str]) -> bool {
        words.contains(&self.kind.as_str()) || words.contains(&self.code.as_str())
    }

    fn says(&self, words: &[&str]) -> bool {
        let message = self.message.to_ascii_lowercase();
        words.iter().any(|words| message.contains(words))
    }

    fn is_too_long(&self, status: u16) -> bool {
        const WORDS: &[&str] = &["context_length_exceeded", "exceed_context_size_error", "request_too_large"];
        const SAID: &[&str] = &[
            "prompt is too long",
            "maximum context length",
            "exceeds the context",
            "exceed context limit",
            "exceeds the available context size",
            "exceed the context window",
        ];
        self.is(WORDS) || matches!(status, 400 | 422 | 500) && self.says(SAID)
    }

    fn is_exhausted(&self, status: u16) -> bool {
        const WORDS: &[&str] = &[
            "insufficient_quota",
            "billing_hard_limit_reached",
            "billing_not_active",
            "billing_error",
            "enforced_spend_limit_reached",
        ];
        self.is(WORDS) || status == 400 && self.says(&["credit balance is too low"])
    }

    fn is_unknown_model(&self, status: u16) -> bool {
        let named = || !self.page && self.says(&["model"]);
        match status {
            // Servers also say "not found" about paths.
            404 => self.is(&["model_not_found"]) || named(),
            400 | 403 => self.is(&["model_not_found"]),
            _ => false,
        }
    }
}

/// The delay that the headers ask for.
fn wanted(head: &ResponseHead) -> Option<Duration> {
    let number = |text: &Option<String>| text.as_deref()?.trim().parse::<f64>().ok();
    if let Some(milliseconds) = number(&head.retry_after_ms) {
        return Duration::try_from_secs_f64(milliseconds / 1000.0).ok();
    }
    if let Some(seconds) = number(&head.retry_after) {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    // Compares a date with the server's own clock, because clocks differ.
    let at = |text: &Option<String>| {
        let parser = jiff::fmt::rfc2822::DateTimeParser::new();
        parser.parse_timestamp(text.as_deref()?).ok()
    };
    let pause = at(&head.retry_after)?.duration_since(at(&head.date)?);
    Some(Duration::try_from(pause).unwrap_or_default())
}

#[cfg(test)]
#[path = "request_error_tests.rs"]
mod tests;
