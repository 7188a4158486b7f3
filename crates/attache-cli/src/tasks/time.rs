//! Formats times for people.

use attache_domain::{Timestamp, visible_line};

/// To the second and in UTC, marked with a `Z`. Anything but an RFC 3339 time stays as the agent wrote it.
pub(super) fn utc(text: &str) -> String {
    match text.parse::<Timestamp>() {
        Ok(time) => format!("{time:.0}").replace('T', " "),
        Err(_) => visible_line(text).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_is_marked_as_utc() {
        assert_eq!(utc("2026-11-15T13:40:50.923Z"), "2026-11-15 13:40:50Z");
        assert_eq!(utc("2026-11-15T15:40:50+02:00"), "2026-11-15 13:40:50Z");
        assert_eq!(utc("tomorrow\u{1b}"), r"tomorrow\u{1b}");
    }
}
