//! Decodes character references such as `&amp;`.

use std::borrow::Cow;

/// Common references. Others stay unchanged.
const NAMED_REFERENCES: &[(&str, &str)] = &[
    ("amp", "&"),
    ("apos", "'"),
    ("auml", "ä"),
    ("Auml", "Ä"),
    ("bull", "•"),
    ("cent", "¢"),
    ("check", "✓"),
    ("copy", "©"),
    ("darr", "↓"),
    ("deg", "°"),
    ("divide", "÷"),
    ("eacute", "é"),
    ("egrave", "è"),
    ("emsp", " "),
    ("ensp", " "),
    ("euro", "€"),
    ("frac12", "½"),
    ("ge", "≥"),
    ("gt", ">"),
    ("harr", "↔"),
    ("hellip", "…"),
    ("iexcl", "¡"),
    ("infin", "∞"),
    ("iquest", "¿"),
    ("laquo", "«"),
    ("larr", "←"),
    ("ldquo", "“"),
    ("le", "≤"),
    ("lsquo", "‘"),
    ("lt", "<"),
    ("mdash", "—"),
    ("micro", "µ"),
    ("middot", "·"),
    ("minus", "−"),
    ("nbsp", "\u{a0}"),
    ("ndash", "–"),
    ("ne", "≠"),
    ("not", "¬"),
    ("ntilde", "ñ"),
    ("ouml", "ö"),
    ("Ouml", "Ö"),
    ("para", "¶"),
    ("plusmn", "±"),
    ("pound", "£"),
    ("quot", "\""),
    ("raquo", "»"),
    ("rarr", "→"),
    ("rdquo", "”"),
    ("reg", "®"),
    ("rsquo", "’"),
    ("sect", "§"),
    ("shy", ""),
    ("szlig", "ß"),
    ("thinsp", " "),
    ("times", "×"),
    ("trade", "™"),
    ("uarr", "↑"),
    ("uuml", "ü"),
    ("Uuml", "Ü"),
    ("yen", "¥"),
    ("zwj", ""),
    ("zwnj", ""),
];
/// The length of the longest reference.
const MAX_REFERENCE: usize = 12;

pub(super) fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        decoded.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let end = rest.bytes().take(MAX_REFERENCE).position(|byte| byte == b';');
        match end.and_then(|end| Some((meaning(&rest[..end])?, end))) {
            Some((meaning, end)) => {
                decoded.push_str(&meaning);
                rest = &rest[end + 1..];
            }
            None => decoded.push('&'),
        }
    }
    decoded.push_str(rest);
    Cow::Owned(decoded)
}

fn meaning(name: &str) -> Option<Cow<'static, str>> {
    let Some(number) = name.strip_prefix('#') else {
        return NAMED_REFERENCES
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, text)| Cow::Borrowed(*text));
    };
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok()?,
        None => number.parse().ok()?,
    };
    Some(Cow::Owned(char::from_u32(code)?.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_become_characters_and_the_rest_stays() {
        for (text, expected) in [
            ("a &amp; b &lt;c&gt; &quot;d&quot;", "a & b <c> \"d\""),
            ("&#65;&#x42;&#X1F980;", "AB🦀"),
            ("&auml;&Auml;&hellip;&shy;x", "äÄ…x"),
            (
                "&nope; & &; &#; &#xZ; &#55555555555; &#xD800; AT&T",
                "&nope; & &; &#; &#xZ; &#55555555555; &#xD800; AT&T",
            ),
            ("&é; &amp", "&é; &amp"),
            ("&amp;lt;", "&lt;"),
        ] {
            assert_eq!(decode(text), expected);
        }
    }
}
