//! Turns the pieces of an answer into lines as soon as they are full.
//!
//! A line ends where the model ends it. A longer one is broken between words once it fills the terminal, so that a long
//! paragraph appears while it is written. Lines of code are never broken: people copy them.

use unicode_width::UnicodeWidthChar;

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
        let text = std::mem::take(&mut self.pending);
        let mut lines = Vec::new();
        for line in text.split_inclusive('\n') {
            let is_code = self.in_code || line.trim_start().starts_with('`');
            let whole = line.strip_suffix('\n').map(|line| line.trim_end_matches('\r'));
            let written = whole.unwrap_or(line);
            let rest = if is_code { written } else { break_line(written, columns, &mut lines) };
            if whole.is_some() {
                self.in_code ^= written.trim_start().starts_with(FENCE);
                lines.push(rest.to_owned());
            } else {
                self.pending = rest.to_owned();
            }
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
}

/// A whole text, broken in the same places.
pub(crate) fn wrapped(text: &str, columns: usize) -> String {
    let mut wrapper = TextWrapper::default();
    let mut lines = wrapper.push(text, columns);
    lines.extend(wrapper.finish());
    lines.join("\n")
}

/// Adds the parts of a line that fill the terminal, and returns its rest.
fn break_line<'line>(mut line: &'line str, columns: usize, lines: &mut Vec<String>) -> &'line str {
    while let Some(end) = break_at(line, columns) {
        lines.push(line[..end].trim_end().to_owned());
        line = line[end..].trim_start_matches(' ');
    }
    line
}

/// Where a line that is wider than the terminal is broken: at its last blank that still fits.
fn break_at(line: &str, columns: usize) -> Option<usize> {
    if columns < 20 || line.len() < columns {
        return None;
    }
    let (mut width, mut last_blank) = (0, None);
    for (place, character) in line.char_indices() {
        width += character.width().unwrap_or(0);
        if width >= columns {
            return last_blank;
        }
        if character == ' ' && place > 0 {
            last_blank = Some(place);
        }
    }
    None
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
    fn a_line_that_comes_whole_is_broken_too() {
        check(&["one two three four five\nsix"], &["one two three four", "five"], Some("six"));
        check(&["a\r", "\nb"], &["a"], Some("b"));
        let long = "word ".repeat(100_000);
        assert_eq!(TextWrapper::default().push(&long, 80).len(), 100_000 / 15);
    }

    #[test]
    fn a_whole_text_is_broken_like_a_streamed_one() {
        let text = "one two three four five\n\n- six\n";
        assert_eq!(wrapped(text, 20), "one two three four\nfive\n\n- six");
        assert_eq!(wrapped("", 20), "");
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
