//! Writes pieces of text to two outputs that share a terminal: a line of one is ended before the other continues.

use std::io::{self, Write};

use serde::Serialize;

use crate::printable::{indented, printable, with_line_breaks, write_json};

/// The answer goes to `out`, and everything else to `err`.
pub(crate) struct OutputLines<O, E> {
    out: O,
    err: E,
    /// The last line of `out` is not ended.
    is_out_open: bool,
    /// The same of `err`, where commands of the agent write lines of their own.
    is_err_open: bool,
}

impl<O: Write, E: Write> OutputLines<O, E> {
    pub(crate) fn new(out: O, err: E) -> Self {
        Self { out, err, is_out_open: false, is_err_open: false }
    }

    /// A piece of the answer, made safe already. Its last line stays open.
    pub(crate) fn answer(&mut self, text: &str) -> io::Result<()> {
        let text = with_line_breaks(text, self.is_out_open);
        if text.is_empty() {
            return Ok(());
        }
        self.end_err()?;
        self.is_out_open = !text.ends_with('\n');
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    /// A piece of what a command of the agent writes, made safe already. It is indented like all words of the agent.
    pub(crate) fn command_output(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.end()?;
        self.is_err_open = !text.ends_with('\n');
        self.err.write_all(indented(text.strip_suffix('\n').unwrap_or(text)).as_bytes())?;
        if !self.is_err_open {
            writeln!(self.err)?;
        }
        self.err.flush()
    }

    /// A remark. Its further lines are indented, so that they cannot be taken for lines of this program.
    pub(crate) fn note(&mut self, text: &str) -> io::Result<()> {
        let text = printable(text.trim()).replace('\n', "\n  ");
        self.err_line(&format!("[{text}]"))
    }

    /// A whole line of this program, made safe already.
    pub(crate) fn err_line(&mut self, line: &str) -> io::Result<()> {
        self.end()?;
        writeln!(self.err, "{line}")
    }

    pub(crate) fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        write_json(&mut self.out, value)?;
        writeln!(self.out)?;
        self.out.flush()
    }

    /// Ends the lines that are open.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        self.end_err()?;
        if std::mem::take(&mut self.is_out_open) {
            writeln!(self.out)?;
            self.out.flush()?;
        }
        Ok(())
    }

    fn end_err(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.is_err_open) { writeln!(self.err) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_ended_before_the_other_output_continues() {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut lines = OutputLines::new(&mut out, &mut err);
        lines.answer("one ").unwrap();
        lines.answer("two").unwrap();
        lines.note("a thought\nof two lines").unwrap();
        lines.command_output("half").unwrap();
        lines.answer("three\n").unwrap();
        lines.err_line("over").unwrap();
        lines.end().unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "one two\nthree\n");
        assert_eq!(String::from_utf8(err).unwrap(), "[a thought\n  of two lines]\n  half\nover\n");
    }

    #[test]
    fn the_output_of_a_command_cannot_look_like_a_line_of_ours() {
        let mut err = Vec::new();
        let mut lines = OutputLines::new(io::sink(), &mut err);
        lines.command_output("one\nerror: no\n").unwrap();
        lines.command_output("\nhint: run it").unwrap();
        lines.end().unwrap();
        assert_eq!(String::from_utf8(err).unwrap(), "  one\n  error: no\n  \n  hint: run it\n");
    }

    #[test]
    fn an_empty_piece_opens_no_line() {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut lines = OutputLines::new(&mut out, &mut err);
        lines.answer("").unwrap();
        lines.command_output("").unwrap();
        lines.end().unwrap();
        assert!(out.is_empty() && err.is_empty());
    }
}
