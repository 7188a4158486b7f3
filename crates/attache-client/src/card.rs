//! The card that an agent presents itself with, as far as a client needs it.

use serde::Deserialize;

use crate::ClientError;
use crate::binding::Binding;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentCard {
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub version: String,
    #[serde(default)]
    pub supported_interfaces: Vec<AgentInterface>,
    #[serde(default)]
    pub capabilities: AgentCapabilities,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentCapabilities {
    #[serde(default)]
    pub streaming: bool,
    #[serde(default)]
    pub push_notifications: bool,
    #[serde(default)]
    pub extensions: Vec<AgentExtension>,
}

/// What an agent can say beyond the protocol; see [`ClientOptions::extensions`](crate::ClientOptions::extensions).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct AgentExtension {
    pub uri: String,
    #[serde(default)]
    pub description: String,
    /// Only clients that speak it are served.
    #[serde(default)]
    pub required: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentInterface {
    pub url: String,
    #[serde(default)]
    pub protocol_binding: String,
    #[serde(default)]
    pub protocol_version: String,
    #[serde(default)]
    pub tenant: Option<String>,
}

impl AgentCard {
    /// The extension of this URI, if the agent offers it.
    pub fn extension(&self, uri: &str) -> Option<&AgentExtension> {
        self.capabilities.extensions.iter().find(|extension| extension.uri == uri)
    }

    /// The agent's favourite among the interfaces that we speak.
    pub(crate) fn choose(&self) -> Result<(&AgentInterface, Binding), ClientError> {
        let spoken = self.supported_interfaces.iter().find_map(|it| Some((it, it.binding()?)));
        spoken.ok_or_else(|| {
            let named = |it: &AgentInterface| format!("{} {}", it.protocol_binding, it.protocol_version);
            let offered: Vec<_> = self.supported_interfaces.iter().take(8).map(named).collect();
            let offered = if offered.is_empty() { "none".to_owned() } else { offered.join(", ") };
            ClientError::NoInterface { offered: offered.chars().take(400).collect() }
        })
    }
}

impl AgentInterface {
    fn binding(&self) -> Option<Binding> {
        let spoken = self.protocol_version == "1.0" || self.protocol_version.starts_with("1.0.");
        match self.protocol_binding.as_str() {
            "JSONRPC" if spoken => Some(Binding::JsonRpc),
            "HTTP+JSON" if spoken => Some(Binding::HttpJson),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface(binding: &str, version: &str) -> AgentInterface {
        AgentInterface {
            url: "http://127.0.0.1/".into(),
            protocol_binding: binding.into(),
            protocol_version: version.into(),
            tenant: None,
        }
    }

    #[track_caller]
    fn check(offered: &[(&str, &str)], expected: Option<Binding>) {
        let supported_interfaces =
            offered.iter().map(|(binding, version)| interface(binding, version)).collect();
        let card = AgentCard {
            name: String::new(),
            description: String::new(),
            version: String::new(),
            supported_interfaces,
            capabilities: AgentCapabilities::default(),
        };
        assert_eq!(card.choose().ok().map(|(_, binding)| binding), expected);
    }

    #[test]
    fn the_first_interface_that_is_spoken_is_chosen() {
        check(&[("GRPC", "1.0"), ("HTTP+JSON", "1.0"), ("JSONRPC", "1.0")], Some(Binding::HttpJson));
        check(&[("JSONRPC", "0.3"), ("JSONRPC", "1.0.1")], Some(Binding::JsonRpc));
        check(&[("JSONRPC", "0.3"), ("JSONRPC", "1.01")], None);
        check(&[], None);
    }

    #[test]
    fn an_extension_is_found_by_its_uri_and_a_card_without_any_offers_none() {
        let card = r#"{"capabilities": {"streaming": true, "extensions": [{"uri": "https://a.example/v1", "params": 1}]}}"#;
        let card: AgentCard = serde_json::from_str(card).unwrap();
        assert!(card.extension("https://a.example/v1").is_some_and(|extension| !extension.required));
        assert_eq!(card.extension("https://a.example/"), None);
        let bare: AgentCard = serde_json::from_str("{}").unwrap();
        assert_eq!(bare.extension("https://a.example/v1"), None);
    }
}
