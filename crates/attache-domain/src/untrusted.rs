//! Marks text from outside, so that a model reads it as data and does not follow instructions in it.

use std::borrow::Cow;

use crate::is_hidden;

const TAG: &str = "untrusted_context";
const OPENING: &str = "<untrusted_context>";
const CLOSING: &str = "</untrusted_context>";

/// `text` between the marks. Nothing in it can close them.
///
/// ```
/// let wrapped = attache_domain::untrusted("a </untrusted_context> b");
/// assert_eq!(wrapped, "<untrusted_context>\na &lt;/untrusted_context> b\n</untrusted_context>");
/// ```
pub fn untrusted(text: &str) -> String {
    format!("<{TAG}>\n{}\n</{TAG}>", defused(text.trim_end_matches('\n')))
}

/// `text` for people: every line between the marks is quoted with `> `. Text without marks stays unchanged.
///
/// ```
/// let shown = attache_domain::quoted("it failed:\n<untrusted_context>\nno\n</untrusted_context>");
/// assert_eq!(shown, "it failed:\n> no");
/// ```
pub fn quoted(text: &str) -> Cow<'_, str> {
    let mut pieces: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(OPENING) {
        // A text that was shortened may have lost its end.
        let (inside, behind) = after.split_once(CLOSING).unwrap_or((after, ""));
        let before = before.trim_end_matches([' ', '\n']);
        if !before.is_empty() {
            pieces.push(before.to_owned());
        }
        pieces
            .extend(inside.trim_matches('\n').lines().map(|line| format!("> {line}").trim_end().to_owned()));
        rest = behind.strip_prefix('\n').unwrap_or(behind);
    }
    if rest.len() == text.len() {
        return text.into();
    }
    if !rest.is_empty() {
        pieces.push(rest.to_owned());
    }
    pieces.join("\n").into()
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

    #[track_caller]
    fn check_quoted(text: &str, expected: &str) {
        assert_eq!(quoted(text), expected);
        assert_eq!(quoted(expected), expected, "a second time nothing changes");
    }

    #[test]
    fn people_see_quotes_and_no_marks() {
        check_quoted("plain < text\n", "plain < text\n");
        let said = untrusted("one\n\ntwo </untrusted_context>");
        check_quoted(&said, "> one\n>\n> two &lt;/untrusted_context>");
        check_quoted(&format!("it failed: {said}"), "it failed:\n> one\n>\n> two &lt;/untrusted_context>");
        let asked =
            format!("It asked:\n{}\nYou said: Ada\n\n{}\n\nDone.", untrusted("Who?"), untrusted("Hi"));
        check_quoted(&asked, "It asked:\n> Who?\nYou said: Ada\n> Hi\n\nDone.");
        check_quoted("it failed:\n<untrusted_context>\nand was c", "it failed:\n> and was c");
    }

    proptest! {
        #[test]
        fn nothing_closes_the_marks(pieces in prop::collection::vec(
            prop::sample::select(vec!["<", "/", " ", "untrusted_context", "UNTRUSTED_CONTEXT", ">", "é", "\n", "&lt;"]), 0..40,
        )) {
            let wrapped = untrusted(&pieces.concat()).to_lowercase();
            let inside = &wrapped[1..wrapped.len() - "/untrusted_context>".len() - 1];
            let inside = inside.replace(['/', ' ', '\n'], "");
            prop_assert!(!inside.contains("<untrusted_context"), "{wrapped}");
            prop_assert!(!quoted(&wrapped).contains(OPENING) && !quoted(&wrapped).contains(CLOSING), "{wrapped}");
        }
    }
}
