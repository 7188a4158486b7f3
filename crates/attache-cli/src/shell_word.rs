//! Words of a command that a person may paste into a shell.

use attache_domain::visible_line;

/// `text` as one word of a POSIX shell: bare if none of its characters has a meaning there, else in single quotes.
pub(crate) fn shell_word(text: &str) -> String {
    let text = visible_line(text);
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:@%+,=".contains(letter);
    if !text.is_empty() && !text.starts_with('=') && text.chars().all(is_plain) {
        return text.into_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_means_nothing_to_a_shell() {
        for (text, expected) in [
            ("5f0c-1", "5f0c-1"),
            ("https://a.example:1/x", "https://a.example:1/x"),
            ("", "''"),
            ("t1; touch x #", "'t1; touch x #'"),
            ("$(id)`id`", "'$(id)`id`'"),
            ("it's", r"'it'\''s'"),
            ("a\nb", r"'a\u{a}b'"),
            ("~", "'~'"),
            ("=ls", "'=ls'"),
            ("a=b", "a=b"),
        ] {
            assert_eq!(shell_word(text), expected, "{text}");
        }
    }
}
