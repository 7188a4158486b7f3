//! Finds the faults of a card and names the rule that each breaks.
//!
//! A document with `supportedInterfaces` is checked as a card of 1.0, with `url` or `protocolVersion` as one of 0.3.
//! With both it is checked as both, and the two halves must agree. A 0.3 card in protobuf's form is checked as such.

mod both_versions;
mod content;
mod interfaces;
mod rule;
mod security;
mod shape_check;
mod signatures;

use std::fmt;

pub use rule::{RULES, Rule};

use crate::CardDocument;
use crate::upgrade::is_protobuf_v0_3;
use rule as rules;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Where, e.g. `skills[0].id`; empty for the card itself.
    pub path: String,
    pub rule: &'static Rule,
    pub words: String,
    pub severity: Severity,
    /// The version whose clients meet the fault; `None` for both.
    pub version: Option<CardVersion>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The protocol forbids it, or clients fail on it.
    Error,
    /// The protocol advises against it, or some clients fail on it.
    Warning,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CardVersion {
    V0_3,
    V1_0,
}

impl fmt::Display for Severity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

impl fmt::Display for CardVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::V0_3 => "0.3",
            Self::V1_0 => "1.0",
        })
    }
}

/// The versions that a document claims; the latest if it claims none.
pub fn versions(document: &CardDocument) -> Vec<CardVersion> {
    let v1_0 = document.contains_key("supportedInterfaces");
    let v0_3 = ["url", "protocolVersion", "preferredTransport", "additionalInterfaces"]
        .iter()
        .any(|name| document.contains_key(*name));
    let mut versions = Vec::new();
    if v1_0 || !v0_3 {
        versions.push(CardVersion::V1_0);
    }
    if v0_3 {
        versions.push(CardVersion::V0_3);
    }
    versions
}

/// All findings about a text that should be a card.
pub fn lint(text: &[u8]) -> Vec<Finding> {
    match crate::parse(text) {
        Ok(document) => lint_document(&document),
        Err(error) => {
            let words = error.to_string();
            let severity = Severity::Error;
            vec![Finding { path: String::new(), rule: &rules::ONE_OBJECT, words, severity, version: None }]
        }
    }
}

/// All findings about a card, errors first.
pub fn lint_document(document: &CardDocument) -> Vec<Finding> {
    let versions = versions(document);
    let is_protobuf = is_protobuf_v0_3(document);
    let mut report = Report { document, versions, is_protobuf, findings: Vec::new() };
    shape_check::check(&mut report);
    interfaces::check(&mut report);
    content::check(&mut report);
    security::check(&mut report);
    both_versions::check(&mut report);
    signatures::check(&mut report);
    let mut findings = report.findings;
    findings.sort_by_key(|finding| finding.severity);
    findings
}

/// The card and its findings.
struct Report<'a> {
    document: &'a CardDocument,
    versions: Vec<CardVersion>,
    /// A card of 0.3 in the form of its protobuf definition.
    is_protobuf: bool,
    findings: Vec<Finding>,
}

impl Report<'_> {
    fn has(&self, version: CardVersion) -> bool {
        self.versions.contains(&version)
    }

    fn is_both(&self) -> bool {
        self.versions.len() == 2
    }

    fn error(&mut self, rule: &'static Rule, path: impl Into<String>, words: impl Into<String>) {
        self.add(rule, Severity::Error, None, path, words);
    }

    fn warning(&mut self, rule: &'static Rule, path: impl Into<String>, words: impl Into<String>) {
        self.add(rule, Severity::Warning, None, path, words);
    }

    fn add(
        &mut self,
        rule: &'static Rule,
        severity: Severity,
        version: Option<CardVersion>,
        path: impl Into<String>,
        words: impl Into<String>,
    ) {
        let finding = Finding { path: path.into(), rule, words: words.into(), severity, version };
        if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }
}
