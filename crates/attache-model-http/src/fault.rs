//! What went wrong, and whether another try may help: the same for every provider.

use std::time::Duration;

use attache_model::LanguageError;
use attache_net::NetError;

#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) why: String,
    /// Whether, and how, another try may help.
    pub(crate) again: Option<Again>,
    /// What it comes to when nothing helps.
    pub(crate) end: LanguageError,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    /// After the pause that was asked for, if any.
    After(Option<Duration>),
    NoCapacity,
    /// Nobody listens there, which is rather a wrong address than a bad moment.
    NobodyThere,
    /// With another credential.
    Renewed,
}

/// A pause longer than that is not waited for, and is told as a quota that is used up.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// Errors are shown to people; a page of HTML is not worth more than its beginning.
const LONGEST_MESSAGE: usize = 2_000;

impl Fault {
    pub(crate) fn of_network(error: &NetError, place: &str) -> Self {
        let why = format!("{error} ({place})");
        let end = LanguageError::Unavailable { what: why.clone() };
        match error {
            NetError::Connect { what } if is_refused(what) => {
                let what = format!("{why}; nobody listens there: is the address right?");
                let end = LanguageError::Unreachable { what };
                Self { why, again: Some(Again::NobodyThere), end }
            }
            error if error.may_pass() => Self { why, again: Some(Again::After(None)), end },
            _ => Self { end: LanguageError::Request { what: why.clone() }, why, again: None },
        }
    }

    /// An answer came that is none.
    pub(crate) fn of_answer(why: String, end: LanguageError) -> Self {
        Self { why, again: Some(Again::After(None)), end }
    }
}

/// The error of the operating system, which is all that is left of it behind the client.
fn is_refused(what: &str) -> bool {
    what.to_ascii_lowercase().contains("connection refused")
}

pub(crate) fn shortened(message: &str) -> String {
    match message.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => format!("{}…", &message[..end]),
        None => message.to_owned(),
    }
}

/// What a message asks for, such as "Please retry in 12.3s." or "try again in 6m0s".
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
    fn nobody_at_an_address_is_told_from_other_trouble_with_the_network() {
        let again = |error: NetError| Fault::of_network(&error, "http://x").again;
        let connect = |what: &str| NetError::Connect { what: what.into() };
        assert_eq!(again(connect("tcp: Connection refused (os error 111)")), Some(Again::NobodyThere));
        assert_eq!(again(connect("dns error")), Some(Again::After(None)));
        assert_eq!(again(NetError::Broken { what: "reset".into() }), Some(Again::After(None)));
        assert_eq!(again(NetError::Address { what: "no".into() }), None);
    }
}
