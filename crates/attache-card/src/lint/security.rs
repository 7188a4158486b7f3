//! Checks security schemes and requirements.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use url::Url;

use super::content::texts;
use super::interfaces::is_local;
use super::{CardVersion, Report, Severity, rules};
use crate::normalize::member_path;
use crate::shape::v1_0;

/// A scheme, free of version.
struct Scheme<'a> {
    kind: &'static str,
    version: CardVersion,
    members: &'a Map<String, Value>,
    /// The path of its members.
    path: String,
}

/// The kinds: their name in 1.0 and their `type` in 0.3.
const KINDS: &[(&str, &str)] = &[
    ("apiKeySecurityScheme", "apiKey"),
    ("httpAuthSecurityScheme", "http"),
    ("oauth2SecurityScheme", "oauth2"),
    ("openIdConnectSecurityScheme", "openIdConnect"),
    ("mtlsSecurityScheme", "mutualTLS"),
];

pub(super) fn check(report: &mut Report<'_>) {
    let empty = Map::new();
    let schemes = report.document.get("securitySchemes").and_then(Value::as_object).unwrap_or(&empty);
    let mut scopes: BTreeMap<&str, Option<BTreeSet<&str>>> = BTreeMap::new();
    for (name, scheme) in schemes {
        let path = member_path("securitySchemes", name);
        let declared = schemes_of(scheme, &path);
        for scheme in &declared {
            check_scheme(report, scheme);
        }
        scopes.insert(
            name,
            declared.iter().find(|it| it.kind == "oauth2").map(|it| declared_scopes(it.members)),
        );
    }
    let mut used = BTreeSet::new();
    let document = report.document;
    for version in report.versions.clone() {
        let name = match version {
            CardVersion::V1_0 => "securityRequirements",
            CardVersion::V0_3 => "security",
        };
        check_requirements(report, document.get(name), name, version, &scopes, &mut used);
        for (index, skill) in
            document.get("skills").and_then(Value::as_array).into_iter().flatten().enumerate()
        {
            let path = format!("skills[{index}].{name}");
            check_requirements(report, skill.get(name), &path, version, &scopes, &mut used);
        }
    }
    for name in scopes.keys().filter(|name| !used.contains(**name)) {
        let words = "is declared, and nothing requires it";
        report.warning(&rules::UNUSED_SCHEME, member_path("securitySchemes", name), words);
    }
    check_extended(report, used.is_empty());
}

/// The scheme in each version's form.
fn schemes_of<'a>(scheme: &'a Value, path: &str) -> Vec<Scheme<'a>> {
    let Some(object) = scheme.as_object() else { return Vec::new() };
    let wrapped = v1_0::SCHEME.members.iter().filter_map(|member| {
        let (_, kind) = KINDS.iter().find(|(name, _)| *name == member.name)?;
        let members = object.get(member.name)?.as_object()?;
        Some(Scheme { kind, version: CardVersion::V1_0, members, path: member_path(path, member.name) })
    });
    let flat = object.get("type").and_then(Value::as_str);
    let flat = KINDS.iter().find(|(_, kind)| Some(*kind) == flat);
    let flat = flat.map(|(_, kind)| Scheme {
        kind,
        version: CardVersion::V0_3,
        members: object,
        path: path.to_owned(),
    });
    wrapped.chain(flat).collect()
}

