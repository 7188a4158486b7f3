//! Words that must not occur in the code of some crates.

use std::collections::BTreeMap;

use crate::tidy::Finding;
use crate::tidy::masked_source::{MaskedSource, lines_with};
use crate::tidy::source_path::{Role, SourcePath};
use crate::tidy::tree::Tree;

/// Words that some crates must not contain, and why.
struct ForbiddenWords {
    check: &'static str,
    words: &'static [&'static str],
    look_in: LookIn,
    tests: Tests,
    crates: Crates,
    advice: &'static str,
}

enum LookIn {
    Code,
    Strings,
}

#[derive(PartialEq)]
enum Tests {
    Included,
    Exempt,
}

enum Crates {
    Only(&'static [&'static str]),
    AllBut(&'static [&'static str]),
}

/// Programs, and the crates of their commands: only they read the environment and print.
const PROGRAMS: &[&str] =
    &["attache", "attache-bench", "attache-cli", "attache-conformance", "attache-headless", "xtask"];

/// The crates that read the time of day. `attache-domain` has a stricter check of its own.
const READ_THE_CLOCK: &[&str] = &[
    "attache",
    "attache-bench",
    "attache-cli",
    "attache-conformance",
    "attache-credentials",
    "attache-domain",
    "attache-headless",
    "attache-server",
    "attache-session",
    "attache-store-sql",
    "attache-testkit",
    "attache-tool-sandbox",
    "attache-tool-std",
    "attache-workspace",
    "xtask",
];

const FORBIDDEN_WORDS: &[ForbiddenWords] = &[
    ForbiddenWords {
        check: "domain-is-pure",
        words: &[
            "async",
            "await",
            "tokio",
            "std::fs",
            "std::io",
            "std::net",
            "std::process",
            "std::sync::mpsc",
            "std::thread",
            "SystemTime",
            "Instant",
            "Timestamp::now",
            "Zoned::now",
            "rand",
            "now_v7",
            "new_v4",
            "println!",
            "eprintln!",
        ],
        look_in: LookIn::Code,
        tests: Tests::Exempt,
        crates: Crates::Only(&["attache-domain"]),
        advice: "the domain has no async, IO, clock or randomness; hand the id, time or result in",
    },
    ForbiddenWords {
        check: "wire-spelling",
        words: &[
            "messageId",
            "contextId",
            "taskId",
            "artifactId",
            "historyLength",
            "lastChunk",
            "TASK_STATE_",
            "ROLE_",
            "message/send",
            "message/stream",
            "tasks/get",
            "tasks/cancel",
            "tasks/resubscribe",
        ],
        look_in: LookIn::Strings,
        tests: Tests::Exempt,
        crates: Crates::AllBut(&[
            "attache-wire",
            "attache-testkit",
            "attache-bench",
            "attache-conformance",
            "xtask",
        ]),
        advice: "only attache-wire knows how A2A spells things; say it in domain words, or move it there",
    },
    ForbiddenWords {
        check: "reads-environment",
        words: &[
            "env::args",
            "env::args_os",
            "env::current_dir",
            "env::current_exe",
            "env::home_dir",
            "env::remove_var",
            "env::set_var",
            "env::temp_dir",
            "env::var",
            "env::var_os",
            "env::vars",
            "env::vars_os",
        ],
        look_in: LookIn::Code,
        tests: Tests::Exempt,
        crates: Crates::AllBut(&["attache", "attache-config", "attache-testkit", "attache-bench", "xtask"]),
        advice: "only the binary reads the environment; take an option",
    },
    ForbiddenWords {
        check: "prints-or-exits",
        words: &["print!", "println!", "eprint!", "eprintln!", "dbg!", "process::exit", "process::abort"],
        look_in: LookIn::Code,
        tests: Tests::Exempt,
        crates: Crates::AllBut(PROGRAMS),
        advice: "only the binary prints or exits; return a value, or use tracing",
    },
    ForbiddenWords {
        check: "reads-clock",
        words: &["Timestamp::now", "Zoned::now", "SystemTime::now"],
        look_in: LookIn::Code,
        tests: Tests::Exempt,
        crates: Crates::AllBut(READ_THE_CLOCK),
        advice: "take a time; ARCHITECTURE.md says which crates read the clock",
    },
    ForbiddenWords {
        check: "unfinished",
        words: &["todo!", "unimplemented!", "#[ignore"],
        look_in: LookIn::Code,
        tests: Tests::Included,
        crates: Crates::AllBut(&[]),
        advice: "finish it or take it out; open an issue for what is left",
    },
];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.files {
        let Some(place) = SourcePath::of(&file.path) else { continue };
        let whole = MaskedSource::new(&file.text);
        let shipped = MaskedSource::new(&file.text).without_tests();
        for absence in FORBIDDEN_WORDS.iter().filter(|absence| absence.concerns(place)) {
            let masked = if absence.tests == Tests::Included { &whole } else { &shipped };
            findings.extend(absence.check(&file.path, masked));
        }
        if file.path.ends_with("src/lib.rs") {
            findings.extend(lib_is_contents(&file.path, &shipped));
        }
    }
    findings
}

