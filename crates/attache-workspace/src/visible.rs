//! Shows untrusted text without hidden characters.

use std::fmt::Write;

use attache_domain::is_hidden;

/// The text in one line, with every hidden character escaped. Unlike `attache_domain::visible_line`, it writes line
/// breaks and tabs as settings files write them, and leaves backslashes alone, which paths and patterns have.
///
/// ```
/// assert_eq!(attache_workspace::visible("ls\r\u{202e}x\u{1b}[1m"), "ls\\r\\u{202e}x\\u{1b}[1m");
/// ```
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            hidden if is_hidden(hidden) => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(hidden));
            }
            other => shown.push(other),
        }
    }
    shown
}
