//! Writes text with folded white space and few line breaks.

use std::mem::take;

/// Writes text up to a limit.
#[derive(Debug, Default)]
pub(super) struct TextWriter {
    text: String,
    limit: usize,
    /// Line ends to write before the next word.
    breaks: u8,
    /// Whether to write a space before the next word.
    space: bool,
    /// To write before the next word: the mark of a heading or an item.
    prefix: String,
    /// The start of the open link's text.
    link: Option<usize>,
    pub(super) preformatted: bool,
}

impl TextWriter {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    pub(super) fn is_full(&self) -> bool {
        self.text.len() >= self.limit
    }

    pub(super) fn write(&mut self, text: &str) {
        if self.preformatted {
            self.flush();
            let room = self.limit.saturating_sub(self.text.len());
            self.text.extend(text.chars().filter(|character| is_shown(*character)).take(room));
            return;
        }
        for (number, word) in text.split(char::is_whitespace).enumerate() {
            if self.is_full() {
                return;
            }
            self.space |= number > 0;
            if word.chars().any(is_shown) {
                self.flush();
                self.text.extend(word.chars().filter(|character| is_shown(*character)));
            }
        }
    }

    /// Requests at least this many line ends before the next word, unless a mark waits for its text.
    pub(super) fn break_lines(&mut self, count: u8) {
        let just_opened = self.link == Some(self.text.len());
        if self.prefix.is_empty() && !just_opened {
            self.breaks = self.breaks.max(count);
        }
    }

    /// Requests one more line end, up to an empty line.
    pub(super) fn break_line_again(&mut self) {
        if self.preformatted {
            self.text.push('\n');
        } else {
            self.breaks = (self.breaks + 1).min(2);
        }
    }

    pub(super) fn set_prefix(&mut self, prefix: String) {
        self.prefix = prefix;
    }

    /// Drops a mark that got no text.
    pub(super) fn drop_prefix(&mut self) {
        self.prefix.clear();
    }

    /// Writes a mark without a space before it.
    pub(super) fn mark(&mut self, mark: &str) {
        self.flush();
        self.text.push_str(mark);
    }

    /// Writes a mark directly after the last word.
    pub(super) fn close_mark(&mut self, mark: &str) {
        self.text.push_str(mark);
    }

    pub(super) fn open_link(&mut self) {
        self.mark("[");
        self.link = Some(self.text.len());
    }

    /// Drops a link without text.
    pub(super) fn close_link(&mut self, address: &str) {
        match self.link.take() {
            Some(start) if start == self.text.len() => drop(self.text.pop()),
            Some(_) => self.text.push_str(&format!("]({address})")),
            None => {}
        }
    }

    pub(super) fn finish(self) -> String {
        let mut text = self.text;
        text.truncate(text.trim_end().len());
        text
    }

    fn flush(&mut self) {
        let (breaks, space) = (take(&mut self.breaks), take(&mut self.space));
        let begun = !self.text.is_empty();
        if begun && breaks > 0 {
            self.text.truncate(self.text.trim_end_matches(' ').len());
            (0..breaks).for_each(|_| self.text.push('\n'));
        } else if begun && space && !self.text.ends_with(['\n', ' ', '[']) {
            self.text.push(' ');
        }
        self.text.push_str(&take(&mut self.prefix));
    }
}

/// Drops control characters and soft hyphens.
fn is_shown(character: char) -> bool {
    !character.is_control() && character != '\u{ad}' || matches!(character, '\n' | '\t')
}
