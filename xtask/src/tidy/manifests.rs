//! The members' `Cargo.toml`: every version and every lint level lives in the root's.

use crate::tidy::Finding;
use crate::tidy::tree::{File, Tree};

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let manifests = tree.files.iter().filter(|file| file.path.ends_with("/Cargo.toml"));
    manifests.filter(|file| is_member(file)).flat_map(check_manifest).collect()
}

/// Not a workspace of its own, which cannot have anything from the root's.
fn is_member(file: &File) -> bool {
    !file.text.lines().any(|line| line.trim() == "[workspace]")
}

fn check_manifest(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (mut section, mut shares_lints) = ("", false);
    for (index, line) in file.text.lines().map(str::trim).enumerate() {
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_end_matches(']');
        } else if section == "lints" && line == "workspace = true" {
            shares_lints = true;
        } else if section.ends_with("dependencies") && names_a_version(line) {
            let message = "no version here: write it in the root's [workspace.dependencies] and `NAME.workspace = true`";
            findings.push(Finding::at("version-in-member", &file.path, index + 1, message));
        }
        // `[dependencies.name]` tables hide the version on a line of their own.
        if line.starts_with('[') && section.contains("dependencies.") {
            let message = "write the dependency on one line, so that its version can be checked";
            findings.push(Finding::at("version-in-member", &file.path, index + 1, message));
        }
    }
    if !shares_lints {
        let message = "add `[lints]` with `workspace = true`: the same lints everywhere";
        findings.push(Finding::new("shares-lints", &file.path, message));
    }
    findings
}

/// Does a line of a dependency table hold a requirement of its own?
fn names_a_version(line: &str) -> bool {
    let Some((name, value)) = line.split_once('=') else { return false };
    let from_root = name.trim_end().ends_with(".workspace") || value.contains("workspace = true");
    let inside = value.contains("path = ") && !value.contains("version");
    !line.starts_with('#') && !from_root && !inside
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_lines(lines: &str, expected: &[&str]) {
        let text = format!("[package]\nversion.workspace = true\n[lints]\nworkspace = true\n{lines}");
        let findings = check(&Tree::of(&[("crates/a/Cargo.toml", &text)]));
        assert_eq!(
            findings.iter().map(|finding| finding.check).collect::<Vec<_>>(),
            expected,
            "{findings:?}"
        );
    }

    #[test]
    fn a_workspace_of_its_own_is_not_a_member() {
        let text = "[package]\nversion = \"0.1.0\"\n[workspace]\n[dependencies]\na = \"1\"\n";
        assert!(check(&Tree::of(&[("fuzz/Cargo.toml", text)])).is_empty());
    }

    #[test]
    fn a_member_names_no_version() {
        check_lines("[dependencies]\nserde = \"1\"", &["version-in-member"]);
        check_lines("[dev-dependencies]\nserde = { version = \"1\", features = [] }", &["version-in-member"]);
        check_lines("[target.'cfg(unix)'.dependencies]\nnix = \"0.31\"", &["version-in-member"]);
        check_lines("[dependencies.serde]\nversion = \"1\"", &["version-in-member"]);
        check_lines("[dependencies]\nserde.workspace = true\n# a note = 1", &[]);
        check_lines("[dependencies]\ntokio = { workspace = true, features = [\"rt\"] }", &[]);
        check_lines(
            "[dev-dependencies]\nattache-store = { path = \".\", features = [\"conformance\"] }",
            &[],
        );
        check_lines("[features]\ndefault = [\"mimalloc\"]", &[]);
    }

    #[test]
    fn a_member_shares_the_lints() {
        let findings = check(&Tree::of(&[("crates/a/Cargo.toml", "[package]\n[lints]\nunused = 1\n")]));
        assert_eq!(findings.iter().map(|finding| finding.check).collect::<Vec<_>>(), ["shares-lints"]);
    }

    #[test]
    fn the_root_is_where_versions_live() {
        assert_eq!(check(&Tree::of(&[("Cargo.toml", "[workspace.dependencies]\nserde = \"1\"")])), []);
    }
}
