//! Checks which of our crates use which, against the table of the architecture.
//!
//! A commit that changes a row changes nothing else but `ARCHITECTURE.md`.

use crate::tidy::Finding;
use crate::workspace::{DependencyKind, Member, PackageOwner};

const CHECK: &str = "dependency-arrow";

/// The only crate that may use all others, implementations included.
const BINARY: &str = "attache";
const TESTKIT: &str = "attache-testkit";

/// The crates of this workspace that a crate may use.
enum MayUse {
    Only(&'static [&'static str]),
    Any,
}

const ARROWS: &[(&str, MayUse)] = &[
    // core
    ("attache-domain", MayUse::Only(&[])),
    // seams
    ("attache-proto", MayUse::Only(&[])),
    ("attache-wire", MayUse::Only(&["attache-domain", "attache-proto"])),
    ("attache-store", MayUse::Only(&["attache-domain"])),
    ("attache-model", MayUse::Only(&["attache-document", "attache-domain"])),
    ("attache-tool", MayUse::Only(&["attache-domain"])),
    ("attache-net", MayUse::Only(&[])),
    // credentials for outgoing requests: obtains, stores and refreshes them
    ("attache-credentials", MayUse::Only(&["attache-net"])),
    // parses documents that people write, and does not interpret them
    ("attache-document", MayUse::Only(&[])),
    // works on cards as received JSON, so it uses no domain type
    ("attache-card", MayUse::Only(&[])),
    // the documentation of the program, as text
    ("attache-help", MayUse::Only(&[])),
    // implementations
    ("attache-model-http", MayUse::Only(&["attache-domain", "attache-model", "attache-net"])),
    ("attache-tool-std", MayUse::Only(&["attache-domain", "attache-tool", "attache-net"])),
    ("attache-tool-sandbox", MayUse::Only(&["attache-domain", "attache-tool", "attache-net"])),
    ("attache-tool-mcp", MayUse::Only(&["attache-domain", "attache-tool", "attache-net"])),
    ("attache-tool-remote", MayUse::Only(&["attache-client", "attache-domain", "attache-tool"])),
    ("attache-store-sql", MayUse::Only(&["attache-domain", "attache-store"])),
    // engines
    ("attache-session", MayUse::Only(&["attache-domain", "attache-store"])),
    ("attache-command", MayUse::Only(&["attache-domain"])),
    (
        "attache-agent",
        MayUse::Only(&[
            "attache-domain",
            "attache-session",
            "attache-model",
            "attache-tool",
            "attache-command",
        ]),
    ),
    // edges
    (
        "attache-server",
        MayUse::Only(&["attache-domain", "attache-net", "attache-proto", "attache-wire", "attache-session"]),
    ),
    (
        "attache-client",
        MayUse::Only(&[
            "attache-card",
            "attache-credentials",
            "attache-domain",
            "attache-wire",
            "attache-net",
        ]),
    ),
    ("attache-config", MayUse::Only(&["attache-document", "attache-domain"])),
    // Implements the agent's `Conversations`; models, tools and MCP come from the binary through `Implementations`.
    (
        "attache-workspace",
        MayUse::Only(&[
            "attache-agent",
            "attache-command",
            "attache-config",
            "attache-credentials",
            "attache-document",
            "attache-domain",
            "attache-help",
            "attache-model",
            "attache-net",
            "attache-tool",
        ]),
    ),
    (
        "attache-headless",
        MayUse::Only(&["attache-command", "attache-domain", "attache-session", "attache-tool"]),
    ),
    (
        "attache-terminal",
        MayUse::Only(&["attache-command", "attache-domain", "attache-session", "attache-wire"]),
    ),
    (
        "attache-cli",
        MayUse::Only(&[
            "attache-card",
            "attache-client",
            "attache-config",
            "attache-credentials",
            "attache-document",
            "attache-domain",
            "attache-help",
            "attache-net",
            "attache-wire",
            "attache-workspace",
        ]),
    ),
    (BINARY, MayUse::Any),
    // development tools
    (TESTKIT, MayUse::Any),
    // Uses the SSE parser of `attache-net`.
    ("attache-conformance", MayUse::Only(&["attache-proto", "attache-net"])),
    ("attache-bench", MayUse::Only(&["attache-net"])),
    ("xtask", MayUse::Only(&[])),
];

/// The third-party crates that `attache-domain` may use; `hashlink` is the map of its bounded cache.
const DOMAIN_MAY_USE: &[&str] = &["hashlink", "jiff", "serde", "serde_json", "smallvec", "thiserror"];

/// Programs: only people read their errors.
const MAY_USE_ANYHOW: &[&str] = &[BINARY, "attache-cli", "attache-bench", "xtask"];

pub(crate) fn check(members: &[Member]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = members.iter().flat_map(check_member).collect();
    for (name, _) in ARROWS {
        if !members.iter().any(|member| member.name == *name) {
            findings.push(finding(
                name,
                "the crate is gone; take its row out of xtask/src/tidy/arrows.rs".into(),
            ));
        }
    }
    findings
}

