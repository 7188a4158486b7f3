//! The binary stays small: command line, wiring, logging and exit codes. What a library crate can do belongs there.

use crate::tidy::Finding;
use crate::tidy::tree::Tree;

const BINARY_SOURCES: &str = "crates/attache/src/";

/// Lines of the binary, without its tests.
const MAX_LINES: usize = 3000;

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let sources = tree.files.iter().filter(|file| {
        file.path.starts_with(BINARY_SOURCES)
            && file.path.ends_with(".rs")
            && !file.path.ends_with("tests.rs")
    });
    let lines: usize = sources.map(|file| lines_without_tests(&file.text)).sum();
    if lines < MAX_LINES {
        return Vec::new();
    }
    let message = format!(
        "{lines} lines without tests, and fewer than {MAX_LINES} are allowed: move what names no implementation to a library crate"
    );
    vec![Finding::new("binary-size", BINARY_SOURCES, message)]
}

/// Tests stand at the end of a file.
fn lines_without_tests(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let tests = lines.windows(2).position(|pair| pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod "));
    tests.unwrap_or(lines.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_lines_of_the_binary_count_and_not_its_tests() {
        let long = "x\n".repeat(MAX_LINES);
        let tested = format!("x\n#[cfg(test)]\nmod tests {{\n{long}}}\n");
        let short = [
            ("crates/attache/src/main.rs", tested.as_str()),
            ("crates/attache/src/cli_tests.rs", &long),
            ("crates/attache/tests/it/main.rs", &long),
            ("crates/attache-cli/src/lib.rs", &long),
        ];
        assert!(check(&Tree::of(&short)).is_empty());
        let findings = check(&Tree::of(&[("crates/attache/src/main.rs", &long)]));
        assert_eq!(findings.len(), 1);
        assert!(findings[0].message.contains("3000 lines"), "{findings:?}");
    }
}
