//! One finding of a check.

use std::fmt;

/// Shown as `error[check] place: message`; the message says what to do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    pub(crate) check: &'static str,
    /// A path, with a line number where there is one.
    pub(crate) place: String,
    pub(crate) message: String,
}

impl Finding {
    pub(crate) fn new(check: &'static str, place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { check, place: place.into(), message: message.into() }
    }

    /// A finding at a line, counted from one.
    pub(crate) fn at(check: &'static str, path: &str, line: usize, message: impl Into<String>) -> Self {
        Self::new(check, format!("{path}:{line}"), message)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "error[{}] {}: {}", self.check, self.place, self.message)
    }
}
