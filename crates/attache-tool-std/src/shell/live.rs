//! Forwards the output of a running command: the first output at once, then at most one message per interval.
//!
//! Messages do not repeat text. A line that a progress bar overwrites is sent again.

use std::sync::Arc;
use std::time::Duration;

use attache_tool::LiveOutput;
use tokio::time::Instant;

use super::bounded_text::BoundedText;
use super::control_parser::TerminalPiece;
use super::screen::{ROWS, Screen};
use super::terminal_text::binary_note;

/// Characters of one message. Of more output the end is sent.
const MAX_MESSAGE: usize = 100_000;
/// Bytes kept for one message; a character has at most four.
const MAX_KEPT: usize = 4 * MAX_MESSAGE;

pub(super) struct LiveForwarder {
    output: Arc<dyn LiveOutput>,
    interval: Duration,
    /// The time of the next message.
    next: Instant,
    /// The output since the last message.
    page: Screen,
    kept: BoundedText,
    news: bool,
    binary: Option<u64>,
    /// The last message ended in the middle of a line.
    mid_line: bool,
}

impl LiveForwarder {
    pub(super) fn new(output: Arc<dyn LiveOutput>, interval: Duration) -> Self {
        Self {
            output,
            interval,
            next: Instant::now(),
            page: Screen::new(ROWS),
            kept: BoundedText::new(MAX_KEPT),
            news: false,
            binary: None,
            mid_line: false,
        }
    }

    pub(super) fn apply(&mut self, piece: &TerminalPiece<'_>) {
        let begins_anew =
            matches!(piece, TerminalPiece::Return | TerminalPiece::Column(0) | TerminalPiece::EraseLine(_));
        if self.mid_line && !self.news && begins_anew {
            self.kept.push("\n");
            self.mid_line = false;
        }
        self.news |= matches!(piece, TerminalPiece::Text(_) | TerminalPiece::NewLine);
        self.page.apply(piece);
        self.kept.push(&self.page.take_settled());
    }

    pub(super) fn binary(&mut self, bytes: u64) {
        self.binary = Some(bytes);
        self.news = true;
    }

    /// When to call `show`.
    pub(super) fn due(&self) -> Option<Instant> {
        self.news.then_some(self.next)
    }

    /// Sends new output, if there is any.
    pub(super) fn show(&mut self) {
        if !std::mem::take(&mut self.news) {
            return;
        }
        self.next = Instant::now() + self.interval;
        let kept = std::mem::replace(&mut self.kept, BoundedText::new(MAX_KEPT));
        let page = std::mem::replace(&mut self.page, Screen::new(ROWS));
        match self.binary {
            Some(bytes) => self.output.show(&format!("{}\n", binary_note(bytes))),
            None => {
                let text = kept.text() + &page.unsettled();
                self.mid_line = !text.ends_with('\n');
                self.output.show(last_characters(&text, MAX_MESSAGE));
            }
        }
    }
}

pub(super) fn last_characters(text: &str, count: usize) -> &str {
    let start = text.char_indices().rev().nth(count.saturating_sub(1)).map_or(0, |(index, _)| index);
    &text[start..]
}
