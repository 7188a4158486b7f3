//! JSON as people write it: with comments and with a comma too many.

use serde_json::Number;

use crate::node::{MAX_DEPTH, Node, NodeKind, ParseError};

pub(crate) fn parse(text: &str) -> Result<Node, ParseError> {
    let mut parser = Parser { text, at: 0, line: 1 };
    parser.skip()?;
    if parser.peek().is_none() {
        return Ok(Node::empty());
    }
    let node = parser.value(0)?;
    parser.skip()?;
    match parser.peek() {
        None => Ok(node),
        Some(found) => Err(parser.expected("the end", found)),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    line: u32,
}

impl<'a> Parser<'a> {
    fn value(&mut self, level: usize) -> Result<Node, ParseError> {
        let line = self.line;
        if level > MAX_DEPTH {
            return Err(self.error(format!("nested deeper than {MAX_DEPTH} levels")));
        }
        let kind = match self.peek() {
            Some('{') => self.table(level)?,
            Some('[') => self.list(level)?,
            Some('"') => NodeKind::Text(self.string()?),
            Some('-' | '0'..='9') => NodeKind::Number(self.number()?),
            Some(letter) if letter.is_ascii_alphabetic() => self.word()?,
            Some(found) => return Err(self.expected("a value", found)),
            None => return Err(self.ends("a value")),
        };
        Ok(Node { line, kind })
    }

    fn table(&mut self, level: usize) -> Result<NodeKind, ParseError> {
        let mut entries: Vec<(String, Node)> = Vec::new();
        self.advance();
        loop {
            self.skip()?;
            match self.peek() {
                Some('}') => break,
                Some('"') => {}
                Some(found) => return Err(self.expected("a name in double quotes, or }", found)),
                None => return Err(self.ends("}")),
            }
            let line = self.line;
            let name = self.string()?;
            self.skip()?;
            self.take(':')?;
            self.skip()?;
            let node = Node { line, ..self.value(level + 1)? };
            entries.retain(|(known, _)| *known != name);
            entries.push((name, node));
            if !self.comma('}')? {
                break;
            }
        }
        self.advance();
        Ok(NodeKind::Table(entries))
    }

    fn list(&mut self, level: usize) -> Result<NodeKind, ParseError> {
        let mut nodes = Vec::new();
        self.advance();
        loop {
            self.skip()?;
            if self.peek() == Some(']') {
                break;
            }
            nodes.push(self.value(level + 1)?);
            if !self.comma(']')? {
                break;
            }
        }
        self.advance();
        Ok(NodeKind::List(nodes))
    }

    /// Whether there may be more; otherwise the closing bracket is next.
    fn comma(&mut self, close: char) -> Result<bool, ParseError> {
        self.skip()?;
        match self.peek() {
            Some(',') => {
                self.advance();
                Ok(true)
            }
            Some(found) if found == close => Ok(false),
            Some(found) => Err(self.expected(&format!("a comma or {close}"), found)),
            None => Err(self.ends(&close.to_string())),
        }
    }

    fn string(&mut self) -> Result<String, ParseError> {
        let rest = self.rest();
        let mut escaped = false;
        let end = rest.char_indices().skip(1).find(|(_, letter)| {
            let closes = !escaped && *letter == '"';
            escaped = !escaped && *letter == '\\';
            closes || *letter == '\n'
        });
        let Some((end, '"')) = end else { return Err(self.error("a text without its closing quote".into())) };
        let text = serde_json::from_str(&rest[..=end])
            .map_err(|_| self.error("a text with a character or an escape that JSON does not know".into()))?;
        self.at += end + 1;
        Ok(text)
    }

    fn number(&mut self) -> Result<Number, ParseError> {
        let rest = self.rest();
        let end = rest.find(|letter: char| !(letter.is_ascii_alphanumeric() || "+-.".contains(letter)));
        let digits = &rest[..end.unwrap_or(rest.len())];
        let number = serde_json::from_str(digits).map_err(|_| self.error("a number that is none".into()))?;
        self.at += digits.len();
        Ok(number)
    }

    fn word(&mut self) -> Result<NodeKind, ParseError> {
        let rest = self.rest();
        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let kind = match &rest[..end] {
            "true" => NodeKind::Bool(true),
            "false" => NodeKind::Bool(false),
            "null" => NodeKind::Null,
            _ => return Err(self.error("a word that is not true, false or null; texts need quotes".into())),
        };
        self.at += end;
        Ok(kind)
    }

    /// Past blanks and comments.
    fn skip(&mut self) -> Result<(), ParseError> {
        loop {
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(inner) = rest.strip_prefix("/*") {
                let Some(end) = inner.find("*/") else { return Err(self.ends("*/")) };
                let comment = &rest[..end + 4];
                self.line += u32::try_from(comment.matches('\n').count()).unwrap_or(0);
                self.at += comment.len();
            } else if rest.starts_with(|letter: char| letter.is_whitespace()) {
                self.advance();
            } else {
                return Ok(());
            }
        }
    }

    fn take(&mut self, wanted: char) -> Result<(), ParseError> {
        match self.peek() {
            Some(found) if found == wanted => {
                self.advance();
                Ok(())
            }
            Some(found) => Err(self.expected(&wanted.to_string(), found)),
            None => Err(self.ends(&wanted.to_string())),
        }
    }

    fn advance(&mut self) {
        if let Some(letter) = self.peek() {
            self.line += u32::from(letter == '\n');
            self.at += letter.len_utf8();
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn expected(&self, wanted: &str, found: char) -> ParseError {
        self.error(format!("expected {wanted}, found {found:?}"))
    }

    fn ends(&self, wanted: &str) -> ParseError {
        self.error(format!("expected {wanted}, but the text ends here"))
    }

    fn error(&self, message: String) -> ParseError {
        ParseError { line: self.line, message }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn comments_and_commas_too_many_are_let_pass() {
        for (text, expected) in [
            ("", json!({})),
            (" // nothing\n/* more\n */ ", json!({})),
            (
                r#"{"a": 1, /* x */ "b": [true, null, "c // d",], // e
               }"#,
                json!({"a": 1, "b": [true, null, "c // d"]}),
            ),
            (r#"{"a": "q\"\u00e4\\"}"#, json!({"a": "q\"ä\\"})),
            (r#"{"a": 1, "a": 2}"#, json!({"a": 2})),
            ("[1.5, -2e3, []]", json!([1.5, -2000.0, []])),
        ] {
            assert_eq!(parse(text).map(|node| node.to_json()), Ok(expected), "{text}");
        }
    }

    #[test]
    fn lines_are_those_of_the_names() {
        let NodeKind::Table(entries) = parse("{\n\"a\":\n\n1,\n/*\n*/\"b\": {\n\"c\": 2}}").unwrap().kind
        else {
            panic!()
        };
        let lines: Vec<_> = entries.iter().map(|(name, node)| (name.as_str(), node.line)).collect();
        assert_eq!(lines, [("a", 2), ("b", 6)]);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, line, message) in [
            ("{\n\"a\" 1}", 2, "expected :, found '1'"),
            ("{\"a\": 1", 1, "expected }, but the text ends here"),
            ("{\n\na: 1}", 3, "expected a name in double quotes, or }, found 'a'"),
            ("{} x", 1, "expected the end, found 'x'"),
            ("{\"a\": yes}", 1, "a word that is not true, false or null; texts need quotes"),
            ("{\"a\": \"b\n\"}", 1, "a text without its closing quote"),
            ("{\"a\": 1-2}", 1, "a number that is none"),
            ("/* x", 1, "expected */, but the text ends here"),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!((error.line, error.message.as_str()), (line, message), "{text}");
        }
        let deep = "[".repeat(10_000);
        assert!(parse(&deep).unwrap_err().message.contains("nested deeper"));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_fall_over(text in "\\PC*") {
            let _ = parse(&text);
        }

        #[test]
        fn nor_does_text_that_is_nearly_json(text in "[\\[\\]{}\",:/*\n a1.e\\\\tn-]{0,200}") {
            let _ = parse(&text);
        }

        #[test]
        fn what_is_json_means_what_it_means(a in any::<i64>(), b in "\\PC*", c in proptest::option::of(any::<bool>())) {
            let value = json!({"a": a, "b": {&b: [b, c]}});
            prop_assert_eq!(parse(&value.to_string()).unwrap().to_json(), value.clone());
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            prop_assert_eq!(parse(&pretty).unwrap().to_json(), value as Value);
        }
    }
}
