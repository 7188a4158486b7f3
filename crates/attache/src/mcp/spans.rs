//! Where things are in a JSON text that is known to be valid.

use std::ops::Range;

use super::blank::string_end;

/// An object in the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Object {
    /// Of its braces.
    pub(super) open: usize,
    pub(super) close: usize,
    pub(super) members: Vec<Member>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) key: String,
    /// Where the key begins.
    pub(super) start: usize,
    pub(super) value: Range<usize>,
}

impl Object {
    /// The object that begins at or after `from`, if the next thing is one.
    pub(super) fn at(plain: &str, from: usize) -> Option<Self> {
        let open = skip_blanks(plain, from);
        if plain.as_bytes().get(open) != Some(&b'{') {
            return None;
        }
        let mut members = Vec::new();
        let mut at = skip_blanks(plain, open + 1);
        while plain.as_bytes().get(at) == Some(&b'"') {
            let (start, end) = (at, string_end(plain.as_bytes(), at));
            let key = serde_json::from_str(plain.get(start..end)?).ok()?;
            let colon = skip_blanks(plain, end);
            let value_start = skip_blanks(plain, colon + 1);
            let value = value_start..value_end(plain, value_start);
            at = skip_blanks(plain, value.end);
            members.push(Member { key, start, value });
            if plain.as_bytes().get(at) == Some(&b',') {
                at = skip_blanks(plain, at + 1);
            }
        }
        (plain.as_bytes().get(at) == Some(&b'}')).then_some(Self { open, close: at, members })
    }

    pub(super) fn all<'a>(&'a self, key: &str) -> Vec<&'a Member> {
        self.members.iter().filter(|member| member.key == key).collect()
    }
}

fn skip_blanks(plain: &str, from: usize) -> usize {
    let rest = plain.as_bytes().get(from..).unwrap_or_default();
    from + rest.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(rest.len())
}

fn value_end(plain: &str, start: usize) -> usize {
    let bytes = plain.as_bytes();
    let (mut at, mut depth) = (start, 0_usize);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = string_end(bytes, at) - 1,
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => return at,
            b'}' | b']' => depth -= 1,
            b',' if depth == 0 => return at,
            byte if depth == 0 && byte.is_ascii_whitespace() => return at,
            _ => {}
        }
        at += 1;
        if depth == 0 && b"\"}]".contains(&bytes[at - 1]) {
            return at;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_with_their_values() {
        let plain = r#" { "a" : {"x":[1,"}"]} ,"b\"":-1.5, "c":"{", "d":[ ] , "e":true }"#;
        let object = Object::at(plain, 0).unwrap();
        let found: Vec<_> =
            object.members.iter().map(|member| (member.key.as_str(), &plain[member.value.clone()])).collect();
        assert_eq!(
            found,
            [("a", r#"{"x":[1,"}"]}"#), ("b\"", "-1.5"), ("c", r#""{""#), ("d", "[ ]"), ("e", "true")]
        );
        assert_eq!(&plain[object.open..=object.open], "{");
        assert_eq!(object.close, plain.len() - 1);
        assert_eq!(Object::at("[1]", 0), None);
        assert_eq!(Object::at("{}", 0).unwrap().members, []);
    }
}
