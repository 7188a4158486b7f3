//! Checks members against the tables of both versions: missing, mistyped and unknown ones.

use serde_json::{Map, Value};

use super::{CardVersion, Report, Severity, rules};
use crate::document::kind_name;
use crate::normalize::member_path;
use crate::shape::{MemberKind, MemberRule, Presence, Shape, v0_3, v1_0};

pub(super) fn check(report: &mut Report<'_>) {
    let mut unknown: Vec<Vec<String>> = Vec::new();
    for version in report.versions.clone() {
        let shape = match version {
            CardVersion::V0_3 if report.is_protobuf => &v0_3::PROTOBUF_CARD,
            CardVersion::V0_3 => &v0_3::CARD,
            CardVersion::V1_0 => &v1_0::CARD,
        };
        let mut walk = ShapeChecker { report: &mut *report, version, unknown: Vec::new() };
        let document = walk.report.document;
        walk.object(document, shape, "");
        unknown.push(walk.unknown);
    }
    if report.is_protobuf {
        let words = "is written in the form of protobuf; 0.3 on the web has {\"type\": ...} in schemes, and scopes right \
                     below a scheme's name";
        let path =
            if report.document.contains_key("securitySchemes") { "securitySchemes" } else { "security" };
        report.add(&rules::FORM, Severity::Warning, Some(CardVersion::V0_3), path, words);
    }
    let Some((first, others)) = unknown.split_first() else { return };
    // Reports members that every version does not know, by themselves or as part of an unknown member.
    let is_unknown = |path: &String, others: &[String]| others.iter().any(|other| is_within(path, other));
    for path in first.iter().chain(others.iter().flatten()) {
        if unknown.iter().all(|list| is_unknown(path, list)) {
            let words = advice(path, &report.versions);
            report.warning(&rules::UNKNOWN, path, words);
        }
    }
}

fn is_within(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

struct ShapeChecker<'a, 'b> {
    report: &'a mut Report<'b>,
    version: CardVersion,
    unknown: Vec<String>,
}

impl ShapeChecker<'_, '_> {
    fn object(&mut self, members: &Map<String, Value>, shape: &'static Shape, path: &str) {
        let unknown = members.keys().filter(|name| shape.member(name).is_none());
        self.unknown.extend(unknown.map(|name| member_path(path, name)));
        let mut said = Vec::new();
        for member in shape.members {
            let path = member_path(path, member.name);
            match members.get(member.name).filter(|value| !value.is_null()) {
                Some(value) => {
                    said.push(member.name);
                    self.value(value, &member.kind, &path);
                    if member.presence == Presence::Required {
                        self.check_empty(value, &member.kind, &path);
                    }
                }
                None if member.presence == Presence::Required => {
                    let words = format!(
                        "{} has no {:?}, which has to be {}",
                        shape.name,
                        member.name,
                        member.kind.describe()
                    );
                    self.error(&rules::REQUIRED, &path, words);
                }
                None => {}
            }
        }
        if shape.choice == MemberRule::ExactlyOne && said.len() != 1 {
            let names: Vec<&str> = shape.members.iter().map(|member| member.name).collect();
            let found = if said.is_empty() { "none".to_owned() } else { said.join(" and ") };
            let words = format!("{} holds exactly one of {}; here is {found}", shape.name, names.join(", "));
            self.error(&rules::ONE_OF, path, words);
        }
    }

    fn value(&mut self, value: &Value, wanted: &'static MemberKind, path: &str) {
        match (wanted, value) {
            (MemberKind::Text, Value::String(_))
            | (MemberKind::Flag, Value::Bool(_))
            | (MemberKind::Free, Value::Object(_)) => {}
            (MemberKind::Object(shape), Value::Object(members)) => self.object(members, shape, path),
            (MemberKind::Tagged(shapes), Value::Object(members)) => self.tagged(members, shapes, path),
            (MemberKind::List(kind), Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    self.value(item, kind, &format!("{path}[{index}]"));
                }
            }
            (MemberKind::Map(kind), Value::Object(entries)) => {
                for (name, entry) in entries {
                    self.value(entry, kind, &member_path(path, name));
                }
            }
            _ => {
                let words = format!("has to be {}, and is {}", wanted.describe(), kind_name(value));
                self.error(&rules::TYPE, path, words);
            }
        }
    }

    fn tagged(
        &mut self,
        members: &Map<String, Value>,
        shapes: &'static [(&'static str, &'static Shape)],
        path: &str,
    ) {
        let names: Vec<&str> = shapes.iter().map(|(name, _)| *name).collect();
        let tag = members.get("type").and_then(Value::as_str);
        match shapes.iter().find(|(name, _)| Some(*name) == tag) {
            Some((_, shape)) => self.object(members, shape, path),
            None => {
                self.unknown.extend(
                    members.keys().filter(|name| *name != "type").map(|name| member_path(path, name)),
                );
                let words = match tag {
                    None => format!("a scheme of 0.3 says its \"type\": one of {}", names.join(", ")),
                    Some(tag) => format!("{tag:?} is no kind of scheme; they are {}", names.join(", ")),
                };
                self.error(&rules::SCHEME, &member_path(path, "type"), words);
            }
        }
    }

    fn check_empty(&mut self, value: &Value, kind: &MemberKind, path: &str) {
        let empty = match (kind, value) {
            (MemberKind::Text, Value::String(text)) => text.trim().is_empty(),
            (MemberKind::List(_), Value::Array(items)) => items.is_empty(),
            _ => false,
        };
        // These lists have their own rules.
        if empty && !path.ends_with("supportedInterfaces") && path != "skills" && !path.ends_with(".tags") {
            let words = "is required and says nothing";
            self.report.add(&rules::EMPTY, Severity::Warning, None, path, words);
        }
    }

    fn error(&mut self, rule: &'static super::Rule, path: &str, words: String) {
        let version = Some(self.version);
        // Reports a finding of both versions once.
        let known = self
            .report
            .findings
            .iter_mut()
            .find(|it| it.path == path && it.rule == rule && it.words == words);
        match known {
            Some(finding) if finding.version != version => finding.version = None,
            Some(_) => {}
            None => self.report.add(rule, Severity::Error, version, path, words),
        }
    }
}

