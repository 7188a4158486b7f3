//! Vague pronouns and phrases that comments, documents and names must not use.

use crate::tidy::Finding;
use crate::tidy::masked_source::{MaskedSource, line_of, lines_with};
use crate::tidy::source_path::{Role, SourcePath};
use crate::tidy::tree::{File, Tree};

/// Refused in every file. Lower case, as the searched text.
const WORDS: &[&str] = &["somebody", "nobody", "whoever", "those who", "what came of", "what became of"];

/// Refused in Rust outside of [`LENIENT_FOLDERS`] and in [`STRICT_DOCUMENTS`], beside [`WORDS`].
const PHRASES: &[&str] = &[
    "what came",
    "how it stands",
    "how they stand",
    "is told",
    "are told",
    "was told",
    "hears",
    "as good as",
    "nothing came",
    "in its own way",
];

/// Parts of the names of functions, refused in all of Rust.
const NAME_PARTS: &[&str] = &[
    "somebody", "nobody", "whoever", "wish", "wishes", "wished", "perform", "performs", "spell", "spells",
    "spelled",
];

/// Keywords before the name of a type.
const TYPE_KEYWORDS: &[&str] = &["struct ", "enum ", "trait "];

/// Types of one word that may end as a participle: a `Shared` is the state that clones of a type share.
const PARTICIPLES: &[&str] = &["Shared"];

/// Folders, by prefix, with comments that keep to [`WORDS`] only.
const LENIENT_FOLDERS: &[&str] = &["crates/attache/tests/", "examples/", "tests/"];

/// Pages and definitions, by prefix, that keep to [`PHRASES`], too.
const STRICT_DOCUMENTS: &[&str] =
    &["ARCHITECTURE.md", "docs/extension/development-tool.", "docs/extension/gemini.schema."];

/// Files that are published by others.
const FOREIGN_FOLDERS: &[&str] = &["crates/attache-proto/proto/", "crates/attache-wire/tests/golden/"];

/// Files that keep a word: its sentence is as clear as any without it.
const ALLOWED: &[(&str, &str)] = &[("crates/attache-store-sql/src/writer.rs", "nobody")];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let ours = tree.files.iter().filter(|file| !is_in(&file.path, FOREIGN_FOLDERS));
    ours.flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Finding> {
    let mut names = Vec::new();
    let (text, is_strict) = match file.path.rsplit_once('.') {
        Some((_, "rs")) => {
            let source = MaskedSource::new(&file.text);
            names = check_functions(&file.path, &source.code);
            if SourcePath::of(&file.path).is_some_and(|source| source.role == Role::Shipped) {
                let code = MaskedSource::new(&file.text).without_tests().code;
                names.extend(check_types(&file.path, &code));
            }
            (source.comments, !is_in(&file.path, LENIENT_FOLDERS))
        }
        Some((_, "md" | "proto" | "json")) => (file.text.clone(), is_in(&file.path, STRICT_DOCUMENTS)),
        _ => return Vec::new(),
    };
    // ASCII only, so that every byte keeps its line.
    let text = text.to_ascii_lowercase();
    let phrases = PHRASES.iter().filter(|_| is_strict);
    let refused = WORDS.iter().chain(phrases).filter(|word| !ALLOWED.contains(&(file.path.as_str(), word)));
    let findings = refused.flat_map(|word| {
        let message = format!("`{word}`: name the person, client or value, or say what happens");
        let lines = lines_with(&text, word).into_iter();
        lines.map(move |line| Finding::at("plain-words", &file.path, line, message.clone()))
    });
    findings.chain(names).collect()
}

fn check_functions(path: &str, code: &str) -> Vec<Finding> {
    let findings = names_after("fn ", code).filter_map(|(start, name)| {
        let part = name.split('_').find(|part| NAME_PARTS.contains(part))?;
        let message = format!("`{part}` in `{name}`: name the person, client or value, or say what happens");
        Some(Finding::at("plain-words", path, line_of(code, start), message))
    });
    findings.collect()
}

/// A participle alone says what happened to a thing, and not what the thing is.
fn check_types(path: &str, code: &str) -> Vec<Finding> {
    let names = TYPE_KEYWORDS.iter().flat_map(|keyword| names_after(keyword, code));
    let is_participle = |name: &str| {
        name.ends_with("ed")
            && !name.ends_with("eed")
            && name.chars().skip(1).all(char::is_lowercase)
            && !PARTICIPLES.contains(&name)
    };
    let findings = names.filter(|(_, name)| is_participle(name)).map(|(start, name)| {
        let message = format!("`{name}` is a participle: add the noun, as in `{name}Task`");
        Finding::at("plain-words", path, line_of(code, start), message)
    });
    findings.collect()
}

/// The names that follow `keyword`, and where each begins.
fn names_after<'a>(keyword: &'a str, code: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
    let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
    code.match_indices(keyword).map(move |(start, _)| {
        let start = start + keyword.len();
        (start, code[start..].split(|character| !is_name(character)).next().unwrap_or_default())
    })
}

fn is_in(path: &str, folders: &[&str]) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
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
        check_text(
            "tests/a.rs",
            "fn f() {} // What came of it.\n/* somebody */",
            &["tests/a.rs:2", "tests/a.rs:1"],
        );
        check_text("a.rs", "fn f() { say(\"nobody\") } // Asks.", &[]);
        check_text("a.py", "# nobody", &[]);
    }

    #[test]
    fn documents_are_checked() {
        check_text("docs/a.md", "For those who read,\nwhoever they are.", &["docs/a.md:2", "docs/a.md:1"]);
        check_text("docs/a.md", "See `a_test_that_nobody_runs`; the server says what became.", &[]);
    }

    #[test]
    fn definitions_of_formats_are_checked() {
        check_text("docs/a.proto", "// Somebody is asked.\nmessage A {}", &["docs/a.proto:1"]);
        check_text("docs/a.json", "{\n\"description\": \"What somebody said.\"}", &["docs/a.json:2"]);
        check_text("crates/attache-proto/proto/a.proto", "// For those who know.", &[]);
    }

    #[test]
    fn names_and_phrases_are_checked_where_they_have_been_mended() {
        let text = "// How it stands with it.\nfn nobody_is_asked() {}\nfn spelling_counts() {}\n";
        let path = "crates/attache-tool/a.rs";
        check_text(path, text, &["crates/attache-tool/a.rs:1", "crates/attache-tool/a.rs:2"]);
        check_text("crates/attache/tests/a.rs", text, &["crates/attache/tests/a.rs:2"]);
        check_text("ARCHITECTURE.md", text, &["ARCHITECTURE.md:1"]);
        check_text("docs/a.md", "How it stands.", &[]);
    }

    #[test]
    fn types_of_one_word_are_no_participles() {
        let path = "crates/attache-tool/src/a.rs";
        check_text(path, "pub struct Measured;\nenum Told { Told }\n", &[&format!("{path}:1")]);
        check_text(path, "struct Shared;\nstruct MeasuredTask;\ntrait Feed {}", &[]);
        check_text(path, "#[cfg(test)]\nmod tests { struct Measured; }", &[]);
        check_text("crates/attache-tool/tests/a.rs", "struct Measured;", &[]);
    }

    #[test]
    fn the_writer_of_the_store_keeps_its_comment() {
        check_text("crates/attache-store-sql/src/writer.rs", "//! A lone caller waits for nobody.", &[]);
        let path = "crates/attache-store-sql/src/writer.rs";
        check_text(path, "// Whoever waits.", &["crates/attache-store-sql/src/writer.rs:1"]);
    }
}
