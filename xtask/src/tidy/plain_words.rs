//! Vague pronouns and phrases that comments and documents must not use.

use crate::tidy::Finding;
use crate::tidy::masked_source::{MaskedSource, lines_with};
use crate::tidy::tree::{File, Tree};

/// Lower case, as the searched text.
const WORDS: &[&str] = &["somebody", "nobody", "whoever", "those who", "what came of", "what became of"];

/// Files that keep a word: its sentence is as clear as any without it.
const ALLOWED: &[(&str, &str)] = &[("crates/attache-store-sql/src/writer.rs", "nobody")];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    tree.files.iter().flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Finding> {
    let text = match file.path.rsplit_once('.') {
        Some((_, "rs")) => MaskedSource::new(&file.text).comments,
        Some((_, "md")) => file.text.clone(),
        _ => return Vec::new(),
    };
    // ASCII only, so that every byte keeps its line.
    let text = text.to_ascii_lowercase();
    let refused = WORDS.iter().filter(|word| !ALLOWED.contains(&(file.path.as_str(), word)));
    let findings = refused.flat_map(|word| {
        let message = format!("`{word}`: name the person, client or value, or say what happens");
        let lines = lines_with(&text, word).into_iter();
        lines.map(move |line| Finding::at("plain-words", &file.path, line, message.clone()))
    });
    findings.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_text(path: &str, text: &str, expected: &[&str]) {
        let findings = check(&Tree::of(&[(path, text)]));
        let places: Vec<_> = findings.iter().map(|finding| finding.place.as_str()).collect();
        assert_eq!(places, expected, "{findings:?}");
    }

    #[test]
    fn comments_are_checked_and_code_is_not() {
        check_text("a.rs", "//! Who asks.\n\n/// Nobody knows.\nfn f() {}", &["a.rs:3"]);
        check_text("a.rs", "fn f() {} // What came of it.\n/* somebody */", &["a.rs:2", "a.rs:1"]);
        check_text("a.rs", "fn nobody_is_asked() { say(\"nobody\") } // Asks.", &[]);
        check_text("a.py", "# nobody", &[]);
    }

    #[test]
    fn documents_are_checked() {
        check_text("docs/a.md", "For those who read,\nwhoever they are.", &["docs/a.md:2", "docs/a.md:1"]);
        check_text("docs/a.md", "See `a_test_that_nobody_runs`; the server says what became.", &[]);
    }

    #[test]
    fn the_writer_of_the_store_keeps_its_comment() {
        check_text("crates/attache-store-sql/src/writer.rs", "//! A lone caller waits for nobody.", &[]);
        let path = "crates/attache-store-sql/src/writer.rs";
        check_text(path, "// Whoever waits.", &["crates/attache-store-sql/src/writer.rs:1"]);
    }
}
