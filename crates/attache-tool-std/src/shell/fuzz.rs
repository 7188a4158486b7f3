//! Arbitrary bytes as the output of a program.

use super::bounded_text::PIECE;
use super::screen::COLUMNS;
use super::terminal_text::TerminalText;

const LIMIT: usize = 2000;
const ROWS: usize = 20;

/// Text is the same for any split of its bytes, and within its limit. For binary output the result depends on the size
/// of the first piece.
pub(crate) fn said(bytes: &[u8]) {
    let (whole, is_binary) = terminal_text(bytes.chunks(bytes.len().max(1)));
    let (pieced, was_binary) = terminal_text(bytes.chunks(3));
    if !is_binary && !was_binary {
        assert_eq!(pieced, whole);
    }
    // The rows that can still change are not counted. Each is as wide as the terminal or as its text.
    let limit = LIMIT + PIECE + ROWS * COLUMNS + 4 * bytes.len() + 200;
    assert!(whole.len() <= limit, "{} bytes of {}", whole.len(), bytes.len());
}

fn terminal_text<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (String, bool) {
    let mut terminal_text = TerminalText::new(LIMIT, ROWS);
    for piece in pieces {
        terminal_text.take(piece, |_| {});
    }
    terminal_text.finish();
    (terminal_text.text(), terminal_text.binary().is_some())
}
