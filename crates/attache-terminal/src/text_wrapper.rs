//! Turns the pieces of an answer into lines as soon as they are full.
//!
//! A line ends where the model ends it. A longer one is broken between words once it fills the terminal, so that a long
//! paragraph appears while it is written. Lines of code are never broken: people copy them.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

const FENCE: &str = "```";

/// Longer text without a line break is printed before it ends.
const MAX_PENDING_BYTES: usize = 16 << 10;

#[derive(Debug, Default)]
pub(crate) struct TextWrapper {
    pending: String,
    in_code: bool,
}

impl TextWrapper {
    /// Adds a piece and returns the lines that are full now.
    pub(crate) fn push(&mut self, piece: &str, columns: usize) -> Vec<String> {
        self.pending.push_str(piece);
        let mut lines = Vec::new();
        while let Some(end) = self.pending.find('\n') {
            let line: String = self.pending.drain(..=end).collect();
            lines.push(self.finished(line.trim_end_matches(['\n', '\r']).to_owned()));
        }
        let is_code = self.in_code || self.pending.trim_start().starts_with('`');
        while !is_code && let Some(end) = break_at(&self.pending, columns) {
            let rest = self.pending.split_off(end);
            let line = std::mem::replace(&mut self.pending, rest.trim_start_matches(' ').to_owned());
            lines.push(line.trim_end().to_owned());
        }
        if self.pending.len() > MAX_PENDING_BYTES {
            lines.push(std::mem::take(&mut self.pending));
        }
        lines
    }

    pub(crate) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// The beginning of a line whose end is yet to come.
    pub(crate) fn flush(&mut self) -> Option<String> {
        Some(std::mem::take(&mut self.pending)).filter(|rest| !rest.is_empty())
    }

    /// The rest of the text, which no line break follows.
    pub(crate) fn finish(&mut self) -> Option<String> {
        self.in_code = false;
        self.flush()
    }

    fn finished(&mut self, line: String) -> String {
        self.in_code ^= line.trim_start().starts_with(FENCE);
        line
    }
}

/// Where a line that is wider than the terminal is broken: at its last blank that still fits.
fn break_at(line: &str, columns: usize) -> Option<usize> {
    if columns < 20 || line.len() < columns || line.width() < columns {
        return None;
    }
    let (mut width, mut last_blank) = (0, None);
    for (place, character) in line.char_indices() {
        width += character.width().unwrap_or(0);
        if width >= columns {
            break;
        }
        if character == ' ' && place > 0 {
            last_blank = Some(place);
        }
    }
    last_blank
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pieces: &[&str], lines: &[&str], rest: Option<&str>) {
        let mut wrapper = TextWrapper::default();
        let found: Vec<_> = pieces.iter().flat_map(|piece| wrapper.push(piece, 20)).collect();
        assert_eq!(found, lines);
        assert_eq!(wrapper.finish().as_deref(), rest);
    }

    #[test]
    fn a_line_appears_when_it_is_full() {
        check(&["Hel", "lo\nyou", " there"], &["Hello"], Some("you there"));
        check(&["one two three four five"], &["one two three four"], Some("five"));
        check(&["one two three ", "four ", "five six"], &["one two three four"], Some("five six"));
        check(&["unbreakable-word-of-length"], &[], Some("unbreakable-word-of-length"));
        check(&["a\r\n\nb"], &["a", ""], Some("b"));
        check(&["wide 漢字漢字 漢字漢字 x"], &["wide 漢字漢字"], Some("漢字漢字 x"));
    }

    #[test]
    fn code_is_not_broken() {
        let code = "let long = one + two + three + four;";
        check(&["```rust\n", code, "\n```\n"], &["```rust", code, "```"], None);
        check(
            &["```\nx\n```\n", "one two three four five"],
            &["```", "x", "```", "one two three four"],
            Some("five"),
        );
    }
}
