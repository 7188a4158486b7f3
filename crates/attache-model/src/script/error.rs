//! Errors of scripts.

use super::limits::MAX_SCRIPT_BYTES;

/// Why a script cannot be played. The text is for its author.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    #[error("the script has {size} bytes, and at most {MAX_SCRIPT_BYTES} are read")]
    TooLarge { size: usize },
    #[error("line {line}: this is not YAML: {what}")]
    Yaml { line: u64, what: String },
    /// Valid YAML, but not a script. `place` names the rule and the step, if known.
    #[error("line {line}: {place}{what}")]
    Invalid { line: u64, place: String, what: String },
}

/// A mistake without its rule and step, which callers add.
#[derive(Debug)]
pub(super) struct Problem {
    line: u64,
    place: Vec<String>,
    what: String,
}

impl Problem {
    pub(super) fn new(line: u64, what: impl Into<String>) -> Self {
        Self { line, place: Vec::new(), what: what.into() }
    }

    /// Adds a part of the place. The innermost caller comes first.
    pub(super) fn within(mut self, place: impl Into<String>) -> Self {
        self.place.insert(0, place.into());
        self
    }
}

impl From<Problem> for ScriptError {
    fn from(problem: Problem) -> Self {
        let mut place = problem.place.join(", ");
        if !place.is_empty() {
            place.push_str(": ");
        }
        Self::Invalid { line: problem.line, place, what: problem.what }
    }
}
