//! Makes the agent card of what the settings say.

use std::collections::BTreeMap;

use attache_domain::{
    AgentCard, AgentExtension, AgentInterface, AgentProvider, AgentSkill, ApiKeyLocation, Binding,
    Capabilities, OAuthFlow, SecurityRequirement, SecurityScheme, SecuritySchemeKind,
};

use crate::Settings;
use crate::file::{CardFile, ExtensionFile, FlowFile, LocationFile, SchemeFile, SkillFile};

/// Name of the scheme that stands for the server's own token when the settings declare none.
const TOKEN_SCHEME: &str = "bearer";

/// The card of a server that clients reach at `base_url` (no slash at its end).
pub fn card_of(settings: &Settings, base_url: &str) -> AgentCard {
    let file = settings.card.file.clone();
    let interfaces = interfaces(base_url, &file.tenants);
    let (schemes, security) = security(&file, settings.token.is_some());
    AgentCard {
        name: file.name,
        description: file.description,
        version: file.version,
        interfaces,
        provider: file.provider.map(|it| AgentProvider { organization: it.organization, url: it.url }),
        documentation_url: file.documentation_url,
        icon_url: file.icon_url,
        capabilities: Capabilities {
            streaming: file.streaming,
            push_notifications: false,
            extended_agent_card: false,
            extensions: file.extensions.into_iter().map(extension).collect(),
        },
        security_schemes: schemes,
        security,
        default_input_modes: file.default_input_modes,
        default_output_modes: file.default_output_modes,
        skills: file.skills.into_iter().map(skill).collect(),
    }
}

/// All 1.0 interfaces first, in order of preference, then those of 0.3, which knows no tenants.
fn interfaces(base_url: &str, tenants: &[String]) -> Vec<AgentInterface> {
    let pair = |version: &str, tenant: Option<&String>| {
        let interface = |url: String, binding| AgentInterface {
            url,
            binding,
            protocol_version: version.to_owned(),
            tenant: tenant.cloned(),
        };
        [
            interface(format!("{base_url}/"), Binding::JsonRpc),
            interface(base_url.to_owned(), Binding::HttpJson),
        ]
    };
    let tenants = tenants.iter().flat_map(|tenant| pair("1.0", Some(tenant)));
    pair("1.0", None).into_iter().chain(tenants).chain(pair("0.3", None)).collect()
}

fn security(file: &CardFile, token: bool) -> (BTreeMap<String, SecurityScheme>, Vec<SecurityRequirement>) {
    let mut schemes: BTreeMap<String, SecurityScheme> =
        file.security_schemes.iter().map(|(name, it)| (name.clone(), scheme(it.clone()))).collect();
    let mut security: Vec<SecurityRequirement> = file.security.iter().cloned().map(requirement).collect();
    if token && schemes.is_empty() {
        let kind = SecuritySchemeKind::Http { scheme: "bearer".into(), bearer_format: None };
        let description = Some("The token this server was started with.".into());
        schemes.insert(TOKEN_SCHEME.into(), SecurityScheme { description, kind });
        security.push(requirement(BTreeMap::from([(TOKEN_SCHEME.into(), Vec::new())])));
    }
    (schemes, security)
}

fn requirement(schemes: BTreeMap<String, Vec<String>>) -> SecurityRequirement {
    SecurityRequirement { schemes }
}

fn extension(file: ExtensionFile) -> AgentExtension {
    AgentExtension {
        uri: file.uri,
        description: file.description,
        required: file.required,
        params: file.params,
    }
}

fn skill(file: SkillFile) -> AgentSkill {
    AgentSkill {
        id: file.id,
        name: file.name,
        description: file.description,
        tags: file.tags,
        examples: file.examples,
        input_modes: file.input_modes,
        output_modes: file.output_modes,
        security: file.security.into_iter().map(requirement).collect(),
    }
}

fn scheme(file: SchemeFile) -> SecurityScheme {
    match file {
        SchemeFile::ApiKey { description, location, name } => {
            let location = match location {
                LocationFile::Header => ApiKeyLocation::Header,
                LocationFile::Query => ApiKeyLocation::Query,
                LocationFile::Cookie => ApiKeyLocation::Cookie,
            };
            SecurityScheme { description, kind: SecuritySchemeKind::ApiKey { location, name } }
        }
        SchemeFile::Http { description, scheme, bearer_format } => {
            SecurityScheme { description, kind: SecuritySchemeKind::Http { scheme, bearer_format } }
        }
        SchemeFile::Oauth2 { description, metadata_url, flow } => SecurityScheme {
            description,
            kind: SecuritySchemeKind::OAuth2 { flow: oauth_flow(flow), metadata_url },
        },
        SchemeFile::OpenIdConnect { description, url } => {
            SecurityScheme { description, kind: SecuritySchemeKind::OpenIdConnect { url } }
        }
        SchemeFile::MutualTls { description } => {
            SecurityScheme { description, kind: SecuritySchemeKind::MutualTls }
        }
    }
}

fn oauth_flow(file: FlowFile) -> OAuthFlow {
    match file {
        FlowFile::AuthorizationCode { authorization_url, token_url, refresh_url, scopes, pkce_required } => {
            OAuthFlow::AuthorizationCode { authorization_url, token_url, refresh_url, scopes, pkce_required }
        }
        FlowFile::ClientCredentials { token_url, refresh_url, scopes } => {
            OAuthFlow::ClientCredentials { token_url, refresh_url, scopes }
        }
        FlowFile::Implicit { authorization_url, refresh_url, scopes } => {
            OAuthFlow::Implicit { authorization_url, refresh_url, scopes }
        }
        FlowFile::Password { token_url, refresh_url, scopes } => {
            OAuthFlow::Password { token_url, refresh_url, scopes }
        }
        FlowFile::DeviceCode { device_authorization_url, token_url, refresh_url, scopes } => {
            OAuthFlow::DeviceCode { device_authorization_url, token_url, refresh_url, scopes }
        }
    }
}