fn check_member(member: &Member) -> Vec<Finding> {
    let name = &member.name;
    let Some((_, may_use)) = ARROWS.iter().find(|(row, _)| row == name) else {
        let advice = "the crate has no row in xtask/src/tidy/arrows.rs; add one, and one in ARCHITECTURE.md";
        return vec![finding(name, advice.into())];
    };
    let of_ours = member.dependencies.iter().filter(|dependency| dependency.owner == PackageOwner::Ours);
    let mut findings: Vec<Finding> = of_ours
        .filter_map(|dependency| refusal(name, may_use, &dependency.name, dependency.kind))
        .map(|message| finding(name, message))
        .collect();
    let foreign = member.dependencies.iter().filter(|dependency| dependency.owner == PackageOwner::Foreign);
    for dependency in foreign.filter(|dependency| dependency.kind == DependencyKind::Shipped) {
        let used = dependency.name.as_str();
        if name == "attache-domain" && !DOMAIN_MAY_USE.contains(&used) {
            let allowed = DOMAIN_MAY_USE.join(", ");
            findings.push(finding(
                name,
                format!("must not use {used}: the domain is pure and may use only {allowed}"),
            ));
        }
        if used == "anyhow" && !MAY_USE_ANYHOW.contains(&name.as_str()) {
            findings
                .push(finding(name, "must not use anyhow: a library's errors are a thiserror enum".into()));
        }
    }
    findings
}

/// Why `name` must not use our crate `used`, if so.
fn refusal(name: &str, may_use: &MayUse, used: &str, kind: DependencyKind) -> Option<String> {
    let in_row = match may_use {
        MayUse::Only(row) => row.contains(&used),
        MayUse::Any => true,
    };
    match kind {
        // The agent is tested in a real session, on the memory store.
        DependencyKind::Dev if name == "attache-agent" && used == "attache-store" => None,
        // The server is tested with a real session and the coding agent behind it.
        DependencyKind::Dev
            if name == "attache-server"
                && ["attache-agent", "attache-command", "attache-model", "attache-store", "attache-tool"]
                    .contains(&used) =>
        {
            None
        }
        // Its tests answer questions in words, which only `attache-wire` reads.
        DependencyKind::Dev if name == "attache-agent" && used == "attache-wire" => None,
        DependencyKind::Dev if in_row || used == name || used == TESTKIT || is_implementation(used) => None,
        DependencyKind::Dev => Some(format!(
            "its tests must not use {used}: besides its own row a test may use {TESTKIT} and implementations"
        )),
        DependencyKind::Shipped if used == TESTKIT => {
            Some(format!("must not ship {TESTKIT}: make it a dev-dependency"))
        }
        DependencyKind::Shipped if is_implementation(used) && name != BINARY && name != TESTKIT => {
            Some(format!("must not use {used}: an implementation is named by the binary only; use its seam"))
        }
        DependencyKind::Shipped if in_row => None,
        DependencyKind::Shipped => Some(format!(
            "must not use {used}: the arrow is not in xtask/src/tidy/arrows.rs; see the table in ARCHITECTURE.md"
        )),
    }
}

/// A crate whose name has two dashes implements the trait of one other crate.
fn is_implementation(name: &str) -> bool {
    name.matches('-').count() >= 2
}

fn finding(name: &str, message: String) -> Finding {
    Finding::new(CHECK, name, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Dependency;

    #[track_caller]
    fn check_arrow(from: &str, to: &str, kind: DependencyKind, expected: Option<&str>) {
        let owner = if to.starts_with("attache") { PackageOwner::Ours } else { PackageOwner::Foreign };
        let dependencies = vec![Dependency { name: to.into(), kind, owner }];
        let findings = check_member(&Member { name: from.into(), dependencies });
        match (expected, findings.first()) {
            (None, None) => {}
            (Some(expected), Some(finding)) if finding.message.contains(expected) => {}
            (expected, found) => panic!("{from} -> {to}: expected {expected:?}, found {found:?}"),
        }
    }

    #[test]
    fn shipped_code_follows_the_table() {
        use DependencyKind::Shipped;
        check_arrow("attache-server", "attache-session", Shipped, None);
        check_arrow("attache", "attache-store-sql", Shipped, None);
        check_arrow("attache-server", "attache-store", Shipped, Some("must not use attache-store"));
        check_arrow("attache-domain", "attache-wire", Shipped, Some("must not use attache-wire"));
        check_arrow("attache-session", "attache-store-sql", Shipped, Some("named by the binary only"));
        check_arrow("attache", "attache-testkit", Shipped, Some("dev-dependency"));
        check_arrow("attache-bench", "attache-domain", Shipped, Some("must not use attache-domain"));
    }

    #[test]
    fn tests_may_also_use_the_testkit_and_implementations() {
        use DependencyKind::Dev;
        check_arrow("attache-server", "attache-testkit", Dev, None);
        check_arrow("attache-session", "attache-store-sql", Dev, None);
        check_arrow("attache-store", "attache-store", Dev, None);
        check_arrow("attache-wire", "attache-server", Dev, Some("its tests must not use attache-server"));
    }

    #[test]
    fn third_party_crates_are_limited() {
        use DependencyKind::{Dev, Shipped};
        check_arrow("attache-domain", "serde", Shipped, None);
        check_arrow("attache-domain", "proptest", Dev, None);
        check_arrow("attache-domain", "tokio", Shipped, Some("must not use tokio"));
        check_arrow("attache-session", "anyhow", Shipped, Some("thiserror"));
        check_arrow("attache", "anyhow", Shipped, None);
    }

    #[test]
    fn every_crate_has_a_row_and_every_row_a_crate() {
        let unknown = Member { name: "attache-surprise".into(), dependencies: Vec::new() };
        let findings = check(&[unknown]);
        assert!(findings.iter().any(|f| f.place == "attache-surprise" && f.message.contains("no row")));
        assert!(findings.iter().any(|f| f.place == "attache-wire" && f.message.contains("gone")));
    }
}
