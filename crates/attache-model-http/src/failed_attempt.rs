//! A failed attempt, and whether a retry may help: the same for every provider.

use std::time::Duration;

use attache_domain::excerpt;
use attache_model::LanguageError;
use attache_net::NetError;

use crate::retry::RetryOptions;

#[derive(Debug)]
pub(crate) struct FailedAttempt {
    pub(crate) why: String,
    /// How a retry may help.
    pub(crate) retry: Option<RetryDecision>,
    /// The error if no retry succeeds.
    pub(crate) error: LanguageError,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RetryDecision {
    /// After the requested pause, if any.
    After(Option<Duration>),
    NoCapacity,
    /// Timeouts take too long to be retried often.
    FirstByteTimeout,
    /// The connection was refused: a wrong address is more likely than a temporary failure.
    ConnectionRefused,
    /// With another credential.
    WithNewCredential,
}

/// Error messages are shown to people, so longer ones are cut.
const MAX_MESSAGE_LENGTH: usize = 2_000;
const MAX_TITLE_LENGTH: usize = 200;

impl FailedAttempt {
    pub(crate) fn of_network(error: &NetError, place: &str, retry: &RetryOptions) -> Self {
        let fault = Self::of_error(error, place);
        Self { retry: fault.retry.filter(|_| retry.retry_network_failures), ..fault }
    }

    fn of_error(error: &NetError, place: &str) -> Self {
        let why = format!("{error} ({place})");
        if let Some(guess) = wrong_address(error) {
            let end = LanguageError::Unreachable { what: format!("{why}; {guess}") };
            return Self { why, retry: Some(RetryDecision::ConnectionRefused), error: end };
        }
        let end = LanguageError::Unavailable { what: why.clone() };
        match error {
            NetError::Tls { .. } => {
                Self { error: LanguageError::Unreachable { what: why.clone() }, why, retry: None }
            }
            NetError::IdleTimeout { .. } => {
                Self { why, retry: Some(RetryDecision::FirstByteTimeout), error: end }
            }
            error if error.is_transient() => {
                Self { why, retry: Some(RetryDecision::After(None)), error: end }
            }
            _ => Self { error: LanguageError::Request { what: why.clone() }, why, retry: None },
        }
    }

    /// The response is not an answer.
    pub(crate) fn of_answer(why: String, end: LanguageError) -> Self {
        Self { why, retry: Some(RetryDecision::After(None)), error: end }
    }
}

/// Whether the address is more likely wrong than the server temporarily unavailable. The client keeps only the texts
/// of the operating system's and of TLS errors.
fn wrong_address(error: &NetError) -> Option<&'static str> {
    let NetError::Connect { what } = error else { return None };
    let what = what.to_ascii_lowercase();
    if what.contains("connection refused") {
        Some("the connection was refused: is the address right?")
    } else if what.contains("tls handshake eof") {
        Some("the server closed the connection during the TLS handshake: does it speak HTTPS?")
    } else {
        None
    }
}

/// The body of an error as text for people; of a web page only the title.
pub(crate) fn readable(body: &str) -> String {
    let body = body.trim();
    if !body.starts_with('<') {
        return shortened(body);
    }
    let title = body.split_once("<title>").and_then(|(_, rest)| Some(rest.split_once("</title>")?.0.trim()));
    match title.filter(|title| !title.is_empty() && title.len() <= MAX_TITLE_LENGTH) {
        Some(title) => format!("a web page, {title:?}"),
        None => "a web page".into(),
    }
}

pub(crate) fn shortened(message: &str) -> String {
    excerpt(message, MAX_MESSAGE_LENGTH)
}

/// The message, with the status and the provider's error name in parentheses.
pub(crate) fn error_text(status: Option<u16>, name: &str, message: &str) -> String {
    let status = status.map(|status| status.to_string()).unwrap_or_default();
    let label = format!("{status} {name}");
    match (label.trim(), message) {
        ("", "") => "an error without a word".into(),
        ("", message) => message.to_owned(),
        (label, "") => label.to_owned(),
        (label, message) => format!("{message} ({label})"),
    }
}

/// The delay that a message asks for, such as "Please retry in 12.3s." or "try again in 6m0s".
pub(crate) fn delay_in(message: &str) -> Option<Duration> {
    let after = ["retry in ", "try again in "].iter().find_map(|words| Some(message.split_once(words)?.1))?;
    let end = after.find(|character: char| !character.is_ascii_alphanumeric() && character != '.');
    duration(after[..end.unwrap_or(after.len())].trim_end_matches('.'))
}

