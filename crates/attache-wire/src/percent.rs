//! Percent-encoding, as it occurs in paths and in queries.

use std::borrow::Cow;

/// One path segment, decoded. `None` when an escape is broken or the result is not UTF-8.
pub(crate) fn decode_segment(segment: &str) -> Option<Cow<'_, str>> {
    if memchr::memchr(b'%', segment.as_bytes()).is_none() {
        return Some(Cow::Borrowed(segment));
    }
    decode(segment.bytes()).map(Cow::Owned)
}

/// The pairs of a query string, decoded. A pair that cannot be decoded is left out; one without `=`
/// has an empty value.
pub(crate) fn query_pairs(query: &str) -> impl Iterator<Item = (String, String)> {
    query.split('&').filter(|pair| !pair.is_empty()).filter_map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        Some((decode_query(name)?, decode_query(value)?))
    })
}

fn decode_query(text: &str) -> Option<String> {
    decode(text.bytes().map(|byte| if byte == b'+' { b' ' } else { byte }))
}

fn decode(mut bytes: impl Iterator<Item = u8>) -> Option<String> {
    let mut decoded = Vec::new();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => hex(bytes.next()?)? << 4 | hex(bytes.next()?)?,
            byte => byte,
        });
    }
    String::from_utf8(decoded).ok()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
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
        let pairs: Vec<_> = query_pairs("a=1&b=x+y%2B&&c&bad=%&d==").collect();
        let expected = [("a", "1"), ("b", "x y+"), ("c", ""), ("d", "=")];
        assert_eq!(pairs, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}
