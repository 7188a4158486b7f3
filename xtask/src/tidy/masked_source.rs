//! Splits a Rust file into code, string literals and comments, so that a check looks for a word in one of them only.
//!
//! Not a parser: it knows comments, literals and balanced braces, which is all the checks need.

/// Each text is as long as the file and keeps its line breaks; what belongs elsewhere is blank.
#[derive(Debug)]
pub(crate) struct MaskedSource {
    pub(crate) code: String,
    pub(crate) strings: String,
    pub(crate) comments: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Code,
    Text,
    Comment,
}

impl MaskedSource {
    pub(crate) fn new(text: &str) -> Self {
        let (mut code, mut strings, mut comments) = (Vec::new(), Vec::new(), Vec::new());
        let mut position = 0;
        while position < text.len() {
            let previous = text[..position].chars().next_back();
            let (kind, length) = segment(&text[position..], previous.is_some_and(is_word));
            for &byte in &text.as_bytes()[position..position + length] {
                let blank = if byte == b'\n' { b'\n' } else { b' ' };
                code.push(if kind == Kind::Code { byte } else { blank });
                strings.push(if kind == Kind::Text { byte } else { blank });
                comments.push(if kind == Kind::Comment { byte } else { blank });
            }
            position += length;
        }
        // Segments end on character borders, so all stay UTF-8.
        let text_of = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self { code: text_of(code), strings: text_of(strings), comments: text_of(comments) }
    }

    /// The same with every item under `#[cfg(test)]` blank.
    pub(crate) fn without_tests(mut self) -> Self {
        const MARK: &str = "#[cfg(test)]";
        while let Some(start) = self.code.find(MARK) {
            let end = start + MARK.len() + item_length(&self.code[start + MARK.len()..]);
            for text in [&mut self.code, &mut self.strings, &mut self.comments] {
                let blank = text[start..end].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' });
                let blank: String = blank.collect();
                text.replace_range(start..end, &blank);
            }
        }
        self
    }
}

/// The lines, counted from one, that contain `needle` as a whole word. A needle that ends in `_`
/// may be followed by anything.
pub(crate) fn lines_with(text: &str, needle: &str) -> Vec<usize> {
    let starts_as_word = needle.starts_with(is_word);
    let ends_as_word = needle.ends_with(is_word) && !needle.ends_with('_');
    let alone = |(start, _): &(usize, &str)| {
        let before = text[..*start].chars().next_back();
        let after = text[start + needle.len()..].chars().next();
        !(starts_as_word && before.is_some_and(is_word) || ends_as_word && after.is_some_and(is_word))
    };
    let mut lines: Vec<usize> =
        text.match_indices(needle).filter(alone).map(|(start, _)| line_of(text, start)).collect();
    lines.dedup();
    lines
}

