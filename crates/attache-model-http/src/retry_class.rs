//! The retry class of a provider's error: which status is retried, after which delay, and the error if no retry
//! succeeds.
//!
//! This is the only place that decides, for every provider. Each provider decodes its errors (`request_error`,
//! `gemini::request_error`) and passes the facts.

use std::time::Duration;

use attache_model::LanguageError;

use crate::failed_attempt::{FailedAttempt, RetryDecision};

/// A 429 that names a longer delay is reported as an exhausted quota.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(300);

/// The delay after a 429 of a limit per minute that names none.
const MINUTE_LIMIT_DELAY: Duration = Duration::from_secs(60);

/// Added if the response is probably not from the provider's server.
const NOT_SERVED: &str = "nothing is served at that address: is the base URL right?";

/// The facts about an error, in no provider's format.
#[derive(Debug)]
pub(crate) struct ErrorFacts {
    /// The status of the response, or the one that the provider's error name stands for.
    pub(crate) status: u16,
    /// The message for people.
    pub(crate) text: String,
    /// A fact beyond the status.
    pub(crate) meaning: Option<ErrorMeaning>,
    /// How long the provider asks to wait.
    pub(crate) delay: Option<Duration>,
    /// Whether the exceeded limit is one per minute.
    pub(crate) is_minute_limit: bool,
    /// Whether the provider says that a retry is useless.
    pub(crate) is_permanent: bool,
    /// Whether a refused credential can be renewed.
    pub(crate) has_new_credential: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorMeaning {
    /// The prompt does not fit into the model's context.
    TooLong,
    /// A wait of some minutes does not help.
    QuotaExhausted,
    /// The model is at capacity.
    NoCapacity,
    UnknownModel,
    /// No request with this key can succeed.
    InvalidKey,
}

/// Decides how the error of a request to `model` is handled.
pub(crate) fn classify(facts: ErrorFacts, model: &str) -> FailedAttempt {
    let ErrorFacts { status, text, meaning, delay, is_minute_limit, is_permanent, has_new_credential } =
        facts;
    let delay = delay.or((status == 429 && is_minute_limit).then_some(MINUTE_LIMIT_DELAY));
    let what = text.clone();
    let exhausted = |what| LanguageError::QuotaExhausted { what, retry_after: delay };
    let is_long_delay = delay.is_some_and(|delay| delay > MAX_RETRY_DELAY);
    let (retry, error) = match (meaning, status) {
        (Some(ErrorMeaning::TooLong), _) | (None, 413) => (None, LanguageError::TooLong { what }),
        (Some(ErrorMeaning::QuotaExhausted), _) | (None, 402) => (None, exhausted(what)),
        (Some(ErrorMeaning::UnknownModel), _) => {
            (None, LanguageError::NoSuchModel { model: model.to_owned(), what })
        }
        (Some(ErrorMeaning::NoCapacity), _) => {
            (Some(RetryDecision::NoCapacity), LanguageError::Unavailable { what })
        }
        (Some(ErrorMeaning::InvalidKey), _) => (None, LanguageError::Credential { what }),
        (None, 401) => {
            let renewed = has_new_credential.then_some(RetryDecision::WithNewCredential);
            (renewed, LanguageError::Credential { what })
        }
        (None, 403) => (None, LanguageError::Credential { what }),
        (None, 404) => (None, LanguageError::Request { what: format!("{what}; {NOT_SERVED}") }),
        (None, 300..=399) => {
            let what = format!("{what}; the address leads elsewhere: set the one it leads to");
            (None, LanguageError::Request { what })
        }
        (None, 429) if is_long_delay => (None, exhausted(what)),
        (None, 408 | 409 | 429 | 499 | 500..) => {
            let again = (!is_permanent).then_some(RetryDecision::After(delay));
            (again, LanguageError::Unavailable { what })
        }
        (None, _) => (None, LanguageError::Request { what }),
    };
    FailedAttempt { why: text, retry, error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failed_attempt::outcome;

    fn facts(status: u16) -> ErrorFacts {
        let (text, meaning, delay) = ("no".to_owned(), None, None);
        ErrorFacts {
            status,
            text,
            meaning,
            delay,
            is_minute_limit: false,
            is_permanent: false,
            has_new_credential: false,
        }
    }

    #[track_caller]
    fn check(facts: ErrorFacts, expected: &str) {
        let shown = format!("{facts:?}");
        assert_eq!(outcome(&classify(facts, "m")), expected, "{shown}");
    }

    #[test]
    fn each_status_has_its_class() {
        for (status, expected) in [
            (307, "request"),
            (400, "request"),
            (401, "credential"),
            (402, "quota"),
            (403, "credential"),
            (404, "request"),
            (408, "again, unavailable"),
            (409, "again, unavailable"),
            (413, "too long"),
            (422, "request"),
            (429, "again, unavailable"),
            (499, "again, unavailable"),
            (500, "again, unavailable"),
            (529, "again, unavailable"),
        ] {
            check(facts(status), expected);
        }
        check(ErrorFacts { has_new_credential: true, ..facts(401) }, "renew, credential");
        check(ErrorFacts { has_new_credential: true, ..facts(403) }, "credential");
    }

    #[test]
    fn a_429_is_retried_after_the_delay_that_it_names_unless_that_is_too_long() {
        let after =
            |status, seconds| ErrorFacts { delay: Some(Duration::from_secs(seconds)), ..facts(status) };
        check(after(429, 7), "again in 7 s, unavailable");
        check(after(429, 300), "again in 300 s, unavailable");
        check(after(429, 301), "quota");
        check(after(503, 301), "again in 301 s, unavailable");
        let per_minute = |status| ErrorFacts { is_minute_limit: true, ..facts(status) };
        check(per_minute(429), "again in 60 s, unavailable");
        check(per_minute(503), "again, unavailable");
        check(ErrorFacts { is_permanent: true, ..after(429, 7) }, "unavailable");
    }

    #[test]
    fn a_meaning_says_more_than_the_status() {
        let meaning = |status, meaning| ErrorFacts { meaning: Some(meaning), ..facts(status) };
        check(meaning(400, ErrorMeaning::TooLong), "too long");
        check(meaning(429, ErrorMeaning::QuotaExhausted), "quota");
        check(meaning(404, ErrorMeaning::UnknownModel), "no model");
        check(meaning(503, ErrorMeaning::NoCapacity), "capacity, unavailable");
        let renewable = ErrorFacts { has_new_credential: true, ..meaning(401, ErrorMeaning::InvalidKey) };
        check(renewable, "credential");
    }
}
