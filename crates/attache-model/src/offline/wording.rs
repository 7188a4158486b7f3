//! Parses names and texts as people write them: quoted or not, in a block, with a full stop at the end.

use super::action::IT;

const QUOTES: [(char, char); 4] = [('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”')];

/// The content of a pair of quotes around the whole text.
pub(super) fn quoted(text: &str) -> Option<&str> {
    QUOTES.iter().find_map(|(open, close)| {
        let inner = text.strip_prefix(*open)?.strip_suffix(*close)?;
        (!inner.contains([*open, *close])).then_some(inner)
    })
}

/// The same, with an optional full stop.
pub(super) fn quoted_sentence(text: &str) -> Option<&str> {
    quoted(text).or_else(|| quoted(text.strip_suffix('.')?))
}

/// The content of a code block that is the whole text.
pub(super) fn fenced(text: &str) -> Option<&str> {
    let (_language, rest) = text.trim().strip_prefix("```")?.split_once('\n')?;
    let inner = rest.strip_suffix("```")?;
    let inner = inner.strip_suffix('\n').unwrap_or(inner);
    (!inner.contains("```")).then_some(inner)
}

/// The name of a file or folder. An unquoted name is one word.
pub(super) fn name(text: &str) -> Option<String> {
    if let Some(inner) = quoted(text) {
        return Some(inner.trim().to_owned()).filter(|name| !name.is_empty());
    }
    let name = without_full_stop(text.trim_end_matches([',', ';', ':']));
    if name.eq_ignore_ascii_case("it") {
        return Some(IT.to_owned());
    }
    let is_name = name.contains(char::is_alphanumeric) || [".", "..", "./", "../", "/"].contains(&name);
    (is_name && !name.starts_with('-') && !is_no_name(name)).then(|| name.to_owned())
}

/// Words in the position of a name that name nothing.
fn is_no_name(word: &str) -> bool {
    let words = ["me", "this", "that", "these", "those", "them", "us", "you", "a", "an", "the", "something"];
    words.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// Whether a word looks like a file name, for requests that would match too much otherwise.
pub(super) fn looks_like_a_file(text: &str) -> bool {
    let Some(name) = name(text) else { return false };
    let letters = || name.chars().filter(|letter| letter.is_alphabetic());
    let shouted = letters().count() > 2 && letters().all(char::is_uppercase);
    let lower = name.to_lowercase();
    name == IT
        || quoted(text).is_some()
        || name.trim_matches('.').contains(['.', '/'])
        || name.starts_with('.')
        || shouted
        || (lower.ends_with("file") && lower.len() > 4)
}

/// The folder that a word means. The current folder has many names.
pub(super) fn folder(text: &str) -> Option<String> {
    let here = ["here", "this", "current", "workspace", "project", "root", "repository", "repo"];
    if here.iter().any(|known| text.trim_end_matches('.').eq_ignore_ascii_case(known)) {
        return Some(".".to_owned());
    }
    name(text).filter(|name| name != IT)
}

/// A text for a file: the content of quotes or a block, or the whole text. Ends with a line break.
pub(super) fn content(text: &str) -> Option<String> {
    let text = without_filler(text);
    let inner = fenced(text).or_else(|| quoted_sentence(text.trim())).unwrap_or_else(|| text.trim_end());
    (!inner.trim().is_empty()).then(|| format!("{inner}\n"))
}

/// "the following text:" before a text is not part of it; "text" in "text messages" is.
fn without_filler(text: &str) -> &str {
    let fillers =
        ["the", "this", "following", "text", "content", "contents", "line", "lines", "word", "words"];
    let mut rest = text.trim_start_matches([' ', '\t']);
    loop {
        let end = rest.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if !fillers.iter().any(|known| word.eq_ignore_ascii_case(known)) {
            break;
        }
        if let Some(after) = after.trim_start().strip_prefix(':') {
            let after = after.trim_start_matches([' ', '\t']);
            return after.strip_prefix('\n').unwrap_or(after);
        }
        rest = after.trim_start();
    }
    let is_marked = rest.starts_with("```") || quoted_sentence(rest.trim()).is_some();
    if is_marked { rest } else { text }
}

/// A text to find or to insert.
pub(super) fn piece(text: &str) -> Option<String> {
    if let Some(inner) = quoted(text) {
        return (!inner.is_empty()).then(|| inner.to_owned());
    }
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Removes a full stop that ends a sentence, and keeps the name `..` and the folder in `ls .`.
pub(super) fn without_full_stop(text: &str) -> &str {
    match text.strip_suffix('.') {
        Some(rest) if rest.ends_with(|last: char| last.is_alphanumeric() || "\"'`”".contains(last)) => rest,
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(name(text).as_deref(), expected, "{text}");
    }

    #[test]
    fn names_lose_quotes_and_the_end_of_the_sentence() {
        check("README.md", Some("README.md"));
        check("README.md.", Some("README.md"));
        check("`a b.txt`", Some("a b.txt"));
        check("“x”", Some("x"));
        check("..", Some(".."));
        check("src/..", Some("src/.."));
        check("it", Some(IT));
        check("\"it\"", Some("it"));
        for nothing in ["", "''", "' '", "this", "-la", "!", "***"] {
            check(nothing, None);
        }
    }

    #[test]
    fn some_words_look_like_files() {
        for text in ["a.txt", "src/main", "./run", ".env", "README", "Makefile", "'any thing'", "it"] {
            assert!(looks_like_a_file(text), "{text}");
        }
        for text in ["door", "Paris", "me", "", "file", "A", "..."] {
            assert!(!looks_like_a_file(text), "{text}");
        }
    }

    #[test]
    fn a_text_is_taken_out_of_what_is_around_it() {
        let check = |text: &str, expected: &str| assert_eq!(content(text).as_deref(), Some(expected));
        check("hello there", "hello there\n");
        check(" 'hello there' ", "hello there\n");
        check("\"it's\"", "it's\n");
        check("'a' and 'b'", "'a' and 'b'\n");
        check("```python\nx = 1\n\ny = 2\n```", "x = 1\n\ny = 2\n");
        check("  indented\n    more\n\n", "  indented\n    more\n");
        check("the following text:\n  a\nb", "  a\nb\n");
        check("text: a", "a\n");
        check("the text 'a b'", "a b\n");
        check("'a b'.", "a b\n");
        check("a b.", "a b.\n");
        check("the words\n```\na\n```", "a\n");
        check("text messages", "text messages\n");
        assert_eq!(content(" \n"), None);
        assert_eq!(content("''"), None);
        assert_eq!(content("the following:"), None);
    }
}
