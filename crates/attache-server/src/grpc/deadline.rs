//! The deadline of a call: `grpc-timeout`.

use std::time::Duration;

use attache_domain::Fault;
use attache_wire::proto::{GrpcCode, GrpcStatus};
use http::HeaderMap;
use tokio::time::Instant;

/// When the client stops waiting; none: never.
pub(crate) type Deadline = Option<Instant>;

pub(super) fn of(headers: &HeaderMap) -> Result<Deadline, Fault> {
    let Some(value) = headers.get("grpc-timeout") else { return Ok(None) };
    match value.to_str().ok().and_then(parse) {
        // A deadline beyond what the clock holds never comes.
        Some(timeout) => Ok(Instant::now().checked_add(timeout)),
        None => Err(Fault::InvalidRequest {
            what: "grpc-timeout must be up to eight digits and one of H, M, S, m, u, n".into(),
        }),
    }
}

pub(super) fn exceeded() -> GrpcStatus {
    let message = "the deadline has passed; the task, if there is one, goes on".to_owned();
    GrpcStatus { code: GrpcCode::DeadlineExceeded, message, details: Vec::new() }
}

fn parse(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.is_empty() || digits.len() > 8 || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let count: u64 = digits.parse().ok()?;
    Some(match unit {
        "H" => Duration::from_secs(count * 3600),
        "M" => Duration::from_secs(count * 60),
        "S" => Duration::from_secs(count),
        "m" => Duration::from_millis(count),
        "u" => Duration::from_micros(count),
        "n" => Duration::from_nanos(count),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_have_digits_and_a_unit() {
        for (text, expected) in [
            ("1H", Some(Duration::from_secs(3600))),
            ("2M", Some(Duration::from_secs(120))),
            ("3S", Some(Duration::from_secs(3))),
            ("100m", Some(Duration::from_millis(100))),
            ("5u", Some(Duration::from_micros(5))),
            ("99999999n", Some(Duration::from_nanos(99_999_999))),
            ("100000000n", None),
            ("", None),
            ("S", None),
            ("5", None),
            ("-5S", None),
            ("5 S", None),
            ("5s", None),
            ("5µ", None),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
    }
}
