//! `attache card lint`.

use std::io::{self, Write};
use std::process::ExitCode;

use attache_card::lint::{Finding, Severity, lint, versions};
use serde_json::{Value, json};

use super::arguments::LintArguments;
use super::shown;
use super::source::{self, CardContext};

use crate::standard_streams::stdout;

pub(super) async fn run(arguments: LintArguments, context: CardContext<'_>) -> anyhow::Result<ExitCode> {
    let found = source::find(&arguments.source, context).await?;
    let findings = lint(&found.text);
    let mut out = stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &to_json(&found.text, &findings))?;
        writeln!(out)?;
    } else {
        write(&mut out, &found.text, &findings)?;
    }
    let errors = findings.iter().any(|finding| finding.severity == Severity::Error);
    let failed = errors || (arguments.strict && !findings.is_empty());
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The versions that were looked for.
fn looked_for(text: &[u8]) -> Vec<String> {
    let document = attache_card::parse(text).unwrap_or_default();
    versions(&document).iter().map(ToString::to_string).collect()
}

fn write(out: &mut impl Write, text: &[u8], findings: &[Finding]) -> io::Result<()> {
    for finding in findings {
        let path = if finding.path.is_empty() { "the card".to_owned() } else { shown(&finding.path) };
        let version = finding.version.map(|version| format!(", A2A {version}")).unwrap_or_default();
        writeln!(out, "{}: {path}: {}", finding.severity, shown(&finding.words))?;
        writeln!(out, "  rule {}{version}: {}", finding.rule.name, finding.rule.says)?;
    }
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let versions = looked_for(text).join(" and ");
    if findings.is_empty() {
        return writeln!(out, "no fault found; looked at as a card of {versions}");
    }
    let (errors, warnings) = (counted(errors, "error"), counted(warnings, "warning"));
    writeln!(out, "{errors}, {warnings}; looked at as a card of {versions}")
}

fn counted(number: usize, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

fn to_json(text: &[u8], findings: &[Finding]) -> Value {
    let finding = |finding: &Finding| {
        json!({
            "severity": finding.severity.to_string(),
            "place": finding.path,
            "rule": finding.rule.name,
            "says": finding.rule.says,
            "words": finding.words,
            "version": finding.version.map(|version| version.to_string()),
        })
    };
    json!({"versions": looked_for(text), "findings": findings.iter().map(finding).collect::<Vec<_>>()})
}
