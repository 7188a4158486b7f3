//! The text that a terminal would show at the end. Of a progress bar only the last state remains.
//!
//! Lines are not wrapped.

use std::collections::VecDeque;

use super::control_parser::{EraseRange, TerminalPiece};

/// The height of the terminal: a program can change this many lines.
pub(super) const ROWS: usize = 30;
/// The width of the terminal: a program can move this far without writing.
pub(super) const COLUMNS: usize = 80;
/// Longer lines are passed on in parts.
const MAX_LINE: usize = 16 * 1024;

#[derive(Debug)]
pub(super) struct Screen {
    /// Text that can no longer change and was not taken yet.
    settled: String,
    lines: VecDeque<Line>,
    rows: usize,
    row: usize,
    column: usize,
}

impl Screen {
    /// A screen on which the last `rows` lines can change.
    pub(super) fn new(rows: usize) -> Self {
        let lines = VecDeque::from([Line::default()]);
        Self { settled: String::new(), lines, rows, row: 0, column: 0 }
    }

    pub(super) fn apply(&mut self, piece: &TerminalPiece<'_>) {
        match *piece {
            TerminalPiece::Text(text) => self.text(text),
            TerminalPiece::NewLine => self.down(1),
            TerminalPiece::Return => self.column = 0,
            TerminalPiece::Up(count) => self.row = self.row.saturating_sub(count),
            TerminalPiece::Down(count) => self.row = self.row.saturating_add(count).min(self.lines.len() - 1),
            TerminalPiece::Right(count) => self.move_to(self.column.saturating_add(count)),
            TerminalPiece::Left(count) => self.column = self.column.saturating_sub(count),
            TerminalPiece::Column(column) => self.move_to(column),
            TerminalPiece::Place(row, column) => {
                self.row = row.min(self.lines.len() - 1);
                self.move_to(column);
            }
            TerminalPiece::EraseLine(erased) => self.erase_line(erased),
            TerminalPiece::EraseScreen(EraseRange::After) => {
                self.erase_line(EraseRange::After);
                self.lines.truncate(self.row + 1);
            }
            TerminalPiece::EraseScreen(EraseRange::Before) => {}
            // Cleared text was visible, so it is kept.
            TerminalPiece::EraseScreen(EraseRange::All) => self.settle_all(),
        }
    }

    /// The text that has settled since the last call.
    pub(super) fn take_settled(&mut self) -> String {
        std::mem::take(&mut self.settled)
    }

    /// The text that may still change.
    pub(super) fn unsettled(&self) -> String {
        let lines: Vec<&str> = self.lines.iter().map(|line| line.text.as_str()).collect();
        lines.join("\n")
    }

    fn text(&mut self, text: &str) {
        let line = &mut self.lines[self.row];
        self.column = line.write(self.column, text);
        if line.length > MAX_LINE {
            self.hand_on_long_line();
        }
    }

    fn down(&mut self, count: usize) {
        self.column = 0;
        self.row += count;
        while self.row >= self.lines.len() {
            self.lines.push_back(Line::default());
        }
        while self.lines.len() > self.rows {
            self.settle_first();
            self.settled.push('\n');
        }
    }

    fn settle_first(&mut self) {
        if let Some(line) = self.lines.pop_front() {
            self.settled.push_str(&line.text);
        }
        self.row = self.row.saturating_sub(1);
    }

    fn settle_all(&mut self) {
        let blank = self.lines.iter().all(|line| line.length == 0);
        while !blank && !self.lines.is_empty() {
            self.settle_first();
            self.settled.push('\n');
        }
        *self = Self { settled: self.take_settled(), ..Self::new(self.rows) };
    }

    /// Settles everything so far if the last line is too long. The line continues.
    fn hand_on_long_line(&mut self) {
        if self.row + 1 < self.lines.len() {
            self.lines[self.row].truncate(MAX_LINE);
            self.column = self.column.min(MAX_LINE);
            return;
        }
        while self.lines.len() > 1 {
            self.settle_first();
            self.settled.push('\n');
        }
        self.settle_first();
        *self = Self { settled: self.take_settled(), ..Self::new(self.rows) };
    }

