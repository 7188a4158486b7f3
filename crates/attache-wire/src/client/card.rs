//! An agent's card, as far as a client needs it.

use attache_domain::Binding;
use serde::Deserialize;

use super::Protocol;
use crate::version::parse_version;

/// Where a card of A2A 1.0 lies below an agent's address.
pub const CARD_PATH: &str = ".well-known/agent-card.json";

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RemoteCard {
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub version: String,
    /// In the agent's order of preference.
    #[serde(default)]
    pub supported_interfaces: Vec<RemoteInterface>,
    #[serde(default)]
    pub capabilities: RemoteCapabilities,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RemoteCapabilities {
    #[serde(default)]
    pub streaming: bool,
    #[serde(default)]
    pub push_notifications: bool,
    #[serde(default)]
    pub extensions: Vec<OfferedExtension>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct OfferedExtension {
    pub uri: String,
    #[serde(default)]
    pub description: String,
    /// The agent serves only clients that activate it.
    #[serde(default)]
    pub required: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RemoteInterface {
    pub url: String,
    #[serde(default)]
    pub protocol_binding: String,
    #[serde(default)]
    pub protocol_version: String,
    #[serde(default)]
    pub tenant: Option<String>,
}

impl RemoteCard {
    pub fn parse(body: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(body)
    }

    /// The extension of this URI, if the agent offers it.
    pub fn extension(&self, uri: &str) -> Option<&OfferedExtension> {
        self.capabilities.extensions.iter().find(|extension| extension.uri == uri)
    }
}

impl RemoteInterface {
    /// `None` for a version or binding that is not known here, and for gRPC.
    pub fn protocol(&self) -> Option<Protocol> {
        let version = parse_version(&self.protocol_version)?;
        let binding = match self.protocol_binding.as_str() {
            "JSONRPC" => Binding::JsonRpc,
            "HTTP+JSON" => Binding::HttpJson,
            _ => return None,
        };
        Protocol::new(version, binding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extension_is_found_by_its_uri_and_a_card_without_any_offers_none() {
        let card = RemoteCard::parse(
            br#"{"capabilities":{"extensions":[{"uri":"a"},{"uri":"b","required":true}]}}"#,
        )
        .unwrap();
        assert!(card.extension("b").unwrap().required);
        assert_eq!(card.extension("c"), None);
        assert_eq!(RemoteCard::parse(b"{}").unwrap().extension("a"), None);
    }
}
