//! Makes names of unknown origin safe to show before a decision.

use attache_domain::is_hidden;

/// Whether this character is visible and does not reorder others.
pub(crate) fn is_drawn(character: char) -> bool {
    !is_hidden(character)
}

/// `text` on one line, without invisible characters.
pub(crate) fn on_one_line(text: &str) -> String {
    let words: String =
        text.chars().map(|character| if is_drawn(character) { character } else { ' ' }).collect();
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `text` without invisible characters except line breaks. Spaces of other scripts become plain spaces.
pub(crate) fn in_lines(text: &str) -> String {
    let shown = |character: char| match character {
        '\n' => Some('\n'),
        drawn if is_drawn(drawn) => Some(drawn),
        blank if blank.is_whitespace() && !blank.is_control() => Some(' '),
        _ => None,
    };
    text.chars().filter_map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hides() {
        assert_eq!(on_one_line(" a\nb\u{1b}[2Jc\u{202e}d\u{e0041}é "), "a b [2Jc d é");
        assert_eq!(in_lines("a\r\nb\u{7}\u{200b}c"), "a\nbc");
        assert_eq!(in_lines("日\u{3000}本 a\u{a0}b"), "日 本 a b");
    }

    #[test]
    fn fillers_joiners_and_selectors_are_not_drawn() {
        for character in ['\u{34f}', '\u{115f}', '\u{3164}', '\u{fe00}', '\u{fe0f}', '\u{ffa0}'] {
            assert!(!is_drawn(character), "{character:?}");
            assert_eq!(in_lines(&format!("a{character}b")), "ab");
        }
    }
}
