//! The agent card.
//!
//! Encoded once at start, so it is built as a tree.

use attache_domain::{AgentCard, AgentInterface, AgentSkill};
use serde_json::{Map, Value, json};

use crate::encode::text::write_value;

mod members;
mod security;

/// Which document to encode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CardForm {
    /// The members of 1.0 and 0.3 side by side, for clients of both. Without a 0.3 interface there are no 0.3
    /// members.
    Superset,
    /// 1.0 only.
    V1_0,
    /// 0.3 only, for validators whose schema has no other members.
    V0_3,
}

pub fn write(form: CardForm, card: &AgentCard) -> Vec<u8> {
    let mut document = members::card(card);
    if form != CardForm::V1_0 {
        add_v0_3(&mut document, card);
    }
    if form == CardForm::V0_3 {
        remove_v1_0(&mut document, card);
    }
    let mut out = Vec::new();
    write_value(&Value::Object(document), &mut out);
    out
}

/// Adds the members that 0.3 names differently, without changing those of 1.0.
fn add_v0_3(document: &mut Map<String, Value>, card: &AgentCard) {
    let mut interfaces = card.interfaces.iter().filter(|interface| is_for_v0_3(interface)).peekable();
    let Some(main) = interfaces.peek() else { return };
    document.insert("protocolVersion".into(), "0.3.0".into());
    document.insert("url".into(), main.url.as_str().into());
    document.insert("preferredTransport".into(), members::binding(main.binding).into());
    let additional: Vec<Value> = interfaces
        .map(|interface| json!({ "url": interface.url, "transport": members::binding(interface.binding) }))
        .collect();
    document.insert("additionalInterfaces".into(), additional.into());
    if let Some(capabilities) = document.get_mut("capabilities") {
        // `tasks/resubscribe` with `Last-Event-ID` replays every state of a task.
        capabilities["stateTransitionHistory"] = true.into();
    }
    if card.capabilities.extended_agent_card {
        document.insert("supportsAuthenticatedExtendedCard".into(), true.into());
    }
    if !card.security.is_empty() {
        document.insert("security".into(), security::flat_requirements(card, &card.security));
    }
    if let Some(Value::Object(schemes)) = document.get_mut("securitySchemes") {
        for (name, scheme) in &card.security_schemes {
            if let Some(Value::Object(entry)) = schemes.get_mut(name) {
                entry.extend(security::flat_scheme(scheme));
            }
        }
    }
    if let Some(Value::Array(skills)) = document.get_mut("skills") {
        for (entry, skill) in skills.iter_mut().zip(&card.skills) {
            add_skill_security(entry, card, skill);
        }
    }
}

/// Removes the members that only 1.0 has.
fn remove_v1_0(document: &mut Map<String, Value>, card: &AgentCard) {
    document.remove("supportedInterfaces");
    document.remove("securityRequirements");
    if let Some(Value::Object(capabilities)) = document.get_mut("capabilities") {
        capabilities.remove("extendedAgentCard");
    }
    if let Some(Value::Object(schemes)) = document.get_mut("securitySchemes") {
        for (name, scheme) in &card.security_schemes {
            schemes.insert(name.clone(), security::flat_scheme(scheme).into());
        }
    }
    for skill in document.get_mut("skills").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Value::Object(skill) = skill {
            skill.remove("securityRequirements");
        }
    }
}

/// 0.3 has no tenants, so an interface with a tenant is not for it.
fn is_for_v0_3(interface: &AgentInterface) -> bool {
    interface.protocol_version.starts_with("0.3") && interface.tenant.is_none()
}

fn add_skill_security(entry: &mut Value, card: &AgentCard, skill: &AgentSkill) {
    if !skill.security.is_empty() {
        entry["security"] = security::flat_requirements(card, &skill.security);
    }
}
