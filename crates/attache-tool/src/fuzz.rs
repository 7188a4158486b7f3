//! Entry points for arbitrary bytes: nothing may panic, and decoded values keep their meaning.
//!
//! Called by the tests of this crate and by the targets in the folder `fuzz`.

use crate::diff;
use crate::policy::{self, PolicyDecision, PolicyTier};
use crate::{registry, shell};

/// A command line.
pub fn shell_line(line: &[u8]) {
    let line = String::from_utf8_lossy(line);
    let parsed = shell::parse(&line);
    assert_eq!(parsed, shell::parse(&line), "read twice, read alike");
    assert!(parsed.segments.len() <= 2 * line.len() + 1, "{} segments", parsed.segments.len());
    let roots = shell::roots(&parsed);
    // Where the line is not understood, the grammar may produce a program without a name.
    let named = line.contains(['"', '\'', '$', '\\']) || roots.iter().all(|root| !root.is_empty());
    assert!(named || !parsed.sure, "{roots:?}");
    for segment in &parsed.segments {
        let _ = (segment.base(), segment.known_arguments(), segment.text());
    }
}

/// Rules of an operator or a user. Parsed, written and parsed again, they are the same.
pub fn policy_rules(text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    if let Ok(rules) = policy::read("rules.toml", &text, PolicyTier::User) {
        let written = policy::to_toml(&rules);
        let again = policy::read("rules.toml", &written, PolicyTier::User).expect("what was written is read");
        assert_eq!(again.len(), rules.len());
        assert_eq!(policy::to_toml(&again), written);
    }
    for entry in text.lines().take(20) {
        let _ = policy::legacy_rule(entry, PolicyDecision::Allow, PolicyTier::User, "a list");
    }
}

/// The name of a tool that a model requests, and in further lines the names of the registered tools.
pub fn names(text: &[u8]) {
    registry::fuzz::found(&String::from_utf8_lossy(text));
}

/// Two texts with a NUL between them: the diff of the first to the second applies.
pub fn difference(texts: &[u8]) {
    let texts = String::from_utf8_lossy(texts);
    let (old, new) = texts.split_once('\0').unwrap_or((&texts, ""));
    let diff = diff::compare("file", Some(old), new);
    assert_eq!(diff.text.is_empty(), old == new);
    let (before, after) = sides(&diff.text);
    // The diff contains changed lines and their context only, so each side is a part of its text.
    for (part, text) in [(before, old), (after, new)] {
        let mut lines = text.split_inclusive('\n');
        for line in part {
            assert!(lines.any(|known| known == line), "{line:?} is no line of {text:?}, or not in its place");
        }
    }
}

/// The lines of the old text and of the new text that a diff shows.
fn sides(diff: &str) -> (Vec<String>, Vec<String>) {
    let (mut before, mut after): (Vec<String>, Vec<String>) = Default::default();
    let mut lines = diff.split_inclusive('\n').skip(2).peekable();
    while let Some(line) = lines.next() {
        let (sign, mut content) = line.split_at(1);
        if sign == "@" {
            continue;
        }
        if lines.next_if(|next| next.starts_with('\\')).is_some() {
            content = content.strip_suffix('\n').unwrap_or(content);
        }
        if sign != "+" {
            before.push(content.to_owned());
        }
        if sign != "-" {
            after.push(content.to_owned());
        }
    }
    (before, after)
}

#[cfg(test)]
mod tests {
    use attache_testkit::fuzzing::{check_arbitrary_bytes, check_likely_input};

    use super::*;

    /// What such texts are made of, so that readers get beyond the first of them.
    const WORDS: &[&str] = &[
        "a",
        "b c",
        " ",
        "\n",
        "\0",
        "$(",
        "`",
        ")",
        r#"""#,
        "'",
        r#"\"#,
        "&&",
        "||",
        "|",
        ";",
        "&",
        ">",
        "2>&1",
        "<<EOF\n",
        "EOF\n",
        "sh -c ",
        "env X=1 ",
        "timeout 5 ",
        "[[rule]]\n",
        r#"toolName = "a"
"#,
        r#"decision = "allow"
"#,
        r#"commandPrefix = ["x"]
"#,
        r#"argsPattern = "("
"#,
        "priority = 9\n",
        "search_file_content\n",
        "grep_search\n",
        "é",
    ];

    fn all(bytes: &[u8]) {
        shell_line(bytes);
        policy_rules(bytes);
        difference(bytes);
        names(bytes);
    }

    #[test]
    fn many_names_that_are_alike_do_no_harm() {
        names(b"read\nread1\nread2\nread3\nread4");
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