impl ForbiddenWords {
    fn concerns(&self, place: SourcePath<'_>) -> bool {
        let here = match self.crates {
            Crates::Only(crates) => crates.contains(&place.package),
            Crates::AllBut(crates) => !crates.contains(&place.package),
        };
        here && (place.role == Role::Shipped || self.tests == Tests::Included)
    }

    fn check(&self, path: &str, masked: &MaskedSource) -> Vec<Finding> {
        let text = match self.look_in {
            LookIn::Code => &masked.code,
            LookIn::Strings => &masked.strings,
        };
        let lines_of = |word| lines_with(text, word).into_iter().map(move |line| (line, word));
        // One finding a line: `std::env::var` holds two of the words.
        let hits: BTreeMap<usize, &str> = self.words.iter().rev().copied().flat_map(lines_of).collect();
        let finding =
            |(line, word)| Finding::at(self.check, path, line, format!("`{word}`: {}", self.advice));
        hits.into_iter().map(finding).collect()
    }
}

fn lib_is_contents(path: &str, masked: &MaskedSource) -> Vec<Finding> {
    let advice = "lib.rs is a table of contents: move the function to a module named after what it does";
    lines_with(&masked.code, "fn")
        .into_iter()
        .map(|line| Finding::at("lib-is-contents", path, line, advice))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_file(path: &str, text: &str, expected: &[&str]) {
        let findings = check(&Tree::of(&[(path, text)]));
        assert_eq!(
            findings.iter().map(|finding| finding.check).collect::<Vec<_>>(),
            expected,
            "{findings:?}"
        );
    }

    #[test]
    fn the_domain_has_no_async_clock_or_randomness() {
        let path = "crates/attache-domain/src/view.rs";
        check_file(path, "async fn f() {}", &["domain-is-pure"]);
        check_file(path, "let t = Timestamp::now();", &["domain-is-pure"]);
        check_file(path, "use std::time::SystemTime;", &["domain-is-pure"]);
        check_file(path, "fn f() { rand::rng() }", &["domain-is-pure"]);
        check_file(path, "//! No async here.\nfn f(operand: u8) {}", &[]);
        check_file("crates/attache-session/src/runner.rs", "async fn f() {}", &[]);
    }

    #[test]
    fn only_wire_encodes_a2a() {
        let text = "let key = \"messageId\";\nlet state = \"TASK_STATE_WORKING\";";
        check_file("crates/attache-server/src/rest.rs", text, &["wire-spelling", "wire-spelling"]);
        check_file("crates/attache-server/src/rest_tests.rs", text, &[]);
        check_file("crates/attache-wire/src/v1_0.rs", text, &[]);
        check_file(
            "crates/attache-server/src/rest.rs",
            "// messageId\n#[cfg(test)]\nmod t { x!(\"taskId\") }",
            &[],
        );
    }

    #[test]
    fn only_programs_meet_the_environment_and_print() {
        let reads = "fn f() { std::env::var(\"X\") }";
        check_file("crates/attache-session/src/runner.rs", reads, &["reads-environment"]);
        check_file("crates/attache-config/src/environment.rs", reads, &[]);
        let prints = "fn f() { println!(\"x\") }";
        check_file("crates/attache-config/src/environment.rs", prints, &["prints-or-exits"]);
        check_file(
            "crates/attache-model/src/offline.rs",
            "fn f() { std::process::exit(1) }",
            &["prints-or-exits"],
        );
        check_file("crates/attache/src/main.rs", prints, &[]);
        check_file("crates/attache-model/examples/say.rs", prints, &[]);
    }

    #[test]
    fn the_clock_is_read_by_few_crates() {
        let reads = "fn f() -> Timestamp { Timestamp::now() }";
        check_file("crates/attache-wire/src/replay.rs", reads, &["reads-clock"]);
        check_file("crates/attache-agent/src/lib/a.rs", "use std::time::SystemTime;", &[]);
        check_file("crates/attache-session/src/live_task.rs", reads, &[]);
        check_file("crates/attache-wire/tests/it/main.rs", reads, &[]);
    }

    #[test]
    fn unfinished_code_is_found_in_tests_too() {
        check_file("crates/attache-model/src/offline.rs", "fn f() { todo!() }", &["unfinished"]);
        check_file("crates/attache/tests/it/main.rs", "#[ignore = \"slow\"]\nfn f() {}", &["unfinished"]);
        check_file("crates/attache-model/src/offline.rs", "fn f() { say(\"todo!\") }", &[]);
    }

    #[test]
    fn lib_holds_no_function() {
        check_file("crates/attache-store/src/lib.rs", "mod a;\npub fn f() {}", &["lib-is-contents"]);
        check_file("crates/attache-store/src/lib.rs", "mod a;\n#[cfg(test)]\nmod tests { fn f() {} }", &[]);
    }
}
