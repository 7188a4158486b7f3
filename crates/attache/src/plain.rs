//! Text from outside, made safe for a terminal.
//!
//! Escape sequences, control characters and marks that turn the direction of writing are left out: what was written by
//! a model or came from a server should neither steer a terminal nor look like something else than it is.

/// Takes text in pieces; a sequence may be cut anywhere.
#[derive(Debug, Default)]
pub(crate) struct Plain {
    inside: Inside,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum Inside {
    #[default]
    Text,
    /// Behind an escape character.
    Escape,
    /// In a control sequence, up to its final character.
    Control,
    /// In a string for the terminal, up to its terminator.
    Words,
}

/// The whole of a text.
pub(crate) fn plain(text: &str) -> String {
    Plain::default().push(text)
}

impl Plain {
    pub(crate) fn push(&mut self, text: &str) -> String {
        text.chars().filter(|character| self.takes(*character)).collect()
    }

    /// Whether a character is text; otherwise it is swallowed.
    fn takes(&mut self, character: char) -> bool {
        self.inside = match (self.inside, character) {
            // A line break ends whatever was not ended properly, so that not everything is lost.
            (_, '\n') => Inside::Text,
            (_, '\u{1b}') => Inside::Escape,
            (Inside::Escape, '[') => Inside::Control,
            (Inside::Escape, ']' | 'P' | 'X' | '^' | '_') => Inside::Words,
            (Inside::Escape, ' '..='/') => Inside::Escape,
            (Inside::Escape, _) => return self.ends(),
            (Inside::Control, '@'..='~') => return self.ends(),
            (Inside::Words, '\u{7}' | '\u{9c}') => return self.ends(),
            (Inside::Text, '\u{9b}') => Inside::Control,
            (Inside::Text, '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}') => Inside::Words,
            (inside, _) => inside,
        };
        self.inside == Inside::Text && is_harmless(character)
    }

    fn ends(&mut self) -> bool {
        self.inside = Inside::Text;
        false
    }
}

fn is_harmless(character: char) -> bool {
    let turns =
        matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !turns && (!character.is_control() || matches!(character, '\n' | '\t' | '\r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(plain(text), expected);
        let mut pieces = Plain::default();
        let found: String = text.chars().map(|character| pieces.push(&character.to_string())).collect();
        assert_eq!(found, expected, "in single characters");
    }

    #[test]
    fn what_steers_a_terminal_is_left_out() {
        check("plain\ttext\nüber", "plain\ttext\nüber");
        check("\u{1b}[1;31mred\u{1b}[0m", "red");
        check("\u{1b}]0;title\u{7}after", "after");
        check("\u{1b}]8;;https://a.example\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link");
        check("\u{1b}(Bcharset \u{1b}7saved", "charset saved");
        check("\u{9b}2Jcleared", "cleared");
        check("bell\u{7} back\u{8}space", "bell backspace");
        check("a\u{202e}b\u{2066}c", "abc");
    }

    #[test]
    fn a_sequence_without_an_end_does_not_swallow_the_next_line() {
        check("\u{1b}]0;lost\nkept", "\nkept");
        check("\u{1b}[12\nkept", "\nkept");
    }
}
