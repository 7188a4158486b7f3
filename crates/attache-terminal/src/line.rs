//! A line for the terminal. The only way to print, so nothing from outside can control the terminal.

use std::fmt::Write;

use attache_domain::terminal_safe;

/// One of the 16 colours that every terminal has, in the person's own scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    /// Status text.
    Dim,
    Bold,
    /// Other clients.
    Cyan,
    /// Questions and warnings.
    Yellow,
    Green,
    Red,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Dim => "90",
            Self::Bold => "1",
            Self::Cyan => "36",
            Self::Yellow => "33",
            Self::Green => "32",
            Self::Red => "31",
        }
    }
}

/// Pieces of text with a style each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Line(Vec<(Style, String)>);

impl Line {
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self::styled(Style::Plain, text)
    }

    pub(crate) fn styled(style: Style, text: impl Into<String>) -> Self {
        Self(vec![(style, text.into())])
    }

    pub(crate) fn and(mut self, style: Style, text: impl Into<String>) -> Self {
        self.0.push((style, text.into()));
        self
    }

    /// The line with its line break. Text that controls a terminal, also a line break within it, is written out.
    pub(crate) fn render(&self, has_colour: bool) -> String {
        let mut out = String::new();
        for (style, text) in &self.0 {
            let text = terminal_safe(text).replace('\n', "\\u{a}");
            match style.code() {
                code if has_colour && !code.is_empty() && !text.is_empty() => {
                    let _ = write!(out, "\u{1b}[{code}m{text}\u{1b}[0m");
                }
                _ => out.push_str(&text),
            }
        }
        out.push('\n');
        out
    }
}

/// A line for each line of `text`, behind `indent`.
pub(crate) fn lines_of(style: Style, indent: &str, text: &str) -> Vec<Line> {
    text.lines().map(|line| Line::styled(style, format!("{indent}{}", line.trim_end_matches('\r')))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_cannot_control_the_terminal() {
        let hostile = "a\u{1b}[2Jb\u{7}\u{9b}1m\rc\u{202e}\nd";
        let line = Line::styled(Style::Red, hostile).and(Style::Plain, "\u{1b}]0;x\u{7}");
        let plain = r"a\u{1b}[2Jb\u{7}\u{9b}1m\u{d}c\u{202e}\u{a}d";
        assert_eq!(line.render(false), format!("{plain}{}\n", r"\u{1b}]0;x\u{7}"));
        assert_eq!(line.render(true), format!("\u{1b}[31m{plain}\u{1b}[0m{}\n", r"\u{1b}]0;x\u{7}"));
    }

    #[test]
    fn lines_end_as_on_any_system() {
        let lines: Vec<_> =
            lines_of(Style::Plain, "  ", "a\r\nb\n").iter().map(|line| line.render(false)).collect();
        assert_eq!(lines, ["  a\n", "  b\n"]);
    }
}
