//! Makes the agent card from the settings.

use std::collections::BTreeMap;

use attache_domain::{
    AgentCard, AgentExtension, AgentInterface, AgentProvider, AgentSkill, ApiKeyLocation, Binding,
    Capabilities, OAuthFlow, SecurityRequirement, SecurityScheme, SecuritySchemeKind,
};

use crate::Settings;
use crate::file::{
    BindingFile, CardFile, ExtensionFile, FlowFile, GrpcListing, InterfaceFile, LocationFile, SchemeFile,
    SkillFile, VersionFile,
};

mod check;
#[cfg(test)]
mod tests;

pub(crate) use check::check;

/// The default provider. Some clients read the organization without checking whether it exists.
const PROVIDER: &str = "attache";

/// The path of the interface that puts answers into status messages.
const ANSWERS_PATH: &str = "/answers";

/// Name of the scheme that stands for the server's own token when the settings declare none.
const TOKEN_SCHEME: &str = "bearer";

/// The card of a server that clients reach at `base_url` (no slash at its end).
pub fn card_of(settings: &Settings, base_url: &str) -> AgentCard {
    let file = settings.card.file.clone();
    let interfaces = interfaces(base_url, &file.tenants, settings);
    let (schemes, security) = security(&file, settings.needs_token());
    let modes = (&file.default_input_modes, &file.default_output_modes);
    let skills = file.skills.into_iter().map(|file| skill(file, modes)).collect();
    let provider = match file.provider {
        Some(provider) => AgentProvider { organization: provider.organization, url: provider.url },
        None => AgentProvider { organization: PROVIDER.into(), url: format!("{base_url}/") },
    };
    AgentCard {
        name: file.name,
        description: file.description,
        version: file.version,
        interfaces,
        provider: Some(provider),
        documentation_url: file.documentation_url,
        icon_url: file.icon_url,
        capabilities: Capabilities {
            streaming: file.streaming,
            push_notifications: settings.push.enabled,
            extended_agent_card: file.extended.is_some(),
            extensions: file.extensions.into_iter().map(extension).collect(),
        },
        security_schemes: schemes,
        security,
        default_input_modes: file.default_input_modes,
        default_output_modes: file.default_output_modes,
        skills,
    }
}

/// The card of the interface for clients that read only status messages, if it is enabled.
pub fn answers_card_of(settings: &Settings, base_url: &str) -> Option<AgentCard> {
    let mut card = card_of(settings, base_url);
    card.interfaces.retain(|interface| interface.url.ends_with(ANSWERS_PATH));
    (!card.interfaces.is_empty()).then_some(card)
}

/// The extended card, for authenticated callers, if the settings have one.
pub fn extended_card_of(settings: &Settings, base_url: &str) -> Option<AgentCard> {
    let file = settings.card.file.extended.clone()?;
    let mut card = card_of(settings, base_url);
    if let Some(description) = file.description {
        card.description = description;
    }
    card.documentation_url = file.documentation_url.or(card.documentation_url);
    let modes = (&card.default_input_modes, &card.default_output_modes);
    let skills: Vec<_> = file.skills.into_iter().map(|file| skill(file, modes)).collect();
    card.skills.extend(skills);
    card.capabilities.extensions.extend(file.extensions.into_iter().map(extension));
    let tenants: Vec<String> = settings.card.tenants().cloned().collect();
    card.interfaces = interfaces(base_url, &tenants, settings);
    card.interfaces.extend(file.interfaces.into_iter().map(interface));
    // A stable sort: clients that choose the first suitable interface find ours first in each version.
    card.interfaces.sort_by_key(|interface| interface.protocol_version != "1.0");
    Some(card)
}

fn interface(file: InterfaceFile) -> AgentInterface {
    let binding = match file.binding {
        BindingFile::JsonRpc => Binding::JsonRpc,
        BindingFile::HttpJson => Binding::HttpJson,
        BindingFile::Grpc => Binding::Grpc,
    };
    let protocol_version = match file.version {
        VersionFile::V0_3 => "0.3".to_owned(),
        VersionFile::V1_0 => "1.0".to_owned(),
    };
    AgentInterface { url: file.url, binding, protocol_version, tenant: file.tenant }
}

/// All 1.0 interfaces first, in order of preference, then those of 0.3, which knows no tenants.
fn interfaces(base_url: &str, tenants: &[String], settings: &Settings) -> Vec<AgentInterface> {
    let all = |version: &str, tenant: Option<&String>| {
        let interface = |url: String, binding| AgentInterface {
            url,
            binding,
            protocol_version: version.to_owned(),
            tenant: tenant.cloned(),
        };
        let mut all = vec![
            interface(format!("{base_url}/"), Binding::JsonRpc),
            interface(http_json_address(base_url, version), Binding::HttpJson),
        ];
        let grpc = grpc_address(base_url, settings.card.file.grpc);
        all.extend(grpc.map(|url| interface(url, Binding::Grpc)));
        if settings.answers_interface {
            all.push(interface(format!("{base_url}{ANSWERS_PATH}"), Binding::JsonRpc));
        }
        all
    };
    let tenants = tenants.iter().flat_map(|tenant| all("1.0", Some(tenant)));
    all("1.0", None).into_iter().chain(tenants).chain(all("0.3", None)).collect()
}

/// The base URL of HTTP+JSON. In 0.3 a URL may have only one transport, and gRPC needs the bare one.
fn http_json_address(base_url: &str, version: &str) -> String {
    if version == "0.3" { format!("{base_url}/rest") } else { base_url.to_owned() }
}

/// The address of gRPC. It cannot have a path before the service's name, so below a path it is not offered.
///
/// No form suits all clients: some dial only `host:port`, others refuse a card unless every interface is a URL. A URL has
/// no path and has the port, because clients cut off the scheme and dial the rest.
fn grpc_address(base_url: &str, listing: GrpcListing) -> Option<String> {
    let (scheme, authority) = base_url.split_once("://")?;
    if authority.contains('/') {
        return None;
    }
    let after_host = authority.rsplit_once(']').map_or(authority, |(_, after)| after);
    let port = if scheme == "https" { 443 } else { 80 };
    let dialled = if after_host.contains(':') { authority.to_owned() } else { format!("{authority}:{port}") };
    match listing {
        GrpcListing::Off => None,
        GrpcListing::Authority => Some(dialled),
        GrpcListing::Url => Some(format!("{scheme}://{dialled}")),
    }
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

/// A skill with the modes of the agent, unless it has its own. Some clients need them on every skill.
fn skill(file: SkillFile, (input, output): (&Vec<String>, &Vec<String>)) -> AgentSkill {
    let or = |modes: Vec<String>, of_agent: &Vec<String>| match modes.is_empty() {
        true => of_agent.clone(),
        false => modes,
    };
    AgentSkill {
        id: file.id,
        name: file.name,
        description: file.description,
        tags: file.tags,
        examples: file.examples,
        input_modes: or(file.input_modes, input),
        output_modes: or(file.output_modes, output),
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
