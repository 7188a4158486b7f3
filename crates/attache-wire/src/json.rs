//! Parses JSON with bounded nesting.
//!
//! Measures the nesting before it builds anything, so a body of brackets costs one scan.

use attache_domain::Fault;
use serde::de::IgnoredAny;
use serde_json::Value;

mod decoded_size;
mod unique_keys;

pub use decoded_size::check_decoded_size;
pub(crate) use decoded_size::decoded_size_fault;
use unique_keys::UniqueKeys;

/// The JSON parser itself refuses deeper nesting; a higher limit has no effect.
pub const MAX_DEPTH: usize = 127;

/// Parses `body` as one JSON value nested at most `max_depth` levels deep.
///
/// [`Fault::Unparsable`] says where the text stops being JSON. [`Fault::InvalidRequest`] names the exceeded nesting
/// limit, or a key that occurs twice in one object: parsers disagree about which one counts.
pub fn parse(body: &[u8], max_depth: usize) -> Result<Value, Fault> {
    let limit = max_depth.min(MAX_DEPTH);
    if let Some(end) = offset_deeper_than(body, limit) {
        // Text that is not JSON has no nesting; skipping it takes no stack.
        return Err(match serde_json::from_slice::<IgnoredAny>(&body[..end]) {
            Err(error) if error.is_syntax() => parse_fault(&error),
            _ => Fault::InvalidRequest {
                what: format!("the body is nested more than {limit} levels deep, which is the limit here"),
            },
        });
    }
    serde_json::from_slice(body).map(|UniqueKeys(value)| value).map_err(|error| match error.is_data() {
        true => Fault::InvalidRequest { what: error.to_string() },
        false => parse_fault(&error),
    })
}

fn parse_fault(error: &serde_json::Error) -> Fault {
    Fault::Unparsable { what: error.to_string() }
}

/// The offset of the first bracket that is nested too deep. Counts brackets outside of strings; whether they match is
/// left to the parser.
fn offset_deeper_than(body: &[u8], limit: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(&byte) = body.get(at) {
        at += 1;
        match byte {
            b'"' => at = end_of_string(body, at),
            b'{' | b'[' => {
                depth += 1;
                if depth > limit {
                    return Some(at);
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// The position after the closing quote of the string whose inside starts at `at`.
fn end_of_string(body: &[u8], mut at: usize) -> usize {
    while let Some(found) = body.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        if body[at + found] == b'"' {
            return at + found + 1;
        }
        at += found + 2;
    }
    body.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_depth(body: &str, depth: usize) {
        assert!(offset_deeper_than(body.as_bytes(), depth).is_none(), "{body} is at most {depth} deep");
        if depth > 0 {
            assert!(offset_deeper_than(body.as_bytes(), depth - 1).is_some(), "{body} is {depth} deep");
        }
    }

    #[test]
    fn nesting_is_counted_outside_of_strings_only() {
        check_depth("1", 0);
        check_depth("[]", 1);
        check_depth(r#"{"a":[{"b":1}],"c":[[2]]}"#, 3);
        check_depth(r#"["[[[[","\"[[[","\\",["x"]]"#, 2);
        check_depth(r#"["unclosed [[["#, 1);
        check_depth(r#"["ends in a backslash \"#, 1);
    }

    #[test]
    fn the_nesting_limit_is_named() {
        let fault = parse(b"[[[1]]]", 2).unwrap_err();
        assert!(matches!(&fault, Fault::InvalidRequest { what } if what.contains("2 levels")), "{fault}");
        assert!(parse(b"[[1]]", 2).is_ok());
    }

    #[test]
    fn what_is_not_json_is_told_apart_from_what_is_too_deep() {
        for (body, is_json) in
            [("[[[", true), ("[[[1", true), ("}[[[", false), ("x[[[[", false), ("\u{1}{{{", false)]
        {
            let fault = parse(body.as_bytes(), 2).unwrap_err();
            assert_eq!(matches!(fault, Fault::InvalidRequest { .. }), is_json, "{body}: {fault}");
        }
    }

    #[test]
    fn the_deepest_allowed_nesting_still_parses() {
        let body = format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
        assert!(parse(body.as_bytes(), usize::MAX).is_ok());
        let body = format!("[{body}]");
        assert!(matches!(parse(body.as_bytes(), usize::MAX), Err(Fault::InvalidRequest { .. })));
    }

    #[test]
    fn bad_json_says_where() {
        for (body, place) in [
            (&b"{\"a\":1,}"[..], "line 1 column 8"),
            (b"", "line 1 column 0"),
            (b"{\n\"a\" 1}", "line 2 column 5"),
            (b"{} {}", "line 1 column 4"),
            (b"\"\xff\"", "line 1 column"),
        ] {
            let fault = parse(body, 64).unwrap_err();
            assert!(matches!(&fault, Fault::Unparsable { what } if what.contains(place)), "{fault}");
        }
    }
}
