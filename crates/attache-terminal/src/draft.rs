//! The line that is being typed, kept in case the line editor gives up on a key.

use std::cell::RefCell;

use rustyline::completion::Completer;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};

/// A longer line is not kept: it would be copied for every key.
const MAX_BYTES: usize = 64 << 10;

/// The line and the place of the cursor in it, as of the last key.
#[derive(Default)]
pub(crate) struct Draft(RefCell<(String, usize)>);

impl Draft {
    /// What stands before the cursor and after it. The next line begins with nothing.
    pub(crate) fn take(&self) -> (String, String) {
        let (mut line, cursor) = self.0.take();
        let after = line.split_off(line.floor_char_boundary(cursor));
        (line, after)
    }
}

/// The editor asks for a hint after each change of the line. There is none.
impl Hinter for Draft {
    type Hint = String;

    fn hint(&self, line: &str, cursor: usize, _: &Context<'_>) -> Option<String> {
        let mut draft = self.0.borrow_mut();
        draft.0.clear();
        if line.len() <= MAX_BYTES {
            draft.0.push_str(line);
        }
        draft.1 = cursor;
        None
    }
}

impl Completer for Draft {
    type Candidate = String;
}

impl Highlighter for Draft {}

impl Validator for Draft {}

impl Helper for Draft {}

#[cfg(test)]
mod tests {
    use rustyline::history::MemHistory;

    use super::*;

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
