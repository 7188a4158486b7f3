//! Names, sizes and words that no file of the checkout may have.

use crate::tidy::Finding;
use crate::tidy::masked_source::{line_of, lines_with};
use crate::tidy::tree::{File, Tree};

/// A longer file should be split; see CONTRIBUTING.md.
const MAX_LINES: usize = 500;

/// The checks themselves contain the words that they look for.
const EXEMPT: &str = "xtask/src/tidy/";

const PROMISES_FOR_LATER: &[&str] = &["TODO", "FIXME", "XXX"];

/// Prefixes of paths on one machine.
const MACHINE_PATHS: &[&str] = &["/home/", "/root/", "/Users/", "/work/", "../shared"];

/// Package indexes and mirrors: the machine configures which one to use.
const REGISTRY_HOSTS: &[&str] = &[
    "registry.npmjs.org",
    "registry.yarnpkg.com",
    "pypi.org/simple",
    "files.pythonhosted.org",
    "index.crates.io",
    "static.crates.io",
    "index-url",
    "find-links",
    "replace-with",
];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    tree.files.iter().flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Finding> {
    let File { path, text, .. } = file;
    let mut findings = Vec::new();
    if path.ends_with("/mod.rs") {
        findings.push(Finding::new("no-mod-rs", path, "name the module foo.rs, with foo/ for its children"));
    }
    let lines = text.lines().count();
    if path.ends_with(".rs") && lines > MAX_LINES {
        let message = format!("{lines} lines, over {MAX_LINES}: find the two things it is and split them");
        findings.push(Finding::new("file-too-long", path, message));
    }
    if path.starts_with(EXEMPT) || path == "LICENSE" {
        return findings;
    }
    for word in PROMISES_FOR_LATER {
        let message = format!("`{word}`: do it, or open an issue for it");
        findings
            .extend(lines_with(text, word).into_iter().map(|at| Finding::at("later", path, at, &*message)));
    }
    let advice = "an ignored example is never tried: make it compile, or call it `text`";
    let ignored = lines_with(text, "```ignore");
    findings.extend(ignored.into_iter().map(|at| Finding::at("ignored-example", path, at, advice)));
    for start in MACHINE_PATHS {
        let message = format!("`{start}`: a path of one machine; use a relative path or a temporary folder");
        let hits = text.match_indices(start).filter(|(position, _)| starts_a_path(text, *position));
        findings.extend(hits.map(|(at, _)| Finding::at("machine-path", path, line_of(text, at), &*message)));
    }
    for host in REGISTRY_HOSTS {
        let message = format!("`{host}`: which package index to ask is the machine's setting; leave it out");
        let hits = text.match_indices(host);
        findings.extend(hits.map(|(at, _)| Finding::at("registry-host", path, line_of(text, at), &*message)));
    }
    findings
}

/// Not in the middle of a longer path such as `$HOME/work/` or `a/home/`.
fn starts_a_path(text: &str, position: usize) -> bool {
    let before = text[..position].chars().next_back();
    !before.is_some_and(|character| character.is_alphanumeric() || "._-}*~>".contains(character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_text(path: &str, text: &str, expected: &[&str]) {
        let findings = check(&Tree::of(&[(path, text)]));
        assert_eq!(
            findings.iter().map(|finding| finding.check).collect::<Vec<_>>(),
            expected,
            "{findings:?}"
        );
    }

    #[test]
    fn mod_rs_is_refused() {
        check_text("crates/attache-wire/src/v1_0/mod.rs", "", &["no-mod-rs"]);
        check_text("crates/attache-wire/src/v1_0.rs", "", &[]);
    }

    #[test]
    fn a_file_may_have_500_lines() {
        check_text("a.rs", &"x\n".repeat(500), &[]);
        check_text("a.rs", &"x\n".repeat(501), &["file-too-long"]);
        check_text("Cargo.lock", &"x\n".repeat(501), &[]);
    }

    #[test]
    fn promises_for_later_are_refused() {
        check_text("a.rs", "// TODO: more", &["later"]);
        check_text("docs/a.md", "FIXME and XXX", &["later", "later"]);
        check_text("a.sh", "mktemp fooXXX; echo mastodon", &[]);
    }

    #[test]
    fn an_ignored_example_is_refused() {
        check_text("a.rs", "/// ```ignore\n/// f();\n/// ```", &["ignored-example"]);
        check_text("a.rs", "/// ```\n/// f();\n/// ```", &[]);
    }

    #[test]
    fn paths_of_one_machine_are_refused() {
        check_text("a.md", "see `/home/ann/attache`", &["machine-path"]);
        check_text("a.md", "cd /work/x", &["machine-path"]);
        check_text("a.md", "[contract](../shared/a.md)", &["machine-path"]);
        check_text("a.md", "$HOME/work/x, ${A}/home/x and https://example.org/work/x", &[]);
    }

    #[test]
    fn package_indexes_are_refused() {
        check_text("package-lock.json", "\"resolved\": \"https://registry.npmjs.org/x\"", &["registry-host"]);
        check_text("requirements.txt", "--index-url http://mirror/simple", &["registry-host"]);
    }
}
