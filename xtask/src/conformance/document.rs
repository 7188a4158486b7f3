//! `docs/conformance.md`: the results of the suite on each subject. The file is generated.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::conformance::subject::Subject;
use crate::conformance::{number, text};

const FILE: &str = "docs/conformance.md";

const PAIRS: [&str; 7] =
    ["server", "JSONRPC 1.0", "HTTP+JSON 1.0", "GRPC 1.0", "JSONRPC 0.3", "HTTP+JSON 0.3", "GRPC 0.3"];

const STRENGTHS: [&str; 4] = ["MUST", "SHOULD", "choice", "quality"];

type Reports<'a> = [(&'a Subject, Value)];

pub(super) fn write(root: &Path, reports: &Reports<'_>) -> Result<(), String> {
    let file = root.join(FILE);
    fs::write(&file, document(reports)).map_err(|error| format!("writing {}: {error}", file.display()))?;
    println!("wrote {FILE}");
    Ok(())
}

/// Results that differ from the expected ones: attache fails no check, an SDK only those that its subject lists.
pub(super) fn unexpected(reports: &Reports<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for (subject, report) in reports {
        let failed = failed(report);
        if subject.is_attache() {
            lines.extend(failed.keys().map(|id| format!("{} fails {id}", subject.name)));
        }
        let passes = subject.fails.iter().filter(|id| !failed.contains_key(*id));
        lines.extend(passes.map(|id| format!("{} passes {id}, which it is known to fail", subject.name)));
    }
    lines
}

/// The ids of failed checks, and the pairs on which they failed.
fn failed(report: &Value) -> BTreeMap<&str, Vec<&str>> {
    let mut failed: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for check in checks(report) {
        for pair in PAIRS {
            if check["results"][pair]["result"] == "fail" {
                failed.entry(text(check, "id")).or_default().push(pair);
            }
        }
    }
    failed
}

fn checks(report: &Value) -> impl Iterator<Item = &Value> {
    report["checks"].as_array().into_iter().flatten()
}

fn strength<'a>(check: &'a Value, pair: &str) -> &'a str {
    let version = if pair.ends_with("0.3") { "0.3" } else { "1.0" };
    check["strength"][version].as_str().or(check["strength"]["0.3"].as_str()).unwrap_or_default()
}

fn document(reports: &Reports<'_>) -> String {
    let mut page = String::from(
        "# Conformance\n\n\
         This page shows the results of our own suite, [attache-conformance](../crates/attache-conformance/README.md), on attache and on\n\
         agents that use the servers of the official SDKs. `cargo xtask conformance --subjects` writes it. The agents are in\n\
         `crates/attache-conformance/subjects`; everything else is the SDK's, with its defaults and its 0.3 compatibility on.\n\n\
         A choice is a rule where the specification is silent or contradicts itself and attache chose one reading; another reading is\n\
         no fault. A quality is a rule that the specification does not demand. A check that depends on timing may give another result in\n\
         another run.\n",
    );
    for (subject, report) in reports {
        summary(&mut page, subject, report);
    }
    page.push_str("\n## Failed checks\n");
    for (subject, report) in reports {
        failures(&mut page, subject, report);
    }
    all_checks(&mut page, reports);
    page
}

/// Writing to a string cannot fail.
fn line(page: &mut String, arguments: std::fmt::Arguments<'_>) {
    let _ = page.write_fmt(arguments);
    page.push('\n');
}

fn summary(page: &mut String, subject: &Subject, report: &Value) {
    line(page, format_args!("\n## {}\n", subject.name));
    line(page, format_args!("{} passed, {} failed.\n", number(report, "passed"), number(report, "failed")));
    line(page, format_args!("| failed of tried | {} |", STRENGTHS.join(" | ")));
    line(page, format_args!("|---|{}", "---|".repeat(STRENGTHS.len())));
    for pair in PAIRS {
        let mut cells = Vec::new();
        for wanted in STRENGTHS {
            let results = checks(report).filter(|check| strength(check, pair) == wanted);
            let results: Vec<_> = results.map(|check| text(&check["results"][pair], "result")).collect();
            let count = |result: &str| results.iter().filter(|found| **found == result).count();
            let (passed, failed) = (count("pass"), count("fail"));
            cells.push(if passed + failed == 0 {
                "–".into()
            } else {
                format!("{failed} of {}", passed + failed)
            });
        }
        line(page, format_args!("| {pair} | {} |", cells.join(" | ")));
    }
}

fn failures(page: &mut String, subject: &Subject, report: &Value) {
    line(page, format_args!("\n### {}\n", subject.name));
    let failed = failed(report);
    if failed.is_empty() {
        line(page, format_args!("None."));
        return;
    }
    line(page, format_args!("| strength | check | rule | on |\n|---|---|---|---|"));
    for wanted in STRENGTHS {
        for check in checks(report) {
            let pairs = failed.get(text(check, "id")).into_iter().flatten();
            let pairs: Vec<_> = pairs.filter(|pair| strength(check, pair) == wanted).copied().collect();
            if !pairs.is_empty() {
                let (id, rule) = (text(check, "id"), text(check, "rule"));
                line(page, format_args!("| {wanted} | {id} | {rule} | {} |", pairs.join(", ")));
            }
        }
    }
}

fn all_checks(page: &mut String, reports: &Reports<'_>) {
    let Some((_, report)) = reports.first() else { return };
    line(page, format_args!("\n## All checks\n\n| check | 1.0 | 0.3 | rule |\n|---|---|---|---|"));
    for check in checks(report) {
        let of = |version: &str| check["strength"][version].as_str().unwrap_or("–");
        line(
            page,
            format_args!(
                "| {} | {} | {} | {} |",
                text(check, "id"),
                of("1.0"),
                of("0.3"),
                text(check, "rule")
            ),
        );
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::conformance::subject::SUBJECTS;

    fn report(result: &str) -> Value {
        json!({"passed": 1, "failed": 1, "checks": [{
            "id": "S2-task", "rule": "a stream begins with the task", "strength": {"1.0": "MUST", "0.3": "quality"},
            "results": {"JSONRPC 1.0": {"result": "pass"}, "GRPC 0.3": {"result": result}},
        }]})
    }

    #[test]
    fn a_failure_is_told_with_its_strength_and_pairs() {
        let page = document(&[(&SUBJECTS[0], report("fail"))]);
        assert!(page.contains("| quality | S2-task | a stream begins with the task | GRPC 0.3 |"), "{page}");
        assert!(page.contains("| JSONRPC 1.0 | 0 of 1 |"), "{page}");
    }

    #[test]
    fn attache_may_fail_nothing_and_an_sdk_must_fail_what_is_known() {
        assert_eq!(unexpected(&[(&SUBJECTS[0], report("fail"))]), ["attache fails S2-task"]);
        assert!(unexpected(&[(&SUBJECTS[0], report("pass"))]).is_empty());
        let sdk = &SUBJECTS[2];
        let lines = unexpected(&[(sdk, report("fail"))]);
        assert_eq!(lines.len(), sdk.fails.len(), "{lines:?}");
    }
}