/// `12.3s`, `500ms`, `10h17m5.7s`
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    let mut total = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|character: char| character.is_ascii_alphabetic())?;
        let number: f64 = rest[..end].parse().ok()?;
        let unit_end = rest[end..].find(|character: char| !character.is_ascii_alphabetic());
        let unit_end = unit_end.map_or(rest.len(), |length| end + length);
        total += number
            * match &rest[end..unit_end] {
                "d" => 86_400.0,
                "h" => 3_600.0,
                "m" => 60.0,
                "s" => 1.0,
                "ms" => 0.001,
                _ => return None,
            };
        rest = &rest[unit_end..];
    }
    Duration::try_from_secs_f64(total).ok().filter(|_| !text.trim().is_empty())
}

/// Advice for people, in a few words.
#[cfg(test)]
pub(crate) fn outcome(fault: &FailedAttempt) -> String {
    let end = match &fault.error {
        LanguageError::Credential { .. } => "credential",
        LanguageError::Request { .. } => "request",
        LanguageError::NoSuchModel { .. } => "no model",
        LanguageError::TooLong { .. } => "too long",
        LanguageError::QuotaExhausted { .. } => "quota",
        LanguageError::Unavailable { .. } => "unavailable",
        _ => "unusable",
    };
    match fault.retry {
        None => end.into(),
        Some(RetryDecision::After(None)) => format!("again, {end}"),
        Some(RetryDecision::After(Some(pause))) => format!("again in {} s, {end}", pause.as_secs_f64()),
        Some(RetryDecision::NoCapacity) => format!("capacity, {end}"),
        Some(RetryDecision::WithNewCredential) => format!("renew, {end}"),
        Some(RetryDecision::FirstByteTimeout) => format!("silent, {end}"),
        Some(RetryDecision::ConnectionRefused) => format!("refused, {end}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_duration(text: &str, expected: Option<f64>) {
        assert_eq!(duration(text).map(|found| found.as_secs_f64()), expected, "{text}");
    }

    #[test]
    fn durations_are_read() {
        check_duration("1s", Some(1.0));
        check_duration("1m30s", Some(90.0));
        check_duration("250ms", Some(0.25));
        check_duration("", None);
        check_duration("5", None);
        check_duration("s", None);
        check_duration("-1s", None);
        check_duration("5 weeks", None);
        check_duration("1e999s", None);
    }

    #[track_caller]
    fn check_delay(message: &str, expected: Option<f64>) {
        assert_eq!(delay_in(message).map(|found| found.as_secs_f64()), expected, "{message}");
    }

    #[test]
    fn a_message_may_say_how_long_to_wait() {
        check_delay("Please retry in 12.5s.", Some(12.5));
        check_delay("Rate limit reached. Please try again in 6m0s. Visit https://example.com", Some(360.0));
        check_delay("try again in a minute", None);
        check_delay("try again later", None);
    }

    #[test]
    fn of_a_page_the_title_is_told() {
        assert_eq!(readable(" no "), "no");
        assert_eq!(readable("<html><title>404 Not Found</title>"), r#"a web page, "404 Not Found""#);
        assert_eq!(readable("<!doctype html><p>No."), "a web page");
        assert_eq!(readable(&format!("<html><title>{}</title>", "x".repeat(201))), "a web page");
    }

    #[test]
    fn a_connection_that_is_not_safe_is_final() {
        let fault = FailedAttempt::of_error(&NetError::Tls { what: "no TLS".into() }, "https://x");
        assert_eq!((fault.retry, fault.why.as_str()), (None, "no safe connection: no TLS (https://x)"));
        assert!(matches!(fault.error, LanguageError::Unreachable { .. }), "{:?}", fault.error);
    }

    #[test]
    fn an_unreachable_address_differs_from_other_network_failures() {
        let again = |error: NetError| FailedAttempt::of_error(&error, "http://x").retry;
        let connect = |what: &str| NetError::Connect { what: what.into() };
        assert_eq!(
            again(connect("tcp: Connection refused (os error 111)")),
            Some(RetryDecision::ConnectionRefused)
        );
        assert_eq!(
            again(connect("client error (Connect): tls handshake eof")),
            Some(RetryDecision::ConnectionRefused)
        );
        assert_eq!(again(connect("dns error")), Some(RetryDecision::After(None)));
        assert_eq!(again(NetError::Interrupted { what: "reset".into() }), Some(RetryDecision::After(None)));
        assert_eq!(again(NetError::Address { what: "no".into() }), None);
    }
}