    /// Moves at most to the edge of the terminal or to the end of the line.
    fn move_to(&mut self, column: usize) {
        let written = self.lines[self.row].length;
        self.column = column.min(written.max(COLUMNS - 1));
    }

    fn erase_line(&mut self, erased: EraseRange) {
        let line = &mut self.lines[self.row];
        match erased {
            EraseRange::After => line.truncate(self.column),
            EraseRange::Before => {
                let blank = " ".repeat(line.length.min(self.column + 1));
                line.write(0, &blank);
            }
            EraseRange::All => line.truncate(0),
        }
    }
}

#[derive(Debug, Default)]
struct Line {
    text: String,
    /// In characters. Each counts as one column.
    length: usize,
}

impl Line {
    /// Overwrites the line at `column` and returns the next column.
    fn write(&mut self, column: usize, text: &str) -> usize {
        while self.length < column {
            self.text.push(' ');
            self.length += 1;
        }
        let after = column + text.chars().count();
        // The common case: writing at the end.
        match self.length == column {
            true => self.text.push_str(text),
            false => self.text.replace_range(self.place(column)..self.place(after), text),
        }
        self.length = self.length.max(after);
        after
    }

    fn truncate(&mut self, column: usize) {
        self.text.truncate(self.place(column));
        self.length = self.length.min(column);
    }

    /// The byte offset of the column.
    fn place(&self, column: usize) -> usize {
        if column >= self.length {
            return self.text.len();
        }
        let all_of_one_byte = self.text.len() == self.length;
        if all_of_one_byte {
            return column;
        }
        self.text.char_indices().nth(column).map_or(self.text.len(), |(index, _)| index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::control_parser::ControlParser;
    use proptest::prelude::*;

    fn shown(text: &str) -> String {
        let (mut controls, mut page) = (ControlParser::default(), Screen::new(ROWS));
        controls.read(text, &mut |piece| page.apply(&piece));
        page.take_settled() + &page.unsettled()
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(shown(text), expected, "{text:?}");
    }

    #[test]
    fn a_progress_bar_leaves_its_last_state() {
        check("10%\r50%\r100%\r\ndone\r\n", "100%\ndone\n");
        check("working\r\x1b[Kdone\n", "done\n");
        check("long line\rshort\n", "shortline\n");
    }

    #[test]
    fn several_bars_are_redrawn_in_place() {
        check("a 1\nb 1\n\x1b[2Aa 2\nb 2\n", "a 2\nb 2\n");
    }

    #[test]
    fn backspaces_go_back() {
        check("|\x08/\x08-\x08done", "done");
    }

    #[test]
    fn what_was_cleared_is_kept() {
        check("first\n\x1b[2J\x1b[Hsecond", "first\n\nsecond");
    }

    #[test]
    fn a_very_long_line_is_whole() {
        let line = "x".repeat(3 * MAX_LINE + 7);
        check(&format!("a\n{line}\nb"), &format!("a\n{line}\nb"));
    }

    #[test]
    fn huge_movements_are_bounded() {
        check("a\x1b[99999999999999Bb\x1b[99999999D\x1b[9999999Ac", "cb");
        let edge = " ".repeat(COLUMNS - 1);
        check("\x1b[999999999Cx", &format!("{edge}x"));
        check("\x1b[1;999999999Hx", &format!("{edge}x"));
        let long = "x".repeat(2 * COLUMNS);
        check(&format!("{long}\r\x1b[999999999Cy"), &format!("{long}y"));
    }

    proptest! {
        #[test]
        fn plain_text_comes_out_as_it_went_in(lines in proptest::collection::vec("[a-zäß€ \t]{0,20}", 0..80)) {
            let text = lines.join("\n");
            prop_assert_eq!(shown(&text), text);
        }

        #[test]
        fn nothing_makes_it_fail(text in "(\x1b\\[[0-9;]{0,6}[A-KHJf]|[\r\n\x08\x1b]|[a-z]{1,5}){0,60}") {
            shown(&text);
        }
    }
}