/// Names of 0.3 and of drafts, and their names in 1.0.
const RENAMED: &[(&str, &str)] = &[
    ("security", "1.0 calls it securityRequirements"),
    ("securityRequirements", "0.3 calls it security"),
    ("supportsAuthenticatedExtendedCard", "1.0 has it as capabilities.extendedAgentCard"),
    ("supportsExtendedAgentCard", "1.0 has it as capabilities.extendedAgentCard"),
    ("extendedAgentCard", "0.3 has it as supportsAuthenticatedExtendedCard, beside capabilities"),
    ("stateTransitionHistory", "1.0 has done away with it"),
    ("transport", "1.0 calls it protocolBinding"),
    ("protocolBinding", "0.3 calls it transport"),
    ("protocolVersions", "1.0 has protocolVersion in each interface"),
    ("authorizationCodeFlow", "it is called authorizationCode"),
    ("in", "1.0 calls it location"),
    ("location", "0.3 calls it in"),
    ("type", "1.0 has the kind as a member's name, such as httpAuthSecurityScheme"),
];

fn advice(path: &str, versions: &[CardVersion]) -> String {
    let name = path.rsplit('.').next().unwrap_or(path);
    let versions: Vec<String> = versions.iter().map(ToString::to_string).collect();
    let versions = versions.join(" and ");
    if let Some((_, what)) = RENAMED.iter().find(|(old, _)| *old == name) {
        return format!("{versions} does not know {name:?}: {what}");
    }
    if name.contains('_') {
        let mut parts = name.split('_');
        let first = parts.next().unwrap_or_default().to_owned();
        let camel = parts.fold(first, |name, part| {
            let mut letters = part.chars();
            let head: String = letters.next().map(|it| it.to_uppercase().collect()).unwrap_or_default();
            format!("{name}{head}{}", letters.as_str())
        });
        return format!("{versions} does not know {name:?}; names are written like {camel:?}");
    }
    format!("{versions} does not know {name:?}, so clients ignore it")
}