fn check_scheme(report: &mut Report<'_>, scheme: &Scheme<'_>) {
    let Scheme { kind, version, members, path } = scheme;
    for name in ["in", "location"].into_iter().filter(|_| *kind == "apiKey") {
        let location = members.get(name).and_then(Value::as_str);
        if let Some(wrong) = location.filter(|it| !["header", "query", "cookie"].contains(it)) {
            let words = format!("{wrong:?} is none of header, query and cookie");
            report.error(&rules::SCHEME, member_path(path, name), words);
        }
    }
    // In protobuf an empty text is a member that is not set.
    let is_protobuf = report.is_protobuf;
    let is_url = |name: &str, text: &str| name.ends_with("Url") && !(is_protobuf && text.is_empty());
    for (name, url) in texts(members).filter(|(name, url)| is_url(name, url)) {
        check_url(report, url, &member_path(path, name));
    }
    let flows = members.get("flows").and_then(Value::as_object).filter(|_| *kind == "oauth2");
    for (name, flow) in flows.into_iter().flatten() {
        let path = member_path(&member_path(path, "flows"), name);
        let is_v1_0 = *version == CardVersion::V1_0 && !report.is_protobuf;
        if ["implicit", "password"].contains(&name.as_str()) && is_v1_0 {
            let words = "is deprecated in 1.0; use authorizationCode or clientCredentials";
            report.add(
                &rules::DEPRECATED_FLOW,
                Severity::Warning,
                Some(CardVersion::V1_0),
                path.clone(),
                words,
            );
        }
        for (name, url) in
            flow.as_object().into_iter().flat_map(texts).filter(|(name, url)| is_url(name, url))
        {
            check_url(report, url, &member_path(&path, name));
        }
    }
}

fn check_url(report: &mut Report<'_>, text: &str, path: &str) {
    match Url::parse(text) {
        Ok(url) if url.has_host() && (url.scheme() == "https" || is_local(&url)) => {}
        Ok(url) if url.has_host() => {
            let words =
                format!("begins with {}:, and tokens would travel in the clear; use https", url.scheme());
            report.error(&rules::OAUTH_TLS, path, words);
        }
        _ => report.error(
            &rules::URL,
            path,
            format!("{text:?} is no absolute URL such as https://id.example/token"),
        ),
    }
}

fn declared_scopes(members: &Map<String, Value>) -> BTreeSet<&str> {
    let flows = members.get("flows").and_then(Value::as_object).into_iter().flat_map(Map::values);
    let scopes = flows.filter_map(|flow| flow.get("scopes")?.as_object());
    scopes.flat_map(Map::keys).map(String::as_str).collect()
}

fn check_requirements<'a>(
    report: &mut Report<'_>,
    list: Option<&'a Value>,
    path: &str,
    version: CardVersion,
    scopes: &BTreeMap<&str, Option<BTreeSet<&str>>>,
    used: &mut BTreeSet<&'a str>,
) {
    for (index, entry) in list.and_then(Value::as_array).into_iter().flatten().enumerate() {
        let mut path = format!("{path}[{index}]");
        let mut schemes = entry.as_object();
        let is_wrapped = version == CardVersion::V1_0 || report.is_protobuf;
        if is_wrapped {
            schemes = entry.get("schemes").and_then(Value::as_object);
            path = format!("{path}.schemes");
        }
        let Some(schemes) = schemes.filter(|schemes| !schemes.is_empty()) else {
            let words = "requires nothing, so every client may call";
            report.add(&rules::REQUIREMENT, Severity::Warning, Some(version), path, words);
            continue;
        };
        for (name, wanted) in schemes {
            used.insert(name);
            let path = member_path(&path, name);
            let wanted = if is_wrapped { wanted.get("list") } else { Some(wanted) };
            let wanted: Vec<&str> =
                wanted.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
            match scopes.get(name.as_str()) {
                None => {
                    let words = format!("no scheme {name:?} is declared in securitySchemes");
                    report.add(&rules::REQUIREMENT, Severity::Error, Some(version), path, words);
                }
                Some(Some(known)) => {
                    for scope in wanted.iter().filter(|scope| !known.contains(**scope)) {
                        let words = format!("the flow of {name:?} has no scope {scope:?}");
                        report.add(
                            &rules::REQUIREMENT,
                            Severity::Warning,
                            Some(version),
                            path.clone(),
                            words,
                        );
                    }
                }
                Some(None) => {}
            }
        }
    }
}

fn check_extended(report: &mut Report<'_>, nothing_required: bool) {
    let capability = report.document.get("capabilities").and_then(|it| it.get("extendedAgentCard"));
    let flag = report.document.get("supportsAuthenticatedExtendedCard");
    let offered = [capability, flag].into_iter().flatten().any(|value| value == true);
    if offered && nothing_required {
        let words = "an extended card is offered, and no scheme is required by which callers would be known";
        report.warning(&rules::EXTENDED_CARD, "capabilities.extendedAgentCard", words);
    }
}
