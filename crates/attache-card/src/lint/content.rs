//! Checks links, media types, skills and extensions.

use serde_json::{Map, Value};
use url::Url;

use super::{CardVersion, Report, Severity, rules};

pub(super) fn check(report: &mut Report<'_>) {
    let document = report.document;
    for name in ["documentationUrl", "iconUrl"] {
        check_link(report, document.get(name), name);
    }
    check_link(report, document.get("provider").and_then(|provider| provider.get("url")), "provider.url");
    for name in ["defaultInputModes", "defaultOutputModes"] {
        check_modes(report, document.get(name), name);
    }
    check_skills(report);
    check_extensions(report);
}

fn check_link(report: &mut Report<'_>, value: Option<&Value>, path: &str) {
    let Some(text) = value.and_then(Value::as_str).filter(|text| !text.is_empty()) else { return };
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => {
            if !url.username().is_empty() || url.password().is_some() {
                report.error(&rules::URL, path, "has credentials in it, and the card is public");
            }
        }
        // Small icons are often inlined.
        Ok(url) if url.scheme() == "data" && path == "iconUrl" => {}
        _ => report.error(
            &rules::URL,
            path,
            format!("{text:?} is no absolute URL such as https://agent.example/"),
        ),
    }
}

fn check_modes(report: &mut Report<'_>, value: Option<&Value>, path: &str) {
    for (index, mode) in value.and_then(Value::as_array).into_iter().flatten().enumerate() {
        let Some(mode) = mode.as_str() else { continue };
        if !is_media_type(mode) {
            let words = format!("{mode:?} is no media type such as text/plain");
            report.warning(&rules::MEDIA_TYPE, format!("{path}[{index}]"), words);
        }
    }
}

fn is_media_type(text: &str) -> bool {
    let essence = text.split(';').next().unwrap_or_default().trim_end();
    let is_token = |part: &str| {
        !part.is_empty() && part.chars().all(|it| it.is_ascii_alphanumeric() || "!#$&^_.+-*".contains(it))
    };
    essence.split_once('/').is_some_and(|(kind, rest)| is_token(kind) && is_token(rest))
}

fn check_skills(report: &mut Report<'_>) {
    let Some(skills) = report.document.get("skills").and_then(Value::as_array) else { return };
    if skills.is_empty() {
        report.warning(&rules::SKILLS, "skills", "tells of nothing that the agent can do");
    }
    let id = |skill: &Value| skill.get("id").and_then(Value::as_str).map(str::to_owned);
    for (index, skill) in skills.iter().enumerate() {
        let path = format!("skills[{index}]");
        if let Some(own) = id(skill)
            && let Some(earlier) = skills[..index].iter().position(|other| id(other).as_ref() == Some(&own))
        {
            let words = format!("{own:?} is already the id of skills[{earlier}]");
            report.error(&rules::SKILLS, format!("{path}.id"), words);
        }
        if skill.get("tags").and_then(Value::as_array).is_some_and(Vec::is_empty) {
            report.warning(&rules::SKILLS, format!("{path}.tags"), "has no tag to find the skill by");
        }
        for name in ["inputModes", "outputModes"] {
            check_modes(report, skill.get(name), &format!("{path}.{name}"));
        }
    }
}

fn check_extensions(report: &mut Report<'_>) {
    let capabilities = report.document.get("capabilities").and_then(Value::as_object);
    let extensions = capabilities.and_then(|it| it.get("extensions")).and_then(Value::as_array);
    let Some(extensions) = extensions else { return };
    let uri = |extension: &Value| extension.get("uri").and_then(Value::as_str).map(str::to_owned);
    for (index, extension) in extensions.iter().enumerate() {
        let path = format!("capabilities.extensions[{index}]");
        match uri(extension).filter(|uri| !uri.is_empty()) {
            None if extension.is_object() => {
                let words = "an extension without a \"uri\" cannot be activated";
                let version = (!report.has(CardVersion::V0_3)).then_some(CardVersion::V1_0);
                report.add(&rules::EXTENSION, Severity::Error, version, path, words);
            }
            None => {}
            Some(own) => {
                if Url::parse(&own).is_err() {
                    let words = format!("{own:?} is no absolute URI");
                    report.warning(&rules::EXTENSION, format!("{path}.uri"), words);
                }
                if extensions[..index].iter().any(|other| uri(other).as_ref() == Some(&own)) {
                    report.warning(&rules::EXTENSION, path, format!("{own} is listed twice"));
                }
            }
        }
    }
}

/// The texts of an object, by name.
pub(super) fn texts(object: &Map<String, Value>) -> impl Iterator<Item = (&String, &str)> {
    object.iter().filter_map(|(name, value)| Some((name, value.as_str()?)))
}
