//! Percent-encoding in paths and queries.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, percent_decode_str, utf8_percent_encode};

/// Dots are encoded too: `..` would be a step up.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'~');

/// Encodes everything but letters, digits, `-`, `_` and `~`.
pub(crate) fn encode(text: &str) -> PercentEncode<'_> {
    utf8_percent_encode(text, ENCODED)
}

/// Decodes one path segment. `None` when an escape is broken or the result is not UTF-8.
pub(crate) fn decode_segment(segment: &str) -> Option<Cow<'_, str>> {
    let mut escapes = segment.split('%').skip(1).map(|after| after.as_bytes());
    let is_whole =
        |after: &[u8]| matches!(after, [a, b, ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit());
    if !escapes.all(is_whole) {
        return None;
    }
    percent_decode_str(segment).decode_utf8().ok()
}

/// Decodes what can be decoded; the rest stays, and what is not UTF-8 is replaced.
pub(crate) fn decode_lossy(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8_lossy()
}

/// Decodes the pairs of a query string. One without `=` has an empty value; a value that cannot be decoded is `None`, and
/// such a name stays as it is.
pub(crate) fn query_pairs(query: &str) -> impl Iterator<Item = (String, Option<String>)> {
    query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        match decode_query(name) {
            Some(name) => (name, decode_query(value)),
            None => (name.to_owned(), None),
        }
    })
}

fn decode_query(text: &str) -> Option<String> {
    decode_segment(&text.replace('+', " ")).map(Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_decoded_and_plus_is_an_ordinary_character() {
        assert_eq!(decode_segment("a%2Fb%20+").as_deref(), Some("a/b +"));
        assert_eq!(decode_segment("%C3%BC").as_deref(), Some("ü"));
        for broken in ["%", "%2", "%zz", "%ff"] {
            assert_eq!(decode_segment(broken), None, "{broken}");
        }
    }

    #[test]
    fn queries_are_decoded_pair_by_pair() {
        let pairs: Vec<_> = query_pairs("a=1&b=x+y%2B&&c&bad=%&%ff=1&d==").collect();
        let expected = [
            ("a", Some("1")),
            ("b", Some("x y+")),
            ("c", Some("")),
            ("bad", None),
            ("%ff", None),
            ("d", Some("=")),
        ];
        assert_eq!(pairs, expected.map(|(name, value)| (name.to_owned(), value.map(str::to_owned))));
    }
}
