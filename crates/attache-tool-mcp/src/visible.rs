//! Names from outside that people read before they decide: nothing in them may hide or pretend.

/// Is this character drawn, and in its place?
pub(crate) fn is_drawn(character: char) -> bool {
    // Reordering marks, joiners and tags have no form of their own, and change or hide what stands around them.
    let formless = matches!(character,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}');
    !character.is_control() && !formless
}

/// `text` on one line, without what is not drawn.
pub(crate) fn on_one_line(text: &str) -> String {
    let words: String =
        text.chars().map(|character| if is_drawn(character) { character } else { ' ' }).collect();
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `text` without what is not drawn, but for the ends of its lines.
pub(crate) fn in_lines(text: &str) -> String {
    text.chars().filter(|character| *character == '\n' || is_drawn(*character)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hides() {
        assert_eq!(on_one_line(" a\nb\u{1b}[2Jc\u{202e}d\u{e0041}é "), "a b [2Jc d é");
        assert_eq!(in_lines("a\r\nb\u{7}\u{200b}c"), "a\nbc");
    }
}
