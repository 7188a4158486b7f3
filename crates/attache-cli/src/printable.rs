//! Text from outside, made safe for a terminal.
//!
//! Control characters and marks that turn the direction of writing are written out as `\u{…}`: what a model or a server
//! writes must neither control a terminal nor look like other text. Nothing is left out, because a shell
//! would still run what a terminal does not draw. What a person is asked to approve goes through
//! [`visible`](attache_domain::visible) instead, which writes out more.

use std::io::{self, Write};

use attache_domain::{is_hidden, terminal_safe};
use serde::Serialize;

/// Also a piece of a text: each character is shown by itself.
pub(crate) fn printable(text: &str) -> String {
    terminal_safe(text).into_owned()
}

/// Ends a line unless the text before has ended it. No printable text holds it.
pub(crate) const LINE_BREAK: char = '\u{1e}';

/// `text` with its breaks as line feeds, where needed. `is_open`: a line without an end stands before it.
pub(crate) fn with_line_breaks(text: &str, mut is_open: bool) -> String {
    let mut lines = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            LINE_BREAK if !is_open => continue,
            LINE_BREAK => lines.push('\n'),
            character => lines.push(character),
        }
        is_open = !lines.ends_with('\n');
    }
    lines
}

/// `text`, whose lines cannot be taken for lines of this program.
pub(crate) fn indented(text: &str) -> String {
    match text.is_empty() {
        true => String::new(),
        false => format!("  {}", text.replace('\n', "\n  ")),
    }
}

/// Writes JSON in one line. Characters that control a terminal or that a person does not see are written as `\u` escapes, which
/// means the same to every reader of JSON.
pub(crate) fn write_json(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    out.write_all(escaped(&serde_json::to_string(value)?).as_bytes())
}

/// The same in many lines.
pub(crate) fn write_pretty_json(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    out.write_all(escaped(&serde_json::to_string_pretty(value)?).as_bytes())
}

/// JSON has such characters within texts only, but for the ends of its lines.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        if is_hidden(character) && character != '\n' {
            let units = &mut [0; 2];
            character.encode_utf16(units).iter().for_each(|unit| text.push_str(&format!("\\u{unit:04x}")));
        } else {
            text.push(character);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_hides_nothing_and_means_the_same() {
        let hostile = "a\u{9b}2J\u{7f}b\u{202e}c\u{e0041}\u{1b}[1m\n\u{feff} über \u{200b}\"\\";
        let value = serde_json::json!({ hostile: [hostile] });
        for pretty in [false, true] {
            let mut out = Vec::new();
            match pretty {
                true => write_pretty_json(&mut out, &value).unwrap(),
                false => write_json(&mut out, &value).unwrap(),
            }
            let text = String::from_utf8(out).unwrap();
            assert_eq!(text.contains('\n'), pretty, "{text}");
            assert!(!text.contains(|it| is_hidden(it) && it != '\n'), "{text}");
            assert!(
                text.contains(r"\u009b2J\u007fb\u202ec\udb40\udc41\u001b[1m") && text.contains("über"),
                "{text}"
            );
            assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
        }
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(printable(text), expected);
        let pieces: String = text.chars().map(|character| printable(&character.to_string())).collect();
        assert_eq!(pieces, expected, "in single characters");
    }

    #[test]
    fn what_steers_a_terminal_is_written_out() {
        check("plain\ttext\nüber", "plain\ttext\nüber");
        check("\u{1b}[1;31mred\u{1b}[0m", r"\u{1b}[1;31mred\u{1b}[0m");
        check("\u{1b}]0;title\u{7}after", r"\u{1b}]0;title\u{7}after");
        check("\u{9b}2Jcleared\rover", r"\u{9b}2Jcleared\u{d}over");
        check("a\u{202e}b\u{2066}c", r"a\u{202e}b\u{2066}c");
    }
}
