//! Checks that a card for both versions says the same to both.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{CardVersion, Report, Severity, rules};
use crate::normalize::member_path;

pub(super) fn check(report: &mut Report<'_>) {
    if !report.is_both() {
        return;
    }
    check_interfaces(report);
    check_extended(report);
    check_requirements(report);
    check_schemes(report);
}

fn check_interfaces(report: &mut Report<'_>) {
    let document = report.document;
    let text =
        |value: &Value, name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let listed = document.get("supportedInterfaces").and_then(Value::as_array).into_iter().flatten();
    let older: BTreeSet<(String, String)> = listed
        .filter(|it| {
            text(it, "protocolVersion").starts_with("0.") && it.get("tenant").is_none_or(|it| it == "")
        })
        .map(|it| (text(it, "url"), text(it, "protocolBinding").to_ascii_uppercase()))
        .collect();
    let top = Value::Object(document.clone());
    let main = (text(&top, "url"), text(&top, "preferredTransport").to_ascii_uppercase());
    let main = if main.1.is_empty() { (main.0, "JSONRPC".to_owned()) } else { main };
    let additional = document.get("additionalInterfaces").and_then(Value::as_array).into_iter().flatten();
    let additional = additional.map(|it| (text(it, "url"), text(it, "transport").to_ascii_uppercase()));
    let said: BTreeSet<(String, String)> = [main].into_iter().chain(additional).collect();
    let named = |pairs: Vec<&(String, String)>| {
        pairs.into_iter().map(|(url, binding)| format!("{binding} at {url}")).collect::<Vec<_>>().join(", ")
    };
    let (missing, extra): (Vec<_>, Vec<_>) =
        (older.difference(&said).collect(), said.difference(&older).collect());
    if !missing.is_empty() {
        let words = format!("0.3 clients are not told of {}", named(missing));
        report.add(&rules::HALVES, Severity::Warning, Some(CardVersion::V0_3), "additionalInterfaces", words);
    }
    if !extra.is_empty() {
        let words = format!("has no 0.3 interface for {}", named(extra));
        report.add(&rules::HALVES, Severity::Warning, Some(CardVersion::V1_0), "supportedInterfaces", words);
    }
}

fn check_extended(report: &mut Report<'_>) {
    let flag = |value: Option<&Value>| value.is_some_and(|value| value == true);
    let older = flag(report.document.get("supportsAuthenticatedExtendedCard"));
    let newer = flag(report.document.get("capabilities").and_then(|it| it.get("extendedAgentCard")));
    if older != newer {
        let words = "supportsAuthenticatedExtendedCard and capabilities.extendedAgentCard differ; readers that set one by \
                     the other break the signature";
        report.error(&rules::HALVES, "capabilities.extendedAgentCard", words);
    }
}

fn check_requirements(report: &mut Report<'_>) {
    let document = report.document;
    compare_requirements(report, document, "");
    for (index, skill) in document.get("skills").and_then(Value::as_array).into_iter().flatten().enumerate() {
        if let Some(skill) = skill.as_object() {
            compare_requirements(report, skill, &format!("skills[{index}]"));
        }
    }
}

fn compare_requirements(report: &mut Report<'_>, holder: &Map<String, Value>, path: &str) {
    let entries = |name: &str| holder.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let older: BTreeSet<String> = entries("security").iter().map(Value::to_string).collect();
    let flat = |entry: &Value| {
        let schemes = entry.get("schemes").and_then(Value::as_object).into_iter().flatten();
        let scopes = |value: &Value| value.get("list").cloned().unwrap_or_else(|| Value::Array(Vec::new()));
        Value::Object(schemes.map(|(name, value)| (name.clone(), scopes(value))).collect()).to_string()
    };
    let newer: BTreeSet<String> = entries("securityRequirements").iter().map(flat).collect();
    // Alternatives that only 1.0 can express are missing in 0.3, so fewer are fine, but not zero instead of some.
    if !older.is_subset(&newer) || older.is_empty() != newer.is_empty() {
        let words = "security and securityRequirements do not require the same of callers";
        report.error(&rules::HALVES, member_path(path, "security"), words);
    }
}

fn check_schemes(report: &mut Report<'_>) {
    let schemes = report.document.get("securitySchemes").and_then(Value::as_object);
    for (name, scheme) in schemes.into_iter().flatten() {
        let Some(members) = scheme.as_object() else { continue };
        let Some(kind) = members.get("type").and_then(Value::as_str) else { continue };
        let wrapper = match kind {
            "apiKey" => "apiKeySecurityScheme",
            "http" => "httpAuthSecurityScheme",
            "oauth2" => "oauth2SecurityScheme",
            "openIdConnect" => "openIdConnectSecurityScheme",
            "mutualTLS" => "mtlsSecurityScheme",
            _ => continue,
        };
        let wrapped = members.keys().find(|name| name.ends_with("SecurityScheme"));
        if let Some(other) = wrapped.filter(|other| *other != wrapper) {
            let words = format!("is {kind} to 0.3 clients and {other} to 1.0 clients");
            report.error(&rules::HALVES, member_path("securitySchemes", name), words);
        }
    }
}
