//! Third-party crates: allowed licences, banned crates, crates.io as the only source.
//!
//! The lists are those of `deny.toml`; cargo-deny says more about a finding, but takes minutes to build.

mod licence;

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::tidy::Finding;
use crate::tidy::tree::{File, Tree};
use crate::{process, workspace};

const DENY: &str = "deny.toml";
const LOCK: &str = "Cargo.lock";
/// The systems of `[graph]` in `deny.toml`.
const TARGETS: [&str; 2] = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"];
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The lists of `deny.toml`.
#[derive(Debug, Default, PartialEq)]
struct Rules {
    licences: BTreeSet<String>,
    banned: BTreeSet<String>,
}

pub(crate) fn check(tree: &Tree, root: &Path) -> Result<Vec<Finding>, String> {
    let rules = tree.file(DENY).map(|file| Rules::parse(&file.text)).unwrap_or_default();
    if rules.licences.is_empty() || rules.banned.is_empty() {
        let message = "needs `allow = [...]` under [licenses] and `{ crate = ... }` lines under [bans]";
        return Ok(vec![Finding::new("banned-crate", DENY, message)]);
    }
    let Some(lock) = tree.file(LOCK) else {
        return Ok(vec![Finding::new("banned-crate", LOCK, "commit the lock file: this is a program")]);
    };
    let built = built(root)?;
    let mut findings = check_lock(lock, &rules, &built);
    findings.extend(check_licences(&workspace::metadata(&[], root)?, &rules, &built));
    Ok(findings)
}

/// The crates that are built for our target systems, each as `name version`. The lock file also lists optional
/// dependencies that are not built.
fn built(root: &Path) -> Result<BTreeSet<String>, String> {
    let mut command = process::cargo(root);
    command.args([
        "tree",
        "--workspace",
        "--all-features",
        "--edges",
        "normal,build,dev",
        "--prefix",
        "none",
    ]);
    for target in TARGETS {
        command.args(["--target", target]);
    }
    Ok(parse_built(&process::stdout_of(command.args(["--format", "{p}"]))?))
}

/// Lines of `name v1.2.3`, some with more after it.
fn parse_built(text: &str) -> BTreeSet<String> {
    let package = |line: &str| {
        let mut words = line.split_whitespace();
        Some(format!("{} {}", words.next()?, words.next()?.strip_prefix('v')?))
    };
    text.lines().filter_map(package).collect()
}

impl Rules {
    /// Reads the two lists, one entry to a line.
    fn parse(text: &str) -> Self {
        let mut rules = Self::default();
        let (mut section, mut in_list) = ("", false);
        for line in text.lines().map(str::trim) {
            if let Some(header) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                section = header;
            } else if line.starts_with(']') {
                in_list = false;
            } else if line.ends_with('[') {
                in_list = true;
            } else if in_list && let Some(entry) = line.split('"').nth(1).filter(|_| !line.starts_with('#')) {
                match section {
                    "licenses" => drop(rules.licences.insert(entry.to_owned())),
                    "bans" => drop(rules.banned.insert(entry.to_owned())),
                    _ => {}
                }
            }
        }
        rules
    }
}

fn check_lock(lock: &File, rules: &Rules, built: &BTreeSet<String>) -> Vec<Finding> {
    let value_of = |line: &str, key: &str| {
        line.strip_prefix(key)
            .and_then(|rest| rest.strip_prefix(" = \"")?.strip_suffix('"').map(str::to_owned))
    };
    let mut findings = Vec::new();
    for (index, line) in lock.text.lines().enumerate() {
        let is_built = |name: &str| built.iter().any(|package| package.split(' ').next() == Some(name));
        let banned = |name: &String| rules.banned.contains(name) && is_built(name);
        if let Some(name) = value_of(line, "name").filter(banned) {
            let message = format!("{name} is banned in {DENY}; `cargo tree -i {name}` says who brought it");
            findings.push(Finding::at("banned-crate", LOCK, index + 1, message));
        }
        if let Some(source) = value_of(line, "source").filter(|source| source != CRATES_IO) {
            let message = format!("{source}: crates come from crates.io only");
            findings.push(Finding::at("foreign-source", LOCK, index + 1, message));
        }
    }
    findings
}

fn check_licences(metadata: &Value, rules: &Rules, built: &BTreeSet<String>) -> Vec<Finding> {
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let check_package = |package: &Value| {
        let licence = package["license"].as_str().unwrap_or("no licence");
        let place = format!("{} {}", package["name"].as_str()?, package["version"].as_str()?);
        if licence::allowed(licence, &rules.licences) || !built.contains(&place) {
            return None;
        }
        let message =
            format!("`{licence}` is not allowed by {DENY}; use another crate, or allow it with a reason");
        Some(Finding::new("licence", place, message))
    };
    packages.iter().filter_map(check_package).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Rules {
        Rules::parse(
            "[licenses]\nallow = [\n  \"MIT\",\n  # \"GPL-3.0\",\n]\n[bans]\nmultiple-versions = \"warn\"\ndeny = [\n  { crate = \"ring\", reason = \"no\" },\n]\n",
        )
    }

    #[test]
    fn the_lists_of_deny_toml_are_read() {
        let set = |name: &str| BTreeSet::from([name.to_owned()]);
        assert_eq!(rules(), Rules { licences: set("MIT"), banned: set("ring") });
    }

    #[test]
    fn an_empty_list_is_a_finding_and_not_a_pass() {
        let tree = Tree::of(&[(DENY, "[licenses]\nallow = []\n"), (LOCK, "")]);
        assert_eq!(check(&tree, Path::new(".")).unwrap()[0].place, DENY);
    }

    #[test]
    fn a_banned_crate_and_a_foreign_source_are_found() {
        let text = format!(
            "[[package]]\nname = \"ring\"\nsource = \"{CRATES_IO}\"\n[[package]]\nname = \"string\"\nsource = \"git+https://x\"\n"
        );
        let tree = Tree::of(&[(LOCK, &text)]);
        let findings = check_lock(&tree.files[0], &rules(), &parse_built("ring v1.0.0\nstring v2.0.0 (*)"));
        let found: Vec<_> = findings.iter().map(|finding| (finding.check, finding.place.as_str())).collect();
        assert_eq!(found, [("banned-crate", "Cargo.lock:2"), ("foreign-source", "Cargo.lock:6")]);
    }

    #[test]
    fn a_crate_under_another_licence_is_found() {
        let metadata = serde_json::json!({ "packages": [
            { "name": "good", "version": "1.0.0", "license": "MIT OR Apache-2.0" },
            { "name": "bad", "version": "2.0.0", "license": "GPL-3.0" },
            { "name": "unused", "version": "2.0.0", "license": "GPL-3.0" },
            { "name": "silent", "version": "3.0.0", "license": null },
        ]});
        let built = parse_built("good v1.0.0\nbad v2.0.0 (*)\nsilent v3.0.0 (proc-macro)\n");
        let findings = check_licences(&metadata, &rules(), &built);
        let places: Vec<_> = findings.iter().map(|finding| finding.place.as_str()).collect();
        assert_eq!(places, ["bad 2.0.0", "silent 3.0.0"]);
    }
}
