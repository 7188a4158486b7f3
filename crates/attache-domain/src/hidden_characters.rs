//! The one table of characters that hide or disguise something.
//!
//! Every crate that shows or judges text from outside asks [`is_hidden`], so that none knows fewer of them than another.
//! A caller that leaves some of them alone, such as line feeds, says so where it asks.

/// A person who reads `character` may take it for nothing, for a blank, or for another place in the text.
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || turns_direction(character)
        || draws_nothing(character)
        || is_odd_blank(character)
}

/// Marks, embeddings, overrides and isolates of the bidirectional algorithm, the deprecated ones included.
pub(crate) fn turns_direction(character: char) -> bool {
    matches!(character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}')
}

/// Zero-width characters, fillers, variation selectors, tags, format controls and characters that are none.
fn draws_nothing(character: char) -> bool {
    let is_none = u32::from(character) & 0xfffe == 0xfffe || matches!(character, '\u{fdd0}'..='\u{fdef}');
    is_none
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{70f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffc}'
            | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Drawn as a blank, or as the end of a line, and neither to a shell.
fn is_odd_blank(character: char) -> bool {
    matches!(
        character,
        '\u{a0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}' | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{2800}' | '\u{3000}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_turns_or_looks_like_a_blank_is_hidden() {
        let hidden = [
            '\0',
            '\u{1b}',
            '\u{7f}',
            '\u{9b}',
            '\u{ad}',
            '\u{34f}',
            '\u{61c}',
            '\u{115f}',
            '\u{1160}',
            '\u{17b4}',
            '\u{180b}',
            '\u{180e}',
            '\u{200b}',
            '\u{200f}',
            '\u{2028}',
            '\u{202a}',
            '\u{202e}',
            '\u{2060}',
            '\u{206f}',
            '\u{2800}',
            '\u{3164}',
            '\u{fe00}',
            '\u{fe0f}',
            '\u{feff}',
            '\u{ffa0}',
            '\u{fff0}',
            '\u{fffb}',
            '\u{1bca0}',
            '\u{1d173}',
            '\u{e0001}',
            '\u{e0fff}',
            '\u{a0}',
            '\u{3000}',
            '\u{ffff}',
        ];
        for character in hidden {
            assert!(is_hidden(character), "{character:?}");
        }
        for character in [' ', 'a', 'é', '漢', '🙂', '\u{fffd}', '\u{e000}'] {
            assert!(!is_hidden(character), "{character:?}");
        }
    }
}
