//! The options that come before the command a wrapper starts.

use super::ShellWord;

/// The options of a wrapper that do not change what it starts.
pub(super) struct Options {
    pub(super) plain: &'static [&'static str],
    /// Followed by a value, as the next word or in the same one.
    pub(super) valued: &'static [&'static str],
}

impl Options {
    /// The index of the first operand; none when an option is unknown.
    pub(super) fn skip(&self, words: &[ShellWord]) -> Option<usize> {
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let text = word.text()?;
            if text == "--" {
                return Some(at + 1);
            }
            if !text.starts_with('-') || text == "-" {
                return Some(at);
            }
            at += self.width(text)?;
        }
        Some(at)
    }

    fn width(&self, text: &str) -> Option<usize> {
        if self.plain.contains(&text) {
            return Some(1);
        }
        if self.valued.contains(&text) {
            return Some(2);
        }
        let joined = |option: &&&str| match option.strip_prefix("--") {
            Some(_) => text.strip_prefix(**option).is_some_and(|rest| rest.starts_with('=')),
            None => text.starts_with(**option) && !text.starts_with("--"),
        };
        self.valued.iter().find(joined).map(|_| 1)
    }
}
