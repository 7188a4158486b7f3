//! Reads the response of a webhook.

use std::time::Duration;

use attache_net::HttpResponse;
use attache_session::DeliveryResult;
use jiff::Timestamp;

/// At most this much of a response is read, for this long, so that the connection can be reused.
const MAX_BYTES: usize = 64 << 10;
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

pub(super) async fn read(answer: HttpResponse) -> DeliveryResult {
    let status = answer.status();
    let retry_after = answer.header("retry-after").and_then(|text| parse_retry_after(text, Timestamp::now()));
    let _ = tokio::time::timeout(DRAIN_TIMEOUT, answer.read(MAX_BYTES)).await;
    classify(status, retry_after)
}

fn classify(status: u16, retry_after: Option<Duration>) -> DeliveryResult {
    let failed = |why: String| DeliveryResult::Failed { why, retry_after };
    match status {
        200..=299 => DeliveryResult::Accepted,
        300..=399 => failed(format!("it answers with {status}; redirects are not followed")),
        410 => DeliveryResult::Refused { why: "it answers with 410: it is gone for good".into() },
        _ => failed(format!("it answers with {status}")),
    }
}

/// Seconds, or a date.
pub(super) fn parse_retry_after(text: &str, now: Timestamp) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let date = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    Duration::try_from(date.duration_since(now)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_read_as_seconds_or_as_a_date() {
        let now: Timestamp = "2026-11-15T20:00:00Z".parse().unwrap();
        for (text, expected) in [
            ("120", Some(120)),
            (" 0 ", Some(0)),
            ("Sun, 15 Nov 2026 20:01:30 GMT", Some(90)),
            ("Sun, 15 Nov 2026 19:00:00 GMT", None),
            ("soon", None),
            ("-5", None),
        ] {
            assert_eq!(parse_retry_after(text, now).map(|pause| pause.as_secs()), expected, "{text}");
        }
    }

    #[test]
    fn only_2xx_is_taken_and_only_410_is_for_good() {
        assert_eq!(classify(204, None), DeliveryResult::Accepted);
        assert!(matches!(classify(410, None), DeliveryResult::Refused { .. }));
        for status in [301, 400, 404, 429, 500, 503] {
            assert!(matches!(classify(status, None), DeliveryResult::Failed { .. }), "{status}");
        }
    }
}
