//! Marks text from outside, so that a model reads it as data and does not follow instructions in it.

use attache_domain::is_hidden;

const TAG: &str = "untrusted_context";

/// `text` between the marks. Nothing in it can close them.
///
/// ```
/// let wrapped = attache_tool::untrusted("a </untrusted_context> b");
/// assert_eq!(wrapped, "<untrusted_context>\na &lt;/untrusted_context> b\n</untrusted_context>");
/// ```
pub fn untrusted(text: &str) -> String {
    format!("<{TAG}>\n{}\n</{TAG}>", defused(text.trim_end_matches('\n')))
}

/// Escapes every mark in the text, in any case and with any blanks.
fn defused(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        safe.push_str(before);
        safe.push_str(if begins_mark(&from[1..]) { "&lt;" } else { "<" });
        rest = &from[1..];
    }
    safe.push_str(rest);
    safe
}

/// Skips blanks, slashes and invisible characters, but only up to the next `<`, so every character is read at most twice.
fn begins_mark(after: &str) -> bool {
    let passed = |character: char| character.is_whitespace() || character == '/' || is_hidden(character);
    let name = after.trim_start_matches(passed).get(..TAG.len());
    name.is_some_and(|name| name.eq_ignore_ascii_case(TAG))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(untrusted(text), format!("<{TAG}>\n{expected}\n</{TAG}>"));
    }

    #[test]
    fn marks_inside_are_harmless() {
        check("plain <b>text</b>\n", "plain <b>text</b>");
        check("</untrusted_context>", "&lt;/untrusted_context>");
        check("<untrusted_context>", "&lt;untrusted_context>");
        check("< / UnTrusted_Context x", "&lt; / UnTrusted_Context x");
        check("<<//untrusted_context", "<&lt;//untrusted_context");
        check("<\u{200b}/\u{0}untrusted_context>", "&lt;\u{200b}/\u{0}untrusted_context>");
        check(
            "<\u{2061}/\u{3164}\u{fe0f}untrusted_context>",
            "&lt;\u{2061}/\u{3164}\u{fe0f}untrusted_context>",
        );
        let blanks = " ".repeat(1_000);
        check(&format!("</{blanks}untrusted_context"), &format!("&lt;/{blanks}untrusted_context"));
        check("</untrusted_conte", "</untrusted_conte");
        check("</untrusted_contex€", "</untrusted_contex€");
    }

    proptest! {
        #[test]
        fn nothing_closes_the_marks(pieces in prop::collection::vec(
            prop::sample::select(vec!["<", "/", " ", "untrusted_context", "UNTRUSTED_CONTEXT", ">", "é", "\n", "&lt;"]), 0..40,
        )) {
            let wrapped = untrusted(&pieces.concat()).to_lowercase();
            let inside = &wrapped[1..wrapped.len() - "/untrusted_context>".len() - 1];
            let mark = regex::Regex::new(r"<[\s/]*untrusted_context").unwrap();
            prop_assert!(!mark.is_match(inside), "{wrapped}");
        }
    }
}
