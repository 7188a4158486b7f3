//! An agent's card, as far as a client needs it.

use attache_domain::Binding;
use serde::Deserialize;
use serde_json::Value;

use super::Protocol;
use crate::Version;
use crate::devtool::{devtool_version, is_understood_uri};
use crate::version::parse_version;

/// Where a card lies below an agent's address. Agents older than 0.3 have it at `.well-known/agent.json`.
pub const CARD_PATH: &str = ".well-known/agent-card.json";

/// A card of 1.0. `attache-card` converts others.
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
    #[serde(default)]
    pub skills: Vec<RemoteSkill>,
    #[serde(default)]
    pub default_input_modes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
#[serde(expecting = "an object")]
pub struct RemoteCapabilities {
    #[serde(default)]
    pub streaming: bool,
    #[serde(default)]
    pub push_notifications: bool,
    #[serde(default)]
    pub extended_agent_card: bool,
    #[serde(default)]
    pub extensions: Vec<OfferedExtension>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(expecting = "an object with an id")]
pub struct RemoteSkill {
    #[serde(default)]
    pub id: String,
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub description: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(expecting = "an object with a uri")]
pub struct OfferedExtension {
    #[serde(default)]
    pub uri: String,
    #[serde(default)]
    pub description: String,
    /// The agent serves only clients that activate it.
    #[serde(default)]
    pub required: bool,
}

/// Whether an agent offers the development-tool extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DevelopmentToolOffer<'a> {
    None,
    /// Under this URI, which names its version.
    Understood {
        uri: &'a str,
    },
    /// Only in a version that is not understood here.
    OtherVersion {
        version: &'a str,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[serde(expecting = "an object with a url")]
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

    pub fn from_value(document: Value) -> Result<Self, serde_json::Error> {
        serde_json::from_value(document)
    }

    /// The development-tool extension in the version that this client understands best.
    pub fn development_tool(&self) -> DevelopmentToolOffer<'_> {
        let offered = || self.capabilities.extensions.iter().map(|extension| extension.uri.as_str());
        match offered().find(|uri| is_understood_uri(uri)) {
            Some(uri) => DevelopmentToolOffer::Understood { uri },
            None => match offered().find_map(devtool_version) {
                Some(version) => DevelopmentToolOffer::OtherVersion { version },
                None => DevelopmentToolOffer::None,
            },
        }
    }

    /// The extension of this URI, if the agent offers it.
    pub fn extension(&self, uri: &str) -> Option<&OfferedExtension> {
        self.capabilities.extensions.iter().find(|extension| extension.uri == uri)
    }
}

impl RemoteInterface {
    /// `None` for a version or binding that is not known here.
    pub fn protocol(&self) -> Option<Protocol> {
        let version = parse_version(&self.protocol_version)?;
        Some(Protocol::new(version, self.binding()?))
    }

    /// The protocol to try where the version is not known here: versions before 1.0 are called as 0.3, and those
    /// after 1.0 as 1.0.
    pub fn closest_protocol(&self) -> Option<Protocol> {
        let version = match self.protocol_version.trim().split('.').next() {
            Some("" | "0") => Version::V0_3,
            Some("1") => Version::V1_0,
            _ => return None,
        };
        Some(Protocol::new(version, self.binding()?))
    }

    pub fn binding(&self) -> Option<Binding> {
        let bindings = [Binding::JsonRpc, Binding::HttpJson, Binding::Grpc];
        bindings.into_iter().find(|it| binding_name(*it).eq_ignore_ascii_case(&self.protocol_binding))
    }
}

pub(super) fn binding_name(binding: Binding) -> &'static str {
    match binding {
        Binding::JsonRpc => "JSONRPC",
        Binding::HttpJson => "HTTP+JSON",
        Binding::Grpc => "GRPC",
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
