//! Text from outside, made safe for a terminal.
//!
//! Control characters and marks that turn the direction of writing are written out as `\u{…}`: what a model or a server
//! writes should neither steer a terminal nor look like something else than it is. Nothing is left out, because a shell
//! would still run what a terminal does not draw. What a person is asked to approve goes through
//! [`visible`](attache_domain::visible) instead, which writes out more.

use attache_domain::terminal_safe;

/// Also a piece of a text: each character is shown by itself.
pub(crate) fn printable(text: &str) -> String {
    terminal_safe(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

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
