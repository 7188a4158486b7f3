//! The members of a 1.0 card. Required ones are always written, empty optional ones never.

use attache_domain::{
    AgentCard, AgentExtension, AgentInterface, AgentProvider, AgentSkill, Binding, Capabilities,
};
use serde_json::{Map, Value, json};

use super::security;

pub(super) fn card(card: &AgentCard) -> Map<String, Value> {
    let mut object = Object::default();
    object.set("name", &*card.name);
    object.set("description", &*card.description);
    object.set("version", &*card.version);
    object.set("supportedInterfaces", list(&card.interfaces, interface));
    object.set("capabilities", capabilities(&card.capabilities));
    object.set("defaultInputModes", card.default_input_modes.clone());
    object.set("defaultOutputModes", card.default_output_modes.clone());
    object.set("skills", list(&card.skills, skill));
    if let Some(AgentProvider { organization, url }) = &card.provider {
        object.set("provider", json!({ "organization": organization, "url": url }));
    }
    object.set_some("documentationUrl", card.documentation_url.as_deref());
    object.set_some("iconUrl", card.icon_url.as_deref());
    if !card.security_schemes.is_empty() {
        let schemes = card.security_schemes.iter();
        let schemes: Map<_, _> =
            schemes.map(|(name, scheme)| (name.clone(), security::wrapped_scheme(scheme))).collect();
        object.set("securitySchemes", schemes);
    }
    object.set_list("securityRequirements", list(&card.security, security::requirement));
    object.0
}

pub(super) fn binding(binding: Binding) -> &'static str {
    match binding {
        Binding::JsonRpc => "JSONRPC",
        Binding::HttpJson => "HTTP+JSON",
        Binding::Grpc => "GRPC",
    }
}

fn interface(interface: &AgentInterface) -> Value {
    let mut object = Object::default();
    object.set("url", &*interface.url);
    object.set("protocolBinding", binding(interface.binding));
    object.set("protocolVersion", &*interface.protocol_version);
    object.set_some("tenant", interface.tenant.as_deref());
    object.0.into()
}

fn capabilities(capabilities: &Capabilities) -> Value {
    let mut object = Object::default();
    object.set("streaming", capabilities.streaming);
    object.set("pushNotifications", capabilities.push_notifications);
    object.set("extendedAgentCard", capabilities.extended_agent_card);
    object.set_list("extensions", list(&capabilities.extensions, extension));
    object.0.into()
}

fn extension(extension: &AgentExtension) -> Value {
    let mut object = Object::default();
    object.set("uri", &*extension.uri);
    object.set_some("description", extension.description.as_deref());
    if extension.required {
        object.set("required", true);
    }
    object.set_some("params", extension.params.clone());
    object.0.into()
}

fn skill(skill: &AgentSkill) -> Value {
    let mut object = Object::default();
    object.set("id", &*skill.id);
    object.set("name", &*skill.name);
    object.set("description", &*skill.description);
    object.set("tags", skill.tags.clone());
    object.set_list("examples", texts(&skill.examples));
    object.set_list("inputModes", texts(&skill.input_modes));
    object.set_list("outputModes", texts(&skill.output_modes));
    object.set_list("securityRequirements", list(&skill.security, security::requirement));
    object.0.into()
}

fn list<T>(items: &[T], encode: impl Fn(&T) -> Value) -> Vec<Value> {
    items.iter().map(encode).collect()
}

fn texts(texts: &[String]) -> Vec<Value> {
    list(texts, |text| text.as_str().into())
}

/// Builds a JSON object.
#[derive(Default)]
pub(super) struct Object(pub(super) Map<String, Value>);

impl Object {
    pub(super) fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    pub(super) fn set_some(&mut self, name: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.set(name, value);
        }
    }

    fn set_list(&mut self, name: &str, items: Vec<Value>) {
        if !items.is_empty() {
            self.set(name, items);
        }
    }
}
