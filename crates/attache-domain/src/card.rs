//! The agent card, in the terms of A2A 1.0; `wire` encodes it for each version.

use std::collections::BTreeMap;

use serde_json::Value;

#[derive(Debug, Clone, PartialEq)]
pub struct AgentCard {
    pub name: String,
    pub description: String,
    pub version: String,
    /// In order of preference.
    pub interfaces: Vec<AgentInterface>,
    pub provider: Option<AgentProvider>,
    pub documentation_url: Option<String>,
    pub icon_url: Option<String>,
    pub capabilities: Capabilities,
    pub security_schemes: BTreeMap<String, SecurityScheme>,
    /// Any one of these suffices.
    pub security: Vec<SecurityRequirement>,
    pub default_input_modes: Vec<String>,
    pub default_output_modes: Vec<String>,
    pub skills: Vec<AgentSkill>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentInterface {
    pub url: String,
    pub binding: Binding,
    /// `0.3` or `1.0`.
    pub protocol_version: String,
    pub tenant: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Binding {
    JsonRpc,
    HttpJson,
    Grpc,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentProvider {
    pub organization: String,
    pub url: String,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Capabilities {
    pub streaming: bool,
    pub push_notifications: bool,
    pub extended_agent_card: bool,
    pub extensions: Vec<AgentExtension>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AgentExtension {
    pub uri: String,
    pub description: Option<String>,
    pub required: bool,
    pub params: Option<Value>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecurityScheme {
    pub description: Option<String>,
    pub kind: SecuritySchemeKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecuritySchemeKind {
    ApiKey { location: ApiKeyLocation, name: String },
    Http { scheme: String, bearer_format: Option<String> },
    OAuth2 { flow: OAuthFlow, metadata_url: Option<String> },
    OpenIdConnect { url: String },
    MutualTls,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApiKeyLocation {
    Header,
    Query,
    Cookie,
}

/// One OAuth 2 flow. 1.0 holds exactly one for each scheme, so several flows are several schemes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OAuthFlow {
    AuthorizationCode {
        authorization_url: String,
        token_url: String,
        refresh_url: Option<String>,
        scopes: BTreeMap<String, String>,
        pkce_required: bool,
    },
    ClientCredentials {
        token_url: String,
        refresh_url: Option<String>,
        scopes: BTreeMap<String, String>,
    },
    Implicit {
        authorization_url: String,
        refresh_url: Option<String>,
        scopes: BTreeMap<String, String>,
    },
    Password {
        token_url: String,
        refresh_url: Option<String>,
        scopes: BTreeMap<String, String>,
    },
    /// Cannot be shown to 0.3 clients.
    DeviceCode {
        device_authorization_url: String,
        token_url: String,
        refresh_url: Option<String>,
        scopes: BTreeMap<String, String>,
    },
}

/// Schemes that must be satisfied together, each with the scopes it needs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SecurityRequirement {
    pub schemes: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSkill {
    pub id: String,
    pub name: String,
    pub description: String,
    pub tags: Vec<String>,
    pub examples: Vec<String>,
    pub input_modes: Vec<String>,
    pub output_modes: Vec<String>,
    pub security: Vec<SecurityRequirement>,
}
