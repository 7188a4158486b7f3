//! Checks that the README, the CI script, the architecture page and the security page are true.

use crate::tidy::Finding;
use crate::tidy::tree::{File, Tree};
use crate::workspace::Member;

const RUN: &str = "cargo run --release -- serve";
const TEST: &str = "cargo xtask test";

pub(crate) fn check(tree: &Tree, members: &[Member]) -> Vec<Finding> {
    let mut findings = check_readme(tree);
    findings.extend(check_ci(tree));
    findings.extend(check_architecture(tree, members));
    findings.extend(check_security(tree));
    findings
}

fn check_readme(tree: &Tree) -> Vec<Finding> {
    let text = tree.file("README.md").map_or("", |file| &file.text);
    let missing =
        [RUN, TEST].into_iter().filter(|command| !shown_commands(text).any(|line| line == *command));
    let message =
        |command| format!("show `{command}` on a line of its own in a code block: two commands do all");
    missing.map(|command| Finding::new("readme-commands", "README.md", message(command))).collect()
}

/// The lines of the fenced code blocks, without a prompt.
fn shown_commands(text: &str) -> impl Iterator<Item = &str> {
    let blocks = text.split("```").skip(1).step_by(2);
    blocks.flat_map(str::lines).map(|line| line.trim().trim_start_matches("$ "))
}

fn check_ci(tree: &Tree) -> Vec<Finding> {
    let place = ".ci/run";
    let Some(file) = tree.file(place) else {
        return vec![Finding::new("ci-runs-test", place, format!("add it; it runs `{TEST}`"))];
    };
    let mut findings = Vec::new();
    if !file.executable {
        findings.push(Finding::new("ci-runs-test", place, "make it executable"));
    }
    for needed in ["set -euo pipefail", TEST] {
        if !file.text.lines().any(|line| line == needed) {
            findings.push(Finding::new(
                "ci-runs-test",
                place,
                format!("needs the line `{needed}`, nothing added"),
            ));
        }
    }
    findings
}

/// Every test exists that the security page names.
fn check_security(tree: &Tree) -> Vec<Finding> {
    let place = "docs/security.md";
    let Some(page) = tree.file(place) else {
        return vec![Finding::new(
            "security-tests",
            place,
            "add it: threats, defences and the tests that prove them",
        )];
    };
    let sources: Vec<&File> = tree.files.iter().filter(|file| file.path.ends_with(".rs")).collect();
    let missing = named_tests(&page.text).filter(|name| {
        let defined = format!("fn {name}(");
        !sources.iter().any(|file| file.text.contains(&defined))
    });
    let message = |name| format!("names the test `{name}`, and there is none: name the one that proves it");
    missing.map(|name| Finding::new("security-tests", place, message(name))).collect()
}

/// The names of tests in the rows of its tables.
fn named_tests(text: &str) -> impl Iterator<Item = &str> {
    let rows = text.lines().filter(|line| line.starts_with('|'));
    let quoted = rows.flat_map(|row| row.split('`').skip(1).step_by(2));
    // Names of tests are sentences.
    quoted.filter(|name| {
        name.matches('_').count() >= 2
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    })
}

fn check_architecture(tree: &Tree, members: &[Member]) -> Vec<Finding> {
    let Some(File { text, .. }) = tree.file("ARCHITECTURE.md") else {
        return vec![Finding::new("architecture-page", "ARCHITECTURE.md", "add it: a row for every crate")];
    };
    let missing = members.iter().filter(|member| !text.contains(&format!("`{}`", member.name)));
    let message =
        |name| format!("says nothing of `{name}`: every crate has its row, with its name in backticks");
    missing
        .map(|member| Finding::new("architecture-page", "ARCHITECTURE.md", message(&member.name)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_shows_both_commands() {
        let good = format!("# a\n```sh\n$ {RUN}\n```\nthen\n```sh\n{TEST}\n```\n");
        assert_eq!(check_readme(&Tree::of(&[("README.md", &good)])), []);
        let other = good.replace(TEST, "cargo xtask test --quick");
        assert_eq!(check_readme(&Tree::of(&[("README.md", &other)])).len(), 1);
        let outside = format!("{RUN}\n{TEST}\n");
        assert_eq!(check_readme(&Tree::of(&[("README.md", &outside)])).len(), 2);
        assert_eq!(check_readme(&Tree::default()).len(), 2);
    }

    #[test]
    fn the_security_page_names_tests_that_exist() {
        let page = "| threat | `auto_edit` | `a_test_that_exists`, `one_that_does_not` |\n`not_in_a_table`\n";
        let source = "#[test]\nfn a_test_that_exists() {}";
        let tree = Tree::of(&[("docs/security.md", page), ("crates/a/src/lib.rs", source)]);
        let found = check_security(&tree);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].message.contains("`one_that_does_not`"), "{found:?}");
        assert_eq!(check_security(&Tree::default()).len(), 1);
    }

    #[test]
    fn ci_runs_exactly_the_test_command() {
        let mut tree = Tree::of(&[(".ci/run", "#!/usr/bin/env bash\nset -euo pipefail\ncargo xtask test\n")]);
        assert_eq!(check_ci(&tree)[0].message, "make it executable");
        tree.files[0].executable = true;
        assert_eq!(check_ci(&tree), []);
        tree.files[0].text = "set -euo pipefail\ncargo xtask test || true\n".into();
        assert_eq!(check_ci(&tree).len(), 1);
        assert_eq!(check_ci(&Tree::default()).len(), 1);
    }

    #[test]
    fn the_architecture_page_names_every_crate() {
        let members =
            ["attache", "attache-wire"].map(|name| Member { name: name.into(), dependencies: vec![] });
        let tree = Tree::of(&[("ARCHITECTURE.md", "| `attache-wire` | spells |")]);
        assert_eq!(check_architecture(&tree, &members).len(), 1);
        assert_eq!(check_architecture(&Tree::default(), &members).len(), 1);
    }
}
