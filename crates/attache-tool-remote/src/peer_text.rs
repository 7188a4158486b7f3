//! The words of an agent, before they reach a person, a model or a log: sent credentials are removed, hidden characters are
//! written out.
//!
//! Every text of an agent passes [`TextCleaner::clean`] where it enters this crate. Zero-width characters, tags and direction
//! marks are shown as `\u{…}`, as in `attache_domain::visible_again`. What harmless text needs stays: blanks of any width, and
//! single joiners and variation selectors beside letters and emoji.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Arc;

use attache_client::SentSecrets;
use attache_domain::is_hidden;

/// Bytes of a text that may be a credential.
const MIN_CREDENTIAL: usize = 8;

/// Cleans the texts of one agent. Clones share the credentials.
#[derive(Debug, Clone, Default)]
pub(crate) struct TextCleaner {
    secrets: Arc<SentSecrets>,
}

impl TextCleaner {
    /// For the options of the agent's clients.
    pub(crate) fn secrets(&self) -> Arc<SentSecrets> {
        self.secrets.clone()
    }

    /// A person typed `answer` where the agent asked for a credential. Words such as `done` are none.
    pub(crate) fn hide_credential(&self, answer: &str) {
        let answer = answer.trim();
        if answer.len() >= MIN_CREDENTIAL && !answer.contains(char::is_whitespace) {
            self.secrets.note_text(answer);
        }
    }

    /// `text` of the agent, without the credentials that it was sent and with hidden characters written out.
    pub(crate) fn clean(&self, text: &str) -> String {
        visible_words(&self.redacted(text)).into_owned()
    }

    /// `text` without the credentials.
    pub(crate) fn redacted<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.secrets.redact(text)
    }
}

/// `text` with every character written out that could hide something. Text that was written out before stays unchanged.
fn visible_words(text: &str) -> Cow<'_, str> {
    let hides = |character: char| is_hidden(character) && !is_layout(character);
    // Most texts are plain, and some are long.
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t'));
    if is_plain || !text.contains(hides) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut before = None;
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        let next = rest.peek().copied();
        match character {
            '\r' if next == Some('\n') => continue,
            _ if hides(character) && !is_needed(before, character, next) => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(character));
            }
            _ => shown.push(character),
        }
        before = Some(character);
    }
    shown.into()
}

/// Lines, tabs and blanks. A blank of another width says nothing that a blank does not say.
fn is_layout(character: char) -> bool {
    matches!(
        character,
        '\n' | '\t' | '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    )
}

/// A joiner between letters of a script that has joined forms, or a variation selector after an emoji.
fn is_needed(before: Option<char>, character: char, next: Option<char>) -> bool {
    const EMOJI_STYLE: char = '\u{fe0f}';
    let is_drawn = |other: Option<char>| other.is_some_and(|it| !it.is_ascii() && !is_hidden(it));
    match character {
        '\u{200c}' | '\u{200d}' => (is_drawn(before) || before == Some(EMOJI_STYLE)) && is_drawn(next),
        '\u{fe0e}' | EMOJI_STYLE => is_drawn(before) || (before.is_some() && next == Some('\u{20e3}')),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let shown = visible_words(text);
        assert_eq!(shown, expected);
        assert_eq!(visible_words(&shown), expected, "a second time nothing changes");
    }

    #[test]
    fn what_hides_something_is_written_out() {
        check("a\u{200b}b\u{1b}[2J\u{202e}c\r", r"a\u{200b}b\u{1b}[2J\u{202e}c\u{d}");
        check("hi\u{e0041}\u{e0042}", r"hi\u{e0041}\u{e0042}");
        check("a\u{200d}b\u{fe0f}\u{feff}", r"a\u{200d}b\u{fe0f}\u{feff}");
        check("é\u{200d}\u{200d}é", r"é\u{200d}\u{200d}é");
        check("\u{fe0f}\u{fe00}\u{2028}", r"\u{fe0f}\u{fe00}\u{2028}");
    }

    #[test]
    fn what_harmless_text_needs_stays() {
        for text in [
            "one\n\ttwo",
            "⚠\u{fe0f} 1\u{fe0f}\u{20e3}",
            "👩\u{200d}💻",
            "می\u{200c}خواهم",
            "5\u{a0}€\u{202f}!",
        ] {
            check(text, text);
        }
        check("❤\u{fe0f}\u{200d}🔥", "❤\u{fe0f}\u{200d}🔥");
        check("one\r\ntwo", "one\ntwo");
    }
}
