//! The settings of the card, to be shown.

use serde_json::{Value, json};

use super::Provenance;
use crate::SettingEntry;
use crate::file::{CardFile, ExtendedFile, ExtensionFile, SkillFile};

/// Lists are shown by the names of what is in them; `attache card show` has all of it.
pub(super) fn entries(file: &CardFile, provenance: &Provenance<'_>) -> Vec<SettingEntry> {
    // Without `..`, so that a new member has to be shown here.
    let CardFile {
        name,
        description,
        version,
        documentation_url,
        icon_url,
        max_age_seconds,
        streaming,
        provider,
        default_input_modes,
        default_output_modes,
        skills,
        extensions,
        require_development_tool,
        security_schemes,
        security,
        tenants,
        extended,
        signing_keys,
        jku,
        grpc,
        form,
    } = file;
    let provider = provider.as_ref().map(|it| json!({"organization": it.organization, "url": it.url}));
    let values = [
        ("card.default_input_modes", json!(default_input_modes)),
        ("card.default_output_modes", json!(default_output_modes)),
        ("card.description", json!(description)),
        ("card.documentation_url", json!(documentation_url)),
        ("card.extended", extended.as_ref().map(extended_value).unwrap_or_default()),
        ("card.extensions", uris(extensions)),
        ("card.form", json!(form)),
        ("card.grpc", json!(grpc)),
        ("card.icon_url", json!(icon_url)),
        ("card.jku", json!(jku)),
        ("card.max_age_seconds", json!(max_age_seconds)),
        ("card.name", json!(name)),
        ("card.provider", json!(provider)),
        ("card.require_development_tool", json!(require_development_tool)),
        ("card.security", json!(security)),
        ("card.security_schemes", security_schemes.keys().cloned().collect()),
        ("card.signing_keys", json!(signing_keys)),
        ("card.skills", ids(skills)),
        ("card.streaming", json!(streaming)),
        ("card.tenants", json!(tenants)),
        ("card.version", json!(version)),
    ];
    let entry = |(key, value): (&str, Value)| SettingEntry {
        key: key.to_owned(),
        value,
        origins: vec![provenance.of(key, "", &[])],
    };
    values.into_iter().map(entry).collect()
}

fn extended_value(extended: &ExtendedFile) -> Value {
    let ExtendedFile { description, documentation_url, skills, interfaces, extensions, tenants } = extended;
    json!({
        "description": description,
        "documentation_url": documentation_url,
        "skills": ids(skills),
        "interfaces": interfaces.iter().map(|interface| &interface.url).collect::<Vec<_>>(),
        "extensions": uris(extensions),
        "tenants": tenants,
    })
}

fn ids(skills: &[SkillFile]) -> Value {
    skills.iter().map(|skill| skill.id.clone()).collect()
}

fn uris(extensions: &[ExtensionFile]) -> Value {
    extensions.iter().map(|extension| extension.uri.clone()).collect()
}
