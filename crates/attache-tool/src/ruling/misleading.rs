//! Text with invisible or reordering characters.

/// Whether the text has characters that are invisible or change the display of others. Line breaks and tabs are fine.
pub(super) fn is_misleading(text: &str) -> bool {
    text.chars().any(|letter| match letter {
        '\n' | '\t' => false,
        letter if letter.is_control() => true,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' => true,
        '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' => true,
        '\u{2060}'..='\u{206F}' | '\u{2800}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' => true,
        '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}' => true,
        '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}' => true,
        _ => false,
    })
}
