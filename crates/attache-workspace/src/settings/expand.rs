//! `$VAR`, `${VAR}` and `${VAR:-otherwise}` in the texts of settings.

/// Longer results leave the text unexpanded.
const MAX_BYTES: usize = 64 << 10;

/// The text with variables expanded; none if it has none. A variable that is not set and has no default stays
/// unexpanded.
pub(crate) fn expand(text: &str, lookup: &mut dyn FnMut(&str) -> Option<String>) -> Option<String> {
    text.contains('$').then_some(())?;
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        expanded.push_str(&rest[..at]);
        rest = &rest[at..];
        let (length, value) = match reference(rest) {
            Some((length, name, otherwise)) => (length, lookup(name).or(otherwise.map(str::to_owned))),
            None => (1, None),
        };
        expanded.push_str(value.as_deref().unwrap_or(&rest[..length]));
        rest = &rest[length..];
        if expanded.len() > MAX_BYTES {
            return None;
        }
    }
    expanded.push_str(rest);
    Some(expanded).filter(|expanded| expanded.len() <= MAX_BYTES)
}

/// The length of the reference at the beginning, its name, and its default.
fn reference(text: &str) -> Option<(usize, &str, Option<&str>)> {
    if let Some(inner) = text.strip_prefix("${") {
        let inner = &inner[..inner.find('}')?];
        let (name, otherwise) = match inner.split_once(":-") {
            Some((name, otherwise)) => (name, Some(otherwise)),
            None => (inner, None),
        };
        return (name_length(name) == name.len() && !name.is_empty()).then_some((
            inner.len() + 3,
            name,
            otherwise,
        ));
    }
    let name = &text[1..1 + name_length(&text[1..])];
    (!name.is_empty()).then_some((name.len() + 1, name, None))
}

fn name_length(text: &str) -> usize {
    let fits = |(at, byte): (usize, u8)| {
        byte == b'_' || byte.is_ascii_alphabetic() || (at > 0 && byte.is_ascii_digit())
    };
    text.bytes().enumerate().take_while(|pair| fits(*pair)).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn variables_are_put_in() {
        let mut lookup = |name: &str| match name {
            "A" => Some("one".to_owned()),
            "B_2" => Some("$A".to_owned()),
            _ => None,
        };
        for (text, expected) in [
            ("$A", "one"),
            ("x${A}y", "xoney"),
            ("$A$A", "oneone"),
            ("$B_2", "$A"),
            ("${C:-else}", "else"),
            ("${C:-}", ""),
            ("${A:-else}", "one"),
            ("$C", "$C"),
            ("${C}", "${C}"),
            ("$", "$"),
            ("$5", "$5"),
            ("${", "${"),
            ("${}", "${}"),
            ("${A B}", "${A B}"),
            ("$Aä$A", "oneäone"),
        ] {
            assert_eq!(expand(text, &mut lookup).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(expand("none", &mut lookup), None);
        let bomb = "$A".repeat(MAX_BYTES);
        assert_eq!(expand(&bomb, &mut lookup), None);
    }

    proptest! {
        #[test]
        fn what_names_no_variable_stays(text in "\\PC*") {
            let expanded = expand(&text, &mut |_| None);
            prop_assert!(text.contains(":-") || expanded.is_none_or(|expanded| expanded == text));
        }
    }
}
