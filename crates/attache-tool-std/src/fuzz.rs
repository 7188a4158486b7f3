//! Entry points for arbitrary bytes: nothing may panic, and decoded values keep their meaning.
//!
//! Called by the tests of this crate and by the targets in the folder `fuzz`. Only [`inputs()`] touches the disk.

mod filled;
mod fuzz_workspace;
mod inputs;
mod proposed;

use std::path::{Component, Path};

use attache_net::Url;
use attache_tool::{IgnoreSources, Workspace};

use crate::path_pattern::PathPattern;
use crate::text_form::TextForm;
use crate::{ask_user, html, ignore_rules, mentions, replace, shell, text_file, web_fetch, workspace};

/// Three texts with a NUL between them: a file, the text to find in it, and the replacement.
pub fn edit(texts: &[u8]) {
    let texts = String::from_utf8_lossy(texts);
    let mut texts = texts.splitn(3, '\0');
    let mut next = || texts.next().unwrap_or_default();
    replace::fuzz::replaced(next(), next(), next());
}

/// The output of a program on its terminal.
pub fn program_output(bytes: &[u8]) {
    shell::fuzz::said(bytes);
}

/// The bytes of a file: decoded text is encoded as the same bytes.
pub fn file(bytes: &[u8]) {
    if let Some((form, text)) = TextForm::decode(bytes) {
        // A second byte order mark in the text is dropped.
        if !text.starts_with('\u{feff}') {
            let written = form.encode(&text);
            assert_eq!(written, bytes);
            assert_eq!(TextForm::decode(&written), Some((form, text.clone())));
        }
        let plain = form.with_plain_ends(&text).into_owned();
        assert_eq!(form.with_own_ends(plain), text, "line ends come back");
    }
    let _ = text_file::looks_binary(bytes);
    text_file::decode(bytes.to_vec());
}

/// A web page: its text keeps to its limit.
pub fn page(html: &[u8]) {
    const LIMIT: usize = 500;
    let html = String::from_utf8_lossy(html);
    let base = Url::parse("https://example.com/a/b").expect("a URL");
    let read = html::page_text(&html, &base, LIMIT);
    assert!(read.text.len() <= LIMIT + 4096, "{} bytes", read.text.len());
    assert!(read.title.is_none_or(|title| title.len() <= 2048));
}

/// A path from a model: every found file is inside the workspace.
pub fn path(text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    let place = Workspace {
        roots: vec!["/project/one".into(), "/project/two".into()],
        scratch: "/scratch".into(),
        environment: Vec::new(),
        ignore: IgnoreSources::default(),
    };
    if let Ok(found) = workspace::locate(&place, &text) {
        let path = found.path();
        let climbs = path.components().any(|part| matches!(part, Component::ParentDir | Component::CurDir));
        assert!(!climbs, "{path:?}");
        let inside = place.roots.iter().chain([&place.scratch]).any(|root| path.starts_with(root));
        assert!(inside, "{path:?}");
    }
    for mention in mentions::find_mentions(&text) {
        assert!(text.get(mention.span.clone()).is_some_and(|word| word.starts_with('@')), "{mention:?}");
    }
}

/// A pattern, and after a line break a path.
pub fn pattern(text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    let (pattern, path) = text.split_once('\n').unwrap_or((&text, "a/b.rs"));
    let Ok(pattern) = PathPattern::new("glob", "pattern", pattern, true) else { return };
    let path = Path::new(path);
    let ordinary = path.components().all(|part| matches!(part, Component::Normal(_)));
    if ordinary && pattern.matches(path) {
        for folder in path.ancestors().skip(1) {
            assert!(pattern.may_match_in(folder), "{path:?} matches, so {folder:?} has to be looked into");
        }
    }
}

/// Ignore rules of several files.
pub fn ignore_rules(texts: &[u8]) {
    ignore_rules::fuzz::rules_of_a_project(texts);
}

/// Questions of a model and a person's answers, as one JSON object.
pub fn answers(text: &[u8]) {
    ask_user::fuzz::answered(text);
}

/// A response: its media type in the first line, then the body. Also used as a prompt with URLs.
pub fn web(answer: &[u8]) {
    web_fetch::fuzz::fetched(answer);
}

/// Inputs for every tool, in this folder. The folder is created if needed and never changed. Only read-only tools run.
pub fn inputs(folder: &Path, text: &[u8]) {
    inputs::given(folder, text);
}

#[cfg(test)]
mod tests {
    use attache_testkit::fuzzing::{check_arbitrary_bytes, check_likely_input};

    use super::*;

    /// Pieces of the texts, so that inputs reach beyond the first of several texts.
    const WORDS: &[&str] = &[
        "a",
        "fn b() {",
        "}",
        "  ",
        "\t",
        "\n",
        "\r\n",
        "\r",
        "\0",
        "\u{2028}",
        "é",
        "/",
        "..",
        "../",
        "./",
        "*",
        "**/",
        "?",
        "[a-z]",
        "{a,b}",
        "!",
        "#",
        "@",
        "<p>",
        "</p>",
        "<a href=x>",
        "<li>",
        "<!--",
        "&amp;",
        "&#x41;",
        "\x1b[2J",
        "\x1b[1;1H",
        "\x1b]0;t",
        "",
        "/project/one/",
        "https://a.test/",
        "text/html; charset=latin1\n",
        r#"{"questions":[{"question":"q","header":"h","type":"yesno"}],"answers":"#,
        r#""yes""#,
        "\u{202e}",
    ];

    fn all(bytes: &[u8]) {
        edit(bytes);
        program_output(bytes);
        file(bytes);
        page(bytes);
        path(bytes);
        pattern(bytes);
        ignore_rules(bytes);
        answers(bytes);
        web(bytes);
    }

    #[test]
    fn what_once_did_harm_does_none() {
        file(b"\xff\xfe\xff\xfe\xff\xff\x0a\0\x0b\x60");
        program_output(b"\xc3\x0c\x1b\x1b[0000001599396Cz\xff\xff\xff");
    }

    #[test]
    fn arbitrary_bytes_do_no_harm() {
        check_arbitrary_bytes(all);
    }

    #[test]
    fn likely_texts_do_no_harm() {
        check_likely_input(WORDS, 40, all);
    }
}
