//! Splits HTML into tags and text in one pass.

/// A piece of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// Character references are not decoded.
    Text(&'a str),
    Start {
        name: &'a str,
        attributes: &'a str,
    },
    End {
        name: &'a str,
    },
}

/// Elements whose content is raw text up to their end tag.
const RAW_ELEMENTS: &[&str] =
    &["iframe", "noembed", "noframes", "noscript", "script", "style", "textarea", "title", "xmp"];

pub(super) struct Tokens<'a> {
    rest: &'a str,
    /// The current raw element.
    raw: Option<&'a str>,
}

impl<'a> Tokens<'a> {
    pub(super) fn of(html: &'a str) -> Self {
        Self { rest: html, raw: None }
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }

    /// Takes the text up to the next possible tag.
    fn take_text(&mut self) -> &'a str {
        let found = self.rest.char_indices().skip(1).find(|(_, character)| *character == '<');
        self.take(found.map_or(self.rest.len(), |(at, _)| at))
    }

    fn take_raw(&mut self, name: &str) -> &'a str {
        let closes = |at: usize| {
            let tag = self.rest[at + 1..].strip_prefix('/').and_then(|tag| tag.get(..name.len()));
            tag.is_some_and(|tag| tag.eq_ignore_ascii_case(name))
        };
        let end = self.rest.match_indices('<').map(|(at, _)| at).find(|at| closes(*at));
        self.take(end.unwrap_or(self.rest.len()))
    }

    /// Skips past the next `end`, or to the end of the page.
    fn skip_past(&mut self, end: &str) {
        let length = self.rest.find(end).map_or(self.rest.len(), |at| at + end.len());
        self.take(length);
    }

    /// Takes a tag whose name begins at `at`; none if the tag has no end.
    fn take_tag(&mut self, at: usize) -> Option<(&'a str, &'a str)> {
        let inside = &self.rest[at..];
        let named = |byte: u8| !byte.is_ascii_whitespace() && !matches!(byte, b'/' | b'>');
        let name = inside.bytes().position(|byte| !named(byte)).unwrap_or(inside.len());
        let Some(end) = end_of_tag(&inside[name..]) else {
            self.rest = "";
            return None;
        };
        self.take(at + name + end + 1);
        Some((&inside[..name], &inside[name..name + end]))
    }
}

/// The position of the `>` that ends a tag, outside quotes.
fn end_of_tag(attributes: &str) -> Option<usize> {
    let bytes = attributes.as_bytes();
    let (mut at, mut value) = (0, false);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'>' => return Some(at),
            b'=' => value = true,
            quote @ (b'"' | b'\'') if value => {
                at += 1 + bytes[at + 1..].iter().position(|byte| byte == quote)?;
                value = false;
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => value = false,
        }
        at += 1;
    }
    None
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        if let Some(name) = self.raw.take() {
            let text = self.take_raw(name);
            if !text.is_empty() {
                return Some(Token::Text(text));
            }
        }
        loop {
            let bytes = self.rest.as_bytes();
            match (bytes.first()?, bytes.get(1), bytes.get(2)) {
                (b'<', Some(letter), _) if letter.is_ascii_alphabetic() => {
                    let (name, attributes) = self.take_tag(1)?;
                    self.raw = RAW_ELEMENTS.iter().any(|raw| name.eq_ignore_ascii_case(raw)).then_some(name);
                    return Some(Token::Start { name, attributes });
                }
                (b'<', Some(b'/'), Some(letter)) if letter.is_ascii_alphabetic() => {
                    let (name, _) = self.take_tag(2)?;
                    return Some(Token::End { name });
                }
                (b'<', Some(b'!'), _) if self.rest.starts_with("<!--") => self.skip_past("-->"),
                (b'<', Some(b'!' | b'?' | b'/'), _) => self.skip_past(">"),
                _ => return Some(Token::Text(self.take_text())),
            }
        }
    }
}

/// The value of an attribute with character references, empty if it has no value.
pub(super) fn attribute<'a>(attributes: &'a str, wanted: &str) -> Option<&'a str> {
    let mut rest = attributes;
    loop {
        rest = rest.trim_start_matches(|character: char| {
            character.is_ascii_whitespace() || "/=".contains(character)
        });
        if rest.is_empty() {
            return None;
        }
        let end = |character: char| character.is_ascii_whitespace() || "/=".contains(character);
        let name = &rest[..rest.find(end).unwrap_or(rest.len())];
        rest = &rest[name.len()..];
        let spaced = rest.trim_ascii_start();
        let value = match spaced.strip_prefix('=') {
            None => "",
            Some(after) => {
                let (value, after) = value_of(after.trim_ascii_start());
                rest = after;
                value
            }
        };
        if name.eq_ignore_ascii_case(wanted) {
            return Some(value);
        }
    }
}

/// A value and the rest.
fn value_of(text: &str) -> (&str, &str) {
    match text.chars().next().filter(|first| matches!(first, '"' | '\'')) {
        Some(quote) => text[1..].split_once(quote).unwrap_or((&text[1..], "")),
        None => {
            text.split_at(text.find(|character: char| character.is_ascii_whitespace()).unwrap_or(text.len()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(html: &str, expected: &[Token<'_>]) {
        assert_eq!(Tokens::of(html).collect::<Vec<_>>(), expected, "{html}");
    }

    fn start<'a>(name: &'a str, attributes: &'a str) -> Token<'a> {
        Token::Start { name, attributes }
    }

    #[test]
    fn tags_and_text_are_told_apart() {
        use Token::{End, Text};
        check("a<b>c</b >d", &[Text("a"), start("b", ""), Text("c"), End { name: "b" }, Text("d")]);
        check("1 < 2 <3 <", &[Text("1 "), Text("< 2 "), Text("<3 "), Text("<")]);
        check("<a href='x>y' b>z", &[start("a", " href='x>y' b"), Text("z")]);
        check("<a t=it's>z", &[start("a", " t=it's"), Text("z")]);
        check("<!doctype html><!-- <b> -->x<?php ?></>y", &[Text("x"), Text("y")]);
        check("x<!-- never ends <b>", &[Text("x")]);
        check("x<a href=\"never ends>", &[Text("x")]);
        check("é<b>é", &[Text("é"), start("b", ""), Text("é")]);
    }

    #[test]
    fn what_is_raw_ends_only_with_its_own_end() {
        check(
            "<SCRIPT>if (a<b) '</b>'</script>x",
            &[
                start("SCRIPT", ""),
                Token::Text("if (a<b) '</b>'"),
                Token::End { name: "script" },
                Token::Text("x"),
            ],
        );
        check("<style>never ends <b>", &[start("style", ""), Token::Text("never ends <b>")]);
    }

    #[test]
    fn attributes_are_found_however_they_are_written() {
        for (attributes, expected) in [
            (" href=x", Some("x")),
            (" HREF = 'x y' b", Some("x y")),
            (" a=\"href=no\" href=\"x\"", Some("x")),
            (" data-href=x", None),
            (" href", Some("")),
            (" href=\"never ends", Some("never ends")),
            (" a b c/", None),
            ("", None),
        ] {
            assert_eq!(attribute(attributes, "href"), expected, "{attributes}");
        }
    }
}
