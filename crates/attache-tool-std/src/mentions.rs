//! Finds and reads the files that a prompt mentions as `@path`.
//!
//! Spaces in a path are escaped with backslashes, or the path is quoted. A mail address or a package such as
//! `@scope/name` is no mention, unless such a file exists. A path that cannot be read stays as it was written.

mod expand;
mod folder;
mod report;

use std::ops::Range;

pub use expand::{Expansion, expand};

/// More mentions in one prompt are ignored.
const MAX_MENTIONS: usize = 100;

/// A piece of text that may name a file or folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// Without the `@`, quotes and backslashes.
    pub path: String,
    /// In bytes of the text, from the `@` on.
    pub span: Range<usize>,
    /// It is almost certainly a path.
    pub plainly_a_path: bool,
}

/// All mentions in a text, in order.
///
/// ```
/// use attache_tool_std::mentions::find_mentions;
///
/// let found = find_mentions("Compare @src/a.rs with @\"my notes.md\", and write to me@example.com.");
/// let paths: Vec<_> = found.iter().map(|mention| mention.path.as_str()).collect();
/// assert_eq!(paths, ["src/a.rs", "my notes.md"]);
/// ```
pub fn find_mentions(text: &str) -> Vec<Mention> {
    let mut mentions = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find('@').map(|at| from + at) {
        from = at + 1;
        let before = text[..at].chars().next_back();
        if before.is_some_and(|before| !before.is_whitespace() && !"([{<\"'`,;:".contains(before)) {
            continue;
        }
        let Some(mention) = quoted(text, at).or_else(|| bare(text, at)) else { continue };
        from = mention.span.end;
        mentions.push(mention);
        if mentions.len() == MAX_MENTIONS {
            break;
        }
    }
    mentions
}

fn quoted(text: &str, at: usize) -> Option<Mention> {
    let after = &text[at + 1..];
    let quote = after.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let inside = &after[1..];
    let end = inside.find([quote, '\n']).filter(|end| inside[*end..].starts_with(quote) && *end > 0)?;
    let path = inside[..end].to_owned();
    Some(Mention { path, span: at..at + 1 + 1 + end + 1, plainly_a_path: true })
}

fn bare(text: &str, at: usize) -> Option<Mention> {
    // Each character with its end, and whether it is escaped.
    let mut characters: Vec<(char, usize, bool)> = Vec::new();
    let mut escaped = false;
    for (index, character) in text[at + 1..].char_indices() {
        let end = at + 1 + index + character.len_utf8();
        if escaped {
            characters.push((character, end, true));
            escaped = false;
        } else if character == '\\' {
            escaped = true;
        } else if character.is_whitespace() || character == '@' {
            break;
        } else {
            characters.push((character, end, false));
        }
    }
    trim(&mut characters);
    let path: String = characters.iter().map(|(character, _, _)| *character).collect();
    let end = characters.last()?.1;
    let escapes = characters.iter().any(|(_, _, escaped)| *escaped);
    let plainly_a_path = escapes || is_plain(&path);
    Some(Mention { path, span: at..end, plainly_a_path })
}

/// Removes punctuation and closing brackets at the end, but not all characters: `@.` is a folder.
fn trim(characters: &mut Vec<(char, usize, bool)>) {
    if characters.iter().all(|(character, _, _)| matches!(character, '.' | '/')) {
        return;
    }
    while let Some((last, _, false)) = characters.last().copied() {
        let count = |wanted: char| characters.iter().filter(|(character, _, _)| *character == wanted).count();
        let ends = match last {
            ')' => count('(') < count(')'),
            ']' => count('[') < count(']'),
            '}' => count('{') < count('}'),
            other => ".,;:!?>\"'`*".contains(other),
        };
        if !ends {
            break;
        }
        characters.pop();
    }
}

/// Starts like a path, or has an extension.
fn is_plain(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let extension = name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty() && !extension.is_empty() && extension.chars().all(char::is_alphanumeric)
    });
    ["./", "../", "/", "~/"].iter().any(|start| path.starts_with(start)) || extension
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found = find_mentions(text);
        let paths: Vec<&str> = found.iter().map(|mention| mention.path.as_str()).collect();
        assert_eq!(paths, expected, "{text}");
        assert!(found.iter().all(|mention| text[mention.span.clone()].starts_with('@')));
    }

    #[test]
    fn mentions_are_found_in_running_text() {
        check("@a.rs", &["a.rs"]);
        check("Look at @src/a.rs, (@b.md) and @c/. Then @.", &["src/a.rs", "b.md", "c/", "."]);
        check("@./x @../y @/z", &["./x", "../y", "/z"]);
        check("nothing @ here, nor @", &[]);
        check("`@a.rs` and [@b.rs]", &["a.rs", "b.rs"]);
        check("@a(1).txt @b(2)", &["a(1).txt", "b(2)"]);
    }

    #[test]
    fn blanks_are_escaped_or_quoted() {
        check(r"@my\ notes.md and @a\)", &["my notes.md", "a)"]);
        check("@\"my notes.md\" @'it is.txt'.", &["my notes.md", "it is.txt"]);
        check("@\"never ends\n@b", &["\"never", "b"]);
        check(r"@trailing\", &["trailing"]);
    }

    #[test]
    fn addresses_of_mail_mention_nothing() {
        check("me@example.com, a.b+c@d.test, x@y@z", &[]);
        check(r"\@notthis", &[]);
    }

    #[test]
    fn what_can_be_a_word_is_no_plain_path() {
        for (text, plain) in [
            ("@scope/pkg", false),
            ("@alice", false),
            ("@a.rs", true),
            ("@./a", true),
            (r"@a\ b", true),
            ("@\"a\"", true),
        ] {
            assert_eq!(find_mentions(text)[0].plainly_a_path, plain, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_text_can_be_looked_through(text in "[@a./\\\\\"' )(é\n]{0,40}") {
            let mut last = 0;
            for mention in find_mentions(&text) {
                prop_assert!(mention.span.start >= last && !mention.path.is_empty());
                last = mention.span.end;
            }
        }
    }
}
