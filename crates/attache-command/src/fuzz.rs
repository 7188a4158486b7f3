//! Entry points for arbitrary bytes: nothing may panic, and decoded values keep their meaning.
//!
//! Called by the tests of this crate and by the targets in the folder `fuzz`.

use crate::{CommandRegistry, custom};

/// A command file, and as arguments what follows a NUL.
pub fn command_file(text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    let (file, arguments) = text.split_once('\0').unwrap_or((&text, "it's \"here\" $(and) `there`"));
    custom::fuzz::file(file, arguments);
    custom::fuzz::prompt(file, arguments);
}

/// A line that may be a command: the call is found or refused, and has no more in it than the line.
pub fn command_line(line: &[u8]) {
    let line = String::from_utf8_lossy(line);
    let registry = CommandRegistry::standard();
    let Some(call) = registry.parse(&line) else { return };
    assert!(!call.path.is_empty() && line.ends_with(&call.arguments), "{call:?}");
    if let Ok(found) = registry.find(&call) {
        assert_eq!(found.call.path, call.path);
        let _ = (found.check(), found.usage());
    }
}

#[cfg(test)]
mod tests {
    use attache_testkit::fuzzing::{check_arbitrary_bytes, check_likely_input};

    use super::*;

    /// What such texts are made of, so that readers get beyond the first of them.
    const WORDS: &[&str] = &[
        "/",
        "help",
        "memory",
        " ",
        "add",
        r#"prompt = ""#,
        r#"""#,
        "\n",
        "{{args}}",
        "!{",
        "@{",
        "}",
        "{",
        r#"\"#,
        "'",
        "\0",
        "$",
        "`",
        "a",
        "é",
        r#"description = "d"
"#,
    ];

    fn all(bytes: &[u8]) {
        command_file(bytes);
        command_line(bytes);
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