/// The line, counted from one, of the byte at `position`.
pub(crate) fn line_of(text: &str, position: usize) -> usize {
    text[..position].bytes().filter(|&byte| byte == b'\n').count() + 1
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The kind and length of what `rest` starts with; at least one character.
fn segment(rest: &str, inside_word: bool) -> (Kind, usize) {
    let first = rest.chars().next().map_or(1, char::len_utf8);
    if rest.starts_with("//") {
        return (Kind::Comment, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (Kind::Comment, block_comment_length(rest));
    }
    if rest.starts_with('"') {
        return (Kind::Text, quoted_length(rest, '"').unwrap_or(rest.len()));
    }
    if rest.starts_with('\'') {
        return char_length(rest).map_or((Kind::Code, first), |length| (Kind::Text, length));
    }
    match raw_length(rest) {
        Some(length) if !inside_word => (Kind::Text, length),
        _ => (Kind::Code, first),
    }
}

fn block_comment_length(rest: &str) -> usize {
    let (mut depth, mut position) = (0_usize, 0);
    while position < rest.len() {
        let here = &rest.as_bytes()[position..];
        if here.starts_with(b"/*") {
            depth += 1;
            position += 2;
        } else if here.starts_with(b"*/") {
            depth -= 1;
            position += 2;
            if depth == 0 {
                return position;
            }
        } else {
            position += 1;
        }
    }
    rest.len()
}

/// The length of a literal in quotes, escapes skipped.
fn quoted_length(rest: &str, quote: char) -> Option<usize> {
    let mut characters = rest.char_indices().skip(1);
    while let Some((position, character)) = characters.next() {
        match character {
            '\\' => drop(characters.next()),
            _ if character == quote => return Some(position + quote.len_utf8()),
            _ => {}
        }
    }
    None
}

/// The length of a character literal; `None` for a lifetime.
fn char_length(rest: &str) -> Option<usize> {
    let mut characters = rest[1..].chars();
    match (characters.next()?, characters.next()) {
        ('\\', _) => quoted_length(rest, '\''),
        (character, Some('\'')) => Some(character.len_utf8() + 2),
        _ => None,
    }
}

/// The length of a raw string, with its prefix.
fn raw_length(rest: &str) -> Option<usize> {
    let prefix = ["br", "cr", "r"].into_iter().find(|prefix| rest.starts_with(prefix))?;
    let fences = rest[prefix.len()..].bytes().take_while(|&byte| byte == b'#').count();
    let body = prefix.len() + fences + 1;
    if rest.as_bytes().get(body - 1) != Some(&b'"') {
        return None;
    }
    let close = format!("\"{}", "#".repeat(fences));
    Some(rest[body..].find(&close).map_or(rest.len(), |end| body + end + close.len()))
}

/// The length of the item that `code` starts with: up to its closing brace, or to a semicolon before any brace.
fn item_length(code: &str) -> usize {
    let mut depth = 0_usize;
    for (position, character) in code.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth <= 1 => return position + 1,
            '}' => depth -= 1,
            ';' if depth == 0 => return position + 1,
            _ => {}
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, code: &str, strings: &str) {
        let masked = MaskedSource::new(text);
        assert_eq!(masked.code.split_whitespace().collect::<Vec<_>>().join(" "), code);
        assert_eq!(masked.strings.split_whitespace().collect::<Vec<_>>().join(" "), strings);
        assert_eq!(masked.code.len(), text.len());
    }

    #[test]
    fn comments_and_strings_are_told_from_code() {
        check("a // b \"c\"\nd", "a d", "");
        check("a /* b /* c */ \" */ d", "a d", "");
        check(r#"f("x // y \" z")"#, "f( )", r#""x // y \" z""#);
        check("g(r#\"q \" // \"#, bar\"s\")", "g( , bar )", "r#\"q \" // \"# \"s\"");
        check("fn h<'a>(c: &'a char) { '\"' }", "fn h<'a>(c: &'a char) { }", "'\"'");
        check(r"x == '\'' || y", "x == || y", r"'\''");
        check("r#type \u{e4} \"\u{e4}\"", "r#type \u{e4}", "\"\u{e4}\"");
    }

    #[test]
    fn comments_are_kept_apart() {
        let masked = MaskedSource::new("//! a\nb(\"// c\") // d\n/* e */ f");
        assert_eq!(
            masked.comments.split_whitespace().collect::<Vec<_>>(),
            ["//!", "a", "//", "d", "/*", "e", "*/"]
        );
        assert_eq!(lines_with(&masked.comments, "d"), [2]);
    }

    #[test]
    fn test_items_are_cut_out() {
        let text = "a();\n#[cfg(test)]\nmod tests { fn f() { b(\"}\") } }\n#[cfg(test)] mod more;\nc();";
        let masked = MaskedSource::new(text).without_tests();
        assert_eq!(masked.code.split_whitespace().collect::<Vec<_>>(), ["a();", "c();"]);
        assert_eq!(masked.strings.trim(), "");
        assert_eq!(lines_with(&masked.code, "c"), [5]);
    }

    #[test]
    fn a_word_is_found_only_on_its_own() {
        assert_eq!(lines_with("rand\noperand\nrandom\nrand::rng", "rand"), [1, 4]);
        assert_eq!(lines_with("eprintln!()\nprintln!()", "println!"), [2]);
        assert_eq!(lines_with("x\nTASK_STATE_DONE\nMY_TASK_STATE_DONE", "TASK_STATE_"), [2]);
    }
}
