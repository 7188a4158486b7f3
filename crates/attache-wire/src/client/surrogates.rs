//! Repairs JSON in which one half of a surrogate pair stands alone.
//!
//! JavaScript agents write it when they cut a text within a character outside the basic plane, such as an emoji.

/// `json` with the replacement character for every escaped half that stands alone; `None` if there is no such half.
pub(super) fn replace_lone_surrogates(json: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let (mut copied, mut place) = (0, 0);
    while let Some(found) = memchr::memchr(b'\\', json.get(place..)?) {
        let escape = place + found;
        let skip = match (surrogate(json, escape), surrogate(json, escape + 6)) {
            (None, _) => 2,
            (Some(Half::High), Some(Half::Low)) => 12,
            (Some(_), _) => {
                out.extend_from_slice(&json[copied..escape]);
                out.extend_from_slice(b"\\ufffd");
                copied = escape + 6;
                6
            }
        };
        place = (escape + skip).min(json.len());
    }
    out.extend_from_slice(&json[copied..]);
    (copied > 0).then_some(out)
}

enum Half {
    High,
    Low,
}

/// The half of a pair that is escaped at `place`.
fn surrogate(json: &[u8], place: usize) -> Option<Half> {
    let digits = json.get(place..place + 6)?.strip_prefix(b"\\u")?;
    let unit = u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    match unit {
        0xD800..=0xDBFF => Some(Half::High),
        0xDC00..=0xDFFF => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_half_that_stands_alone_is_replaced_and_pairs_stay() {
        for (json, expected) in [
            (r#""a\ud83d""#, Some(r#""a\ufffd""#)),
            (r#""\uDE00b\ud83d\ude00""#, Some(r#""\ufffdb\ud83d\ude00""#)),
            (r#""\ud83d\ud83d\ude00""#, Some(r#""\ufffd\ud83d\ude00""#)),
            (r#""\\ud83d \u00e9 \ud83d\ude00""#, None),
            (r#""\ud8"#, None),
            (r"\", None),
            ("", None),
        ] {
            let found = replace_lone_surrogates(json.as_bytes());
            assert_eq!(found.as_deref().map(|it| std::str::from_utf8(it).unwrap()), expected, "{json}");
        }
    }
}
