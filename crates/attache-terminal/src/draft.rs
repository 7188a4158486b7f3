//! The line that is being typed, kept in case the line editor gives up on a key.

use std::borrow::Cow;
use std::cell::RefCell;

use attache_domain::terminal_safe;
use rustyline::completion::{Completer, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper, Result};

use crate::completer::Completions;

/// A longer line is not kept: it would be copied for every key.
const MAX_BYTES: usize = 64 << 10;

/// The line and the place of the cursor in it, as of the last key.
#[derive(Default)]
pub(crate) struct Draft {
    line: RefCell<(String, usize)>,
    completions: Completions,
}

impl Draft {
    pub(crate) fn with(completions: Completions) -> Self {
        Self { line: RefCell::default(), completions }
    }

    /// What stands before the cursor and after it. The next line begins with nothing.
    pub(crate) fn take(&self) -> (String, String) {
        let (mut line, cursor) = self.line.take();
        let after = line.split_off(line.floor_char_boundary(cursor));
        (line, after)
    }
}

/// The editor asks for a hint after each change of the line. There is none.
impl Hinter for Draft {
    type Hint = String;

    fn hint(&self, line: &str, cursor: usize, _: &Context<'_>) -> Option<String> {
        let mut draft = self.line.borrow_mut();
        draft.0.clear();
        if line.len() <= MAX_BYTES {
            draft.0.push_str(line);
        }
        draft.1 = cursor;
        None
    }
}

impl Completer for Draft {
    type Candidate = Pair;

    fn complete(&self, line: &str, cursor: usize, _: &Context<'_>) -> Result<(usize, Vec<Pair>)> {
        Ok(self.completions.complete(line, cursor))
    }
}

/// Pasted text must not control the terminal, either. What would is sent to the session, and not shown: the editor takes
/// it to have no width.
impl Highlighter for Draft {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        if matches!(terminal_safe(line), Cow::Borrowed(_)) {
            return Cow::Borrowed(line);
        }
        let is_shown = |letter: &char| terminal_safe(letter.encode_utf8(&mut [0; 4])).chars().count() == 1;
        Cow::Owned(line.chars().filter(is_shown).collect())
    }
}

impl Validator for Draft {}

impl Helper for Draft {}

#[cfg(test)]
mod tests {
    use rustyline::history::MemHistory;

    use super::*;

    #[test]
    fn what_is_pasted_cannot_control_the_terminal() {
        let shown = |line: &'static str| Draft::default().highlight(line, 0).into_owned();
        assert_eq!(shown("a\u{9b}2Jb\u{7}\n\tc\u{202e}d é漢"), "a2Jb\n\tcd é漢");
        assert_eq!(shown("plain"), "plain");
    }

    #[test]
    fn the_line_is_kept_with_its_cursor_unless_it_is_very_long() {
        let (draft, history) = (Draft::default(), MemHistory::new());
        let context = Context::new(&history);
        draft.hint("håll", 3, &context);
        assert_eq!(draft.take(), ("hå".to_owned(), "ll".to_owned()));
        assert_eq!(draft.take(), (String::new(), String::new()));
        draft.hint(&"x".repeat(MAX_BYTES + 1), 7, &context);
        assert_eq!(draft.take(), (String::new(), String::new()));
    }
}
