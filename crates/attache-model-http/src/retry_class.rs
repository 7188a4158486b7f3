//! The retry class of an error of OpenAI, Anthropic or a compatible server: which status is retried, and after which delay.
//!
//! Their words differ, but none of them means two things, so one reading does for all.

use std::time::Duration;

use attache_model::LanguageError;
use serde_json::Value;

use crate::answer_request::ResponseHead;
use crate::failed_attempt::{
    FailedAttempt, MAX_RETRY_DELAY, NOT_SERVED, RetryDecision, delay_in, readable, shortened,
};

/// An error as the provider describes it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct RequestError {
    status: Option<u16>,
    /// What kind it is, and more exactly, in the provider's words.
    kind: String,
    code: String,
    message: String,
    delay: Option<Duration>,
    /// The provider says that a retry is useless.
    permanent: bool,
    /// It came as a page for people, which is not how providers speak.
    page: bool,
}

impl RequestError {
    /// An answer with an error status.
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

    /// An error in the middle of an answer, without a status.
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
        let what = self.text();
        let status = self.status_or_kind();
        let end = |end: LanguageError| (None, end);
        let (again, end) = if self.is_too_long(status) {
            end(LanguageError::TooLong { what: what.clone() })
        } else if self.is_exhausted(status) {
            end(self.exhausted(&what))
        } else if self.is_unknown_model(status) {
            end(LanguageError::NoSuchModel { model: model.to_owned(), what: what.clone() })
        } else {
            match status {
                401 | 403 => end(LanguageError::Credential { what: what.clone() }),
                404 => end(LanguageError::Request { what: format!("{what}; {NOT_SERVED}") }),
                300..=399 => end(LanguageError::Request {
                    what: format!("{what}; the address leads elsewhere: set the one it leads to"),
                }),
                408 | 409 | 429 | 499 | 500.. => self.passing(status, &what),
                _ => end(LanguageError::Request { what: what.clone() }),
            }
        };
        FailedAttempt { why: what, retry: again, error: end }
    }

    fn passing(&self, status: u16, what: &str) -> (Option<RetryDecision>, LanguageError) {
        let again = (!self.permanent).then_some(RetryDecision::After(self.delay));
        let too_long = self.delay.is_some_and(|delay| delay > MAX_RETRY_DELAY);
        match status {
            429 if too_long => (None, self.exhausted(what)),
            _ => (again, LanguageError::Unavailable { what: what.to_owned() }),
        }
    }

    /// The status, also where only a kind was given.
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
        status == 413 || self.is(WORDS) || matches!(status, 400 | 422 | 500) && self.says(SAID)
    }

    fn is_exhausted(&self, status: u16) -> bool {
        const WORDS: &[&str] = &[
            "insufficient_quota",
            "billing_hard_limit_reached",
            "billing_not_active",
            "billing_error",
            "enforced_spend_limit_reached",
        ];
        status == 402 || self.is(WORDS) || status == 400 && self.says(&["credit balance is too low"])
    }

    fn is_unknown_model(&self, status: u16) -> bool {
        let named = || !self.page && self.says(&["model"]);
        match status {
            // That something is not there is said of paths too.
            404 => self.is(&["model_not_found"]) || named(),
            400 | 403 => self.is(&["model_not_found"]),
            _ => false,
        }
    }

    fn exhausted(&self, what: &str) -> LanguageError {
        LanguageError::QuotaExhausted { what: what.to_owned(), retry_after: self.delay }
    }

    fn text(&self) -> String {
        let status = self.status.map(|status| status.to_string()).unwrap_or_default();
        let exact = if self.code.is_empty() { &self.kind } else { &self.code };
        let label = format!("{status} {exact}");
        match (label.trim(), self.message.as_str()) {
            ("", "") => "an error without a word".into(),
            ("", message) => message.to_owned(),
            (label, "") => label.to_owned(),
            (label, message) => format!("{message} ({label})"),
        }
    }
}

/// How long the head asks to wait.
fn wanted(head: &ResponseHead) -> Option<Duration> {
    let number = |text: &Option<String>| text.as_deref()?.trim().parse::<f64>().ok();
    if let Some(milliseconds) = number(&head.retry_after_ms) {
        return Duration::try_from_secs_f64(milliseconds / 1000.0).ok();
    }
    if let Some(seconds) = number(&head.retry_after) {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    // A date is held against the server's own, because clocks differ.
    let at = |text: &Option<String>| {
        let parser = jiff::fmt::rfc2822::DateTimeParser::new();
        parser.parse_timestamp(text.as_deref()?).ok()
    };
    let pause = at(&head.retry_after)?.duration_since(at(&head.date)?);
    Some(Duration::try_from(pause).unwrap_or_default())
}

#[cfg(test)]
#[path = "retry_class_tests.rs"]
mod tests;
