//! JSON with comments, made plain without moving anything: comments and trailing commas become blanks.

/// Text of the same length that is plain JSON if `text` is JSON with comments.
pub(super) struct Blanked {
    pub(super) plain: String,
    /// Where trailing commas were.
    pub(super) commas: Vec<usize>,
}

pub(super) fn blank(text: &str) -> Blanked {
    let mut plain = text.as_bytes().to_vec();
    if text.starts_with('\u{feff}') {
        plain[..3].fill(b' ');
    }
    blank_comments(&mut plain);
    let commas = blank_trailing_commas(&mut plain);
    // Only whole characters became blanks, so it is still text.
    Blanked { plain: String::from_utf8_lossy(&plain).into_owned(), commas }
}

fn blank_comments(bytes: &mut [u8]) {
    let mut at = 0;
    while at < bytes.len() {
        let end = match &bytes[at..] {
            [b'"', ..] => {
                at = string_end(bytes, at);
                continue;
            }
            [b'/', b'/', rest @ ..] => {
                rest.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |length| at + 2 + length)
            }
            [b'/', b'*', rest @ ..] => {
                let closed = rest.windows(2).position(|pair| pair == b"*/");
                // One that never ends stays, so that the text is refused.
                closed.map_or(at, |length| at + 2 + length + 2)
            }
            _ => at,
        };
        bytes[at..end].iter_mut().filter(|byte| !b"\r\n".contains(byte)).for_each(|byte| *byte = b' ');
        at = end.max(at + 1);
    }
}

fn blank_trailing_commas(bytes: &mut [u8]) -> Vec<usize> {
    let mut commas = Vec::new();
    let (mut before, mut last_comma) = (b'{', None);
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            byte if byte.is_ascii_whitespace() => {}
            b'"' => {
                at = string_end(bytes, at);
                (before, last_comma) = (b'"', None);
                continue;
            }
            // After a value only: `[,]` is wrong and stays so.
            b',' if !b"{[:,".contains(&before) => (before, last_comma) = (b',', Some(at)),
            b'}' | b']' => {
                commas.extend(last_comma.take());
                before = b'}';
            }
            byte => (before, last_comma) = (byte, None),
        }
        at += 1;
    }
    commas.iter().for_each(|comma| bytes[*comma] = b' ');
    commas
}

/// Just after the string that begins at `start`.
pub(super) fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(blank(text).plain, expected);
        assert_eq!(expected.len(), text.len(), "nothing moves");
    }

    #[test]
    fn comments_and_trailing_commas_become_blanks() {
        check(r#"{"a": 1}"#, r#"{"a": 1}"#);
        check("{ // x\n\"a\": 1, /* ä */ }", "{     \n\"a\": 1           }");
        check("[1, 2, ]", "[1, 2  ]");
        check(r#"{"a//b": "/* \" */, }"}"#, r#"{"a//b": "/* \" */, }"}"#);
        check("{,}", "{,}");
        check("[1,,]", "[1,,]");
        check("{} /* open", "{} /* open");
        check("{} // end", "{}       ");
        check("\u{feff}{}", "   {}");
        check("\"open", "\"open");
        check("\"open\\", "\"open\\");
    }
}
