//! Text with invisible or reordering characters.

use attache_domain::is_hidden;

/// Whether the text has characters that are invisible or change the display of others. Line breaks and tabs are fine.
pub(super) fn is_misleading(text: &str) -> bool {
    text.contains(|letter| is_hidden(letter) && !matches!(letter, '\n' | '\t'))
}
